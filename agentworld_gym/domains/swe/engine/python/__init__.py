"""Runs Python of a repository in a sandbox: programs, tests, and hidden tests that grade the code."""
