"""The runner of a repository's tests, which collects and reports as `pytest` does."""
