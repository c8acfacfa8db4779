"""Tool servers, as one domain."""
