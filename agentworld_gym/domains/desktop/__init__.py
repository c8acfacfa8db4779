"""The desktop, as one domain."""
