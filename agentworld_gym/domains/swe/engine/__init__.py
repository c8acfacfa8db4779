"""The grounded repository: source files behind the tools of a coding assistant, with Python in a sandbox.

git is modelled here, over texts in memory. dulwich and the real git work on files of the host, and a fork of an episode
would have to copy these; nor does dulwich print what git prints.
"""

from __future__ import annotations

from agentworld_gym.domains.swe.engine.machine import SweEngine, SweMachine

__all__ = ["SweEngine", "SweMachine"]
