"""The domains that ship, a folder for each."""

DOMAINS = ("mcp", "search", "terminal", "swe", "web", "desktop", "android")
"""The names of the folders, each with a module `domain` that defines `DOMAIN`."""
