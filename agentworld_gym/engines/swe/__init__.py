"""A source repository behind the tools of a coding assistant."""
