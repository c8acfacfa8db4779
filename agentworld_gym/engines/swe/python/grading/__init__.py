"""Grades code by tests whose verdict is formed outside the sandbox."""
