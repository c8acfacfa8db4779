"""Explorers: agents that try without an aim what can be done in a task, so that recordings hold what any action
does."""

from __future__ import annotations

from agentworld_gym.agents.policies.exploring.base import Explorer
from agentworld_gym.agents.policies.exploring.explorers import explore, explore_beside, explorer, explorer_names
from agentworld_gym.agents.policies.exploring.offered import OfferedExplorer

__all__ = ["Explorer", "OfferedExplorer", "explore", "explore_beside", "explorer", "explorer_names"]
