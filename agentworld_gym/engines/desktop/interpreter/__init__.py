"""The agent's code: a small part of Python, interpreted step by step over a closed list of names, never executed."""

from __future__ import annotations

from agentworld_gym.engines.desktop.interpreter.namespace import names
from agentworld_gym.engines.desktop.interpreter.statements import Interpreter

__all__ = ["Interpreter", "names"]
