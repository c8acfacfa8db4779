"""Task families of the mcp domain."""

from __future__ import annotations

from agentworld_gym.tasks.draft import Family

FAMILIES: dict[str, Family] = {}
