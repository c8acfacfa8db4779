"""What a piece of work yields: the questions whose answers it waits for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Generator as PythonGenerator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from agentworld_gym.core.contracts import Action, ChatRequest, Failure, Generator, Observation, World

T = TypeVar("T")

TOGETHER = None
"""What a piece of work yields before it changes a session: a synchronous wave goes on there as one."""


@dataclass(frozen=True, slots=True)
class Request:
    """A question to a generator; it is answered by a `Completion` or a `Failure`."""

    generator: Generator
    """Who is asked."""

    request: ChatRequest
    """What is asked."""

    key: str | None = None
    """A name of the question: of those that are open at a time under one name only the first is asked, and its answer
    is that of all."""


@dataclass(frozen=True, slots=True)
class BatchedCall:
    """A question to a function that takes lists, with an element for each question, and returns a list of answers."""

    function: Callable[..., Sequence[Any]]
    """Who is asked."""

    arguments: tuple[Any, ...]
    """This question's element of each list."""


Asked: TypeAlias = "Request | BatchedCall | list[Work[Any]] | None"
Work: TypeAlias = PythonGenerator[Asked, Any, T]
"""A piece of work that ends with a T."""


@runtime_checkable
class Answering(Protocol):
    """A world that answers each action as a piece of work, so that no member of a wave waits for another."""

    def answering(self, session: Any, action: Action) -> Work[Observation | Failure]:
        """Answer one action."""
        ...


def answering_of(world: World[Any]) -> Callable[[Any, Action], Work[Observation | Failure]]:
    """Return the function that answers one action in any world, as a piece of work; one look-up serves all steps.

    A world that is not `Answering` steps the sessions that wait at a time in one wave.
    """
    return world.answering if isinstance(world, Answering) else partial(_stepped, world.step)


def _stepped(step: Callable[..., Sequence[Any]], session: Any, action: Action) -> Work[Observation | Failure]:
    answer: Observation | Failure = yield BatchedCall(step, (session, action))
    return answer


def named(work: Work[T], key: str) -> Work[T]:
    """Give the requests of a piece of work a key; see `Request`."""
    answer: Any = None
    while True:
        try:
            asked = work.send(answer)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        answer = yield replace(asked, key=key) if isinstance(asked, Request) else asked
