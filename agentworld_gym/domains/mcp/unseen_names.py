"""The tools that a model may never have seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agentworld_gym.core.domain.unseen_names import UnseenNames
from agentworld_gym.domains.mcp.engine.scenario import scenario_names
from agentworld_gym.domains.mcp.engine.service import load_service


class UnseenTools(UnseenNames):
    """The tools of the shipped scenarios.

    >>> "shop" in UnseenTools().scenarios()
    True
    """

    def scenarios(self) -> Sequence[str]:
        """Return the names of the scenarios that ship."""
        return scenario_names()

    def scenario_tools(self, scenario: str) -> Iterable[str]:
        """Return the names of the tools of a scenario, with their server and without it."""
        names = [str(tool["name"]) for tool in load_service(scenario).listed]
        return [*names, *(name.partition("-")[2] for name in names)]
