"""Explorers: agents that try what can be done in a task, with no aim, so that recordings hold what any action does."""

from __future__ import annotations

from agentworld_gym.policies.exploring.base import Explorer
from agentworld_gym.policies.exploring.explorers import EXPLORERS, explore, explore_beside, explorer

__all__ = ["EXPLORERS", "Explorer", "explore", "explore_beside", "explorer"]
