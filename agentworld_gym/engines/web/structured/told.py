"""What a world model is told of a browser before an action."""
from __future__ import annotations
def told_lines(shown, browser, sites, action):
    return []
