"""The terminal, as one domain."""
