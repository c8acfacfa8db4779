"""Recordings of other systems that are sessions of a browser."""
