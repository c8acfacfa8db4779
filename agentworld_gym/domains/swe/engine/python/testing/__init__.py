"""Runs the tests of a repository in a sandbox, and collects and reports them as `pytest` does.

pytest itself is not used: monty's subset of Python cannot run it, and every sandbox should print the same report.
"""
