"""How much work the two trees do."""

from __future__ import annotations

from dataclasses import dataclass

DOMAINS = {
    "terminal": "AgentWorld/Terminal-v0",
    "mcp": "AgentWorld/MCP-v0",
    "search": "AgentWorld/Search-v0",
    "swe": "AgentWorld/SWE-v0",
    "web": "AgentWorld/Web-v0",
    "desktop": "AgentWorld/Desktop-v0",
    "android": "AgentWorld/Android-v0",
}
"""The id of each domain's environment."""


@dataclass(frozen=True)
class Size:
    """How much is compared.

    Attributes:
        domains: the domains.
        families: how many families of tasks are played in each domain; 0 means all.
        levels: the levels at which each family is played.
        policies: how many of the policies play each family at each level; they take turns.
        rows: how many sessions of each domain are collected.
        dreamt: how many of these sessions each language world plays again.
        models: whether a model is trained and the bundled ones predict, which needs torch.
        everything: whether the help of every command and the refusals of every domain are compared.
        task_seeds: how many tasks of each family are generated at each level.
    """

    domains: tuple[str, ...]
    families: int
    levels: tuple[int, ...]
    policies: int
    rows: int
    dreamt: int
    models: bool
    everything: bool
    task_seeds: int


SIZES = {
    "tiny": Size(("terminal", "mcp"), 1, (1,), 4, 1, 1, models=False, everything=False, task_seeds=1),
    "quick": Size(tuple(DOMAINS), 3, (2,), 1, 1, 1, models=False, everything=False, task_seeds=1),
    "full": Size(tuple(DOMAINS), 0, (1, 2, 3), 2, 8, 3, models=True, everything=True, task_seeds=4),
}
