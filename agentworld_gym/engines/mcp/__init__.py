"""Tool servers over a database."""
