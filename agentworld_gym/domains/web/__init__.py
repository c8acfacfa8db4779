"""The web, as one domain."""
