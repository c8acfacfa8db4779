"""Recordings of other systems, read into this project's rows."""
