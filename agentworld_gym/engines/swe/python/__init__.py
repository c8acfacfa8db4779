"""Python in a sandbox."""
