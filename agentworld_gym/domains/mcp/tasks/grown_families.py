"""Which families of tasks play on the worlds that grow from a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from agentworld_gym.domains.mcp.tasks import FAMILIES
from agentworld_gym.domains.mcp.tasks.rules.bank import settle_charges
from agentworld_gym.domains.mcp.tasks.rules.hr import settle_leave
from agentworld_gym.domains.mcp.tasks.rules.office import settle_rooms
from agentworld_gym.domains.mcp.tasks.rules.shop import settle_returns
from agentworld_gym.domains.mcp.tasks.rules.tracker import settle_backlog
from agentworld_gym.domains.mcp.tasks.scene import ToolFamily

RULED: Mapping[str, ToolFamily] = MappingProxyType(
    {family.scenario: family for family in (settle_charges, settle_leave, settle_rooms, settle_returns, settle_backlog)}
)
"""The family of each scenario in which its rules decide."""


def families_on(scenario: str) -> dict[str, ToolFamily]:
    """Return the families for worlds of a scenario by their names, the one in which the rules decide at the front.

    >>> list(families_on("shop"))
    ['settle_returns', 'cancel_duplicate', 'handle_return', 'order_goods']
    """
    ruled = RULED[scenario]
    usual = {
        name: family
        for name, family in FAMILIES.items()
        if isinstance(family, ToolFamily) and family.scenario == scenario
    }
    return {ruled.__name__: ruled, **usual}
