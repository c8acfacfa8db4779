"""Engines: code that really executes an action, sandboxed and in process. They know nothing of prompts or worlds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from agentworld_gym.engines.controls import Controls
from agentworld_gym.errors import AgentWorldError

__all__ = ["Controls", "Engine", "EngineError", "Kind", "Machine", "Probed", "Scalar", "Span", "Testable"]

Kind = Literal["deterministic", "pre-existing", "metadata"]
"""What decides a piece of text: the rules and what was shown before; things that were there and never shown; the moment
of the run (times, durations, random ids)."""

Scalar = str | int | float | bool | None
"""The value of one field of a machine's state."""


class EngineError(AgentWorldError):
    """The engine gave up on a command; the machine cannot go on."""


class Span(NamedTuple):
    """A piece of an observation, `text[start:end]`, whose content is of one kind."""

    start: int
    end: int
    kind: Kind


@runtime_checkable
class Machine(Protocol):
    """One running episode of a grounded domain.

    `observation` is what is shown since the last action; `spans` tell, in order and without overlap, which pieces of it
    are not deterministic. A fork is exact: equal actions on both give equal observations. `close` may be called twice.
    """

    @property
    def observation(self) -> str:
        """What is shown since the last action."""
        ...

    @property
    def spans(self) -> Sequence[Span]:
        """The pieces of the observation that are not deterministic."""
        ...

    def act(self, action: Any, /) -> str:
        """Execute one action, as the domain's parser gives it, and show what appeared."""
        ...

    def state(self) -> Mapping[str, Scalar]:
        """Everything that an action can change, as flat fields: a path such as `orders/12/status`, and its value."""
        ...

    def fork(self) -> Machine:
        """An exact copy."""
        ...

    def close(self) -> None:
        """Free it; twice is fine."""
        ...


@runtime_checkable
class Probed(Protocol):
    """A machine in which an agent can change what later actions mean, as the functions of a shell do.

    Success is tested on its `probe()`, which shares the state with it and none of that.
    """

    def probe(self) -> Machine:
        """A copy to look at the state with: the state is as it is, the means to look are those of the start."""
        ...


@runtime_checkable
class Testable(Protocol):
    """A machine that runs tests of what the agent wrote, and forms the verdict where nothing of the agent's runs."""

    def passes(self, tests: Mapping[str, str | None], /) -> bool:
        """Whether the tests of all these files pass.

        Args:
            tests: path -> text; None for a file of the start, which must still be there as it was.

        Raises:
            EngineError: a file is none of the start, or its tests cannot be judged so.
        """
        ...


@runtime_checkable
class Engine(Protocol):
    """Starts machines. A class with a `start` class method is one.

    An engine with a true `concurrent` has machines that may act at the same time, each on a thread of its own.
    """

    def start(
        self,
        state: Mapping[str, Any],
        seed: int,
        controls: Controls = ...,
        hidden: Mapping[str, Any] = ...,
    ) -> Machine:
        """A machine in that state.

        Args:
            state: the task's initial state, in the words of the domain.
            seed: of everything that the state leaves open.
            controls: the perturbations in force.
            hidden: what the world knows and the agent is never shown.

        Raises:
            SpecError: the state is wrong; names the key, its value and what was expected.
        """
        ...
