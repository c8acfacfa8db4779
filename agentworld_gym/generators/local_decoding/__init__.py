"""Decoding of small models on a CPU: many sequences packed into one pass."""
