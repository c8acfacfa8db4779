"""Repositories, as one domain."""
