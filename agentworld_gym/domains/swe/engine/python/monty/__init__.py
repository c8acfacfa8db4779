"""A sandbox for a subset of Python: the interpreter of `pydantic-monty`, which runs everywhere."""
