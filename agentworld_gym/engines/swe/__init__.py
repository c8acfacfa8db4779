"""A source repository seen through the tools of a coding assistant, its Python in a sandbox."""

from __future__ import annotations

from agentworld_gym.engines.swe.machine import SweEngine, SweMachine

__all__ = ["SweEngine", "SweMachine"]
