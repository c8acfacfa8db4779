"""Grades code by hidden tests whose verdict is formed outside the sandbox."""
