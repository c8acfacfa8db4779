"""The scaffolds of coding agents: how each prints what a tool has done."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agentworld_gym.domains.swe.engine.results import Result
from agentworld_gym.domains.swe.engine.scaffolds import claude_code, cli

FIRST = "cli"
"""The dialect in which a machine is called, answers and is probed."""

PRINTERS: Mapping[str, Callable[[Result], str]] = {FIRST: cli.printed, "claude-code": claude_code.printed}
"""The function that prints a result, by dialect."""
