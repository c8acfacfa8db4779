"""What an agent did, what a world has to offer, and the sessions that it keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from agentworld_gym.core.contracts.observation import Failure, Observation
from agentworld_gym.core.contracts.verdict import Verdict

if TYPE_CHECKING:
    from agentworld_gym.base.fingerprint import Fingerprint
    from agentworld_gym.core.domain.task import Task


class ActionKind(StrEnum):
    """What an action is for."""

    ACT = "act"  # It goes to the world.
    CONFIRM = "confirm"  # It goes to the world, which asks to confirm; repeated at once it is a finish.
    FINISH = "finish"  # It is the agent's verb for "done" and never goes to a world.
    MESSAGE = "message"  # It goes to other agents and never to a world.
    ASK = "ask"  # It goes to the user of the task, whose script answers, and never to a world.


@dataclass(frozen=True, slots=True)
class Action:
    """What an agent did, as text and as the domain understands it."""

    raw: str
    """The text that the exact parser of the domain reads: what the agent wrote, unless `written` says so."""

    parsed: Any = None
    """The action in the form that the domain's engine takes."""

    error: str | None = None
    """The error that the real counterpart would print, if the text cannot be parsed. It becomes the observation, and no
    model is asked."""

    kind: ActionKind = ActionKind.ACT
    """What the action is for."""

    answer: str | None = None
    """The text that follows `finish:`."""

    agent: str | None = None
    """The name of the agent, where several share a world."""

    written: str | None = None
    """What the agent wrote, where a tolerant reader took another text for the action that was meant."""

    @property
    def asks_world(self) -> bool:
        """Whether the action goes to the world."""
        return self.kind in (ActionKind.ACT, ActionKind.CONFIRM)


@runtime_checkable
class Session(Protocol):
    """One episode as its world keeps it. After a failure a session is unchanged, and the step can be tried again."""

    @property
    def observation(self) -> str:
        """What the world shows at this moment."""
        ...

    @property
    def system(self) -> str:
        """The system prompt of a language world; it is empty in any other world."""
        ...

    def fork(self) -> Session:
        """Return an exact copy that goes its own way."""
        ...

    def probe(self) -> Session:
        """Return a copy to test success on: a fork on which no control strikes, where the world acts controls out.

        In the copy of a grounded world an action means what it meant at the start, whatever functions of a shell an
        agent has defined.
        """
        ...

    def close(self) -> None:
        """Free what is held. A second call does nothing."""
        ...


@runtime_checkable
class Offering(Protocol):
    """A session whose world may tell which actions can be done."""

    @property
    def offers(self) -> tuple[str, ...] | None:
        """The actions that can be done at this moment; None where the world does not tell them."""
        ...


@runtime_checkable
class Scarce(Protocol):
    """A world that may have too few sessions for an episode and the next one in its place at a time."""

    @property
    def scarce(self) -> bool:
        """Whether an episode has to be ended before the next one begins in its place."""
        ...


@runtime_checkable
class Instructing(Protocol):
    """A session whose world may tell what the agent is asked to do in it."""

    @property
    def instruction(self) -> str | None:
        """What the agent is asked to do; None where the world leaves that to the task."""
        ...


S = TypeVar("S")
S_contra = TypeVar("S_contra", contravariant=True)


@runtime_checkable
class Teachable(Protocol[S_contra]):
    """A world that accepts true answers in its history, as language worlds do."""

    def accept(self, session: S_contra, action: Action, observed: Observation) -> None:
        """Enter an action with an answer that is known already, as if the world had given it."""
        ...

    def correct(self, session: S_contra, text: str, state: str | None = None, verdict: Verdict | None = None) -> None:
        """Replace the last observation, and what the world said of the step, by the true ones, so that the next turn
        builds on them."""
        ...


@runtime_checkable
class World(Protocol[S]):
    """What answers actions, with sessions of its own kind. A failed member never fails its wave."""

    @property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint of all that makes this world what it is."""
        ...

    @property
    def deterministic(self) -> bool:
        """Whether equal seeds and actions give equal observations."""
        ...

    def begin(self, tasks: Sequence[Task], seeds: Sequence[int]) -> list[S | Failure]:
        """Begin one session a task.

        Args:
            tasks: The tasks.
            seeds: The seeds, one a task.

        Returns:
            A session for each task, or the reason why it cannot begin.
        """
        ...

    def step(self, sessions: Sequence[S], actions: Sequence[Action]) -> list[Observation | Failure]:
        """Step all sessions in one wave; a session that stands in it twice is stepped in order.

        Args:
            sessions: The sessions.
            actions: The actions, one a session.

        Returns:
            An observation for each action, or the reason why there is none.
        """
        ...

    def close(self) -> None:
        """Free what is held. A second call does nothing."""
        ...
