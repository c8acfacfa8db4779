"""The families of tasks in a repository: one for each kind of bug, and one that publishes a repair."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from agentworld_gym.core.tasks.family import Family
from agentworld_gym.domains.swe.tasks.publishing import publish
from agentworld_gym.domains.swe.tasks.repairs import repair
from agentworld_gym.domains.swe.tasks.repository import KINDS

FAMILIES: Mapping[str, Family] = MappingProxyType({**{kind: repair(kind) for kind in KINDS}, "publish": publish})
"""Name → family."""
