"""The phone, as one domain."""
