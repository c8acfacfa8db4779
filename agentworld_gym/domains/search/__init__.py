"""The search, as one domain."""
