"""Engines: code that really executes an action, sandboxed and in process. They know nothing of prompts or worlds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from agentworld_gym.errors import AgentWorldError


class EngineError(AgentWorldError):
    """The engine gave up on a command; the machine cannot go on."""


@runtime_checkable
class Machine(Protocol):
    """One running episode of a grounded domain.

    `observation` is what is shown since the last action. A fork is exact: equal actions on both give equal
    observations. `close` may be called twice.
    """

    @property
    def observation(self) -> str:
        """What is shown since the last action."""
        ...

    def act(self, action: Sequence[Mapping[str, Any]], /) -> str:
        """Execute one action and show what appeared."""
        ...

    def fork(self) -> Machine:
        """An exact copy."""
        ...

    def close(self) -> None:
        """Free it; twice is fine."""
        ...


@runtime_checkable
class Engine(Protocol):
    """Starts machines. A class with a `start` class method is one."""

    def start(self, state: Mapping[str, Any], seed: int) -> Machine:
        """A machine in that state."""
        ...
