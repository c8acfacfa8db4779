"""The agent's code: a small part of Python, interpreted step by step over a closed list of names, never executed."""

from __future__ import annotations

from agentworld_gym.engines.desktop.code.interpreter import Interpreter
from agentworld_gym.engines.desktop.code.library import names

__all__ = ["Interpreter", "names"]
