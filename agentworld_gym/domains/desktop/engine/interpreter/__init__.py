"""An interpreter for the agent's code: a small part of Python over a closed list of names. Nothing is executed.

It is own code beside pydantic-monty, whose sessions live in worker processes and end by the clock: here many desktops
act in one process, every click is a call into the desktop, and a budget of steps and memory ends an action alike on
every machine.
"""

from __future__ import annotations

from agentworld_gym.domains.desktop.engine.interpreter.namespace import names
from agentworld_gym.domains.desktop.engine.interpreter.statements import Interpreter

__all__ = ["Interpreter", "names"]
