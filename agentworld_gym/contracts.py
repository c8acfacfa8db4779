"""The types and protocols that worlds, generators, environments and traces share.

Data flows one way: an `Action` goes to a `World`, which answers with an `Observation` or a `Failure`; a language world
turns the action into a `ChatRequest`, which a `Generator` answers with a `Completion` or a `Failure`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from typing_extensions import TypedDict  # pydantic reads no other before Python 3.12

from agentworld_gym.domain.ledger_check import LedgerCheck
from agentworld_gym.domain.sampling import Sampling

if TYPE_CHECKING:
    from agentworld_gym.domain.task import Task
    from agentworld_gym.fingerprint import Fingerprint


class FailureKind(StrEnum):
    """Why a world did not answer properly. A failure is never a reward and always a truncation."""

    EMPTY = "empty"  # The completion holds no observation.
    LENGTH = "length"  # The completion was cut off.
    OVERFLOW = "overflow"  # The history no longer fits the context.
    TIMEOUT = "timeout"  # The deadline of the wave passed.
    CONNECTION = "connection"  # The server cannot be reached, or went away.
    SERVER = "server"  # The server answered with an error, retries included.
    MALFORMED = "malformed"  # The answer is not what the protocol says.
    REJECTED = "rejected"  # The server refuses the request (key, model, parameters).
    ENGINE = "engine"  # A grounded world gave up (limits, sandbox).
    RECORDING = "recording"  # The recording lacks this transition.
    UNJUDGED = "unjudged"  # A check asks for what the world does not show.
    UNLIKELY = "unlikely"  # The model holds its own answer to be less likely than a guard asks for.


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens that were spent."""

    prompt_tokens: int = 0
    """The tokens of prompts."""

    completion_tokens: int = 0
    """The tokens of completions."""

    cached_tokens: int = 0
    """The part of `prompt_tokens` that came from a prefix cache, where that is known."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
        )

    def as_dict(self) -> dict[str, int]:
        """Return the counts as they stand in `info["tokens"]`, ready for JSON."""
        return {
            "prompt": self.prompt_tokens,
            "completion": self.completion_tokens,
            "cached": self.cached_tokens,
        }


@dataclass(frozen=True, slots=True)
class Failure:
    """An answer that a world could not give properly.

    >>> Failure(FailureKind.TIMEOUT, "no answer within 30 s", retryable=True).as_dict()["kind"]
    'timeout'
    """

    kind: FailureKind
    """Why there is no proper answer."""

    message: str
    """The reason in words."""

    retryable: bool = False
    """Whether the same step may succeed later."""

    spent: Usage = field(default=Usage(), compare=False)
    """The tokens of the answers that could not be used."""

    def as_dict(self) -> dict[str, Any]:
        """Return the failure as it stands in `info["failure"]`, ready for JSON."""
        return {"kind": self.kind.value, "message": self.message, "retryable": self.retryable}


class ActionKind(StrEnum):
    """What an action is for."""

    ACT = "act"  # It goes to the world.
    CONFIRM = "confirm"  # It goes to the world, which asks to confirm; repeated at once it is a finish.
    FINISH = "finish"  # It is the agent's verb for "done" and never goes to a world.
    MESSAGE = "message"  # It goes to other agents and never to a world.


@dataclass(frozen=True, slots=True)
class Action:
    """What an agent did, as text and as the domain understands it."""

    raw: str
    """The text that the agent wrote."""

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

    @property
    def asks_world(self) -> bool:
        """Whether the action goes to the world."""
        return self.kind in (ActionKind.ACT, ActionKind.CONFIRM)


class Source(StrEnum):
    """Who answered in the place of a world's model."""

    LEDGER = "ledger"  # The entries of the ledger in the history: a probe asked for what stands there.
    STATE = "state"  # The view of the domain: a probe opened what stands in the predicted structured state.
    GROUNDED = "grounded"  # The grounded world of a guard.


@dataclass(frozen=True, slots=True)
class Observation:
    """What a world shows after an action, with what it cost.

    Only a language world fills in the fields from `prompt` on; they are for the world log.
    """

    text: str
    """What the agent sees."""

    usage: Usage = Usage()
    """The tokens that the answer cost."""

    prompt: str = ""
    """The turn that the model was sent, as it stays in the history."""

    completion: str = ""
    """The completion that came back."""

    reasoning: str = ""
    """The thinking that came back apart from the completion."""

    seed: int | None = None
    """The seed of the request."""

    confidence: float | None = None
    """The mean log-probability per generated token: 0.0 is certainty, and None says that it is unknown."""

    ledger: str = ""
    """The entries of the hidden state that the action changed, where the world keeps a ledger."""

    ledger_check: LedgerCheck | None = None
    """What is wrong with the ledger; None where none is kept, or its notation is not known."""

    state: str | None = None
    """The structured state that `text` was printed from, as JSON, where a model writes changes of it."""

    source: Source | None = None
    """Who answered in the place of the world's model; None where the world did itself."""

    reasks: int = 0
    """How many times the model was asked again, because the answer before could not be read, or contradicted the
    history of the ledger."""

    lost: Usage = Usage()
    """The tokens that those answers cost."""

    refused: int = 0
    """At how many tokens constrained decoding did not allow what the model would have written; without it the answer
    could hardly have been read."""

    in_first_dialect: str | None = None
    """The same observation in the first dialect of its domain, in which checks and screens are read; None where `text`
    is in it already, or where the world cannot tell."""

    @property
    def probability(self) -> float | None:
        """The probability that the model gives to its whole answer; None where the generator does not tell.

        It is the product of the probabilities of the tokens.

        >>> sure = Observation("a", Usage(completion_tokens=2), confidence=math.log(0.9))
        >>> round(sure.probability, 3)
        0.81
        """
        if self.confidence is None:
            return None
        return math.exp(min(0.0, self.confidence) * max(self.usage.completion_tokens, 1))

    @property
    def spent(self) -> Usage:
        """All the tokens that the step cost, those of the answers before it among them."""
        return self.usage + self.lost

    @property
    def repairs(self) -> dict[str, int]:
        """What `info["repairs"]` and the world log hold of how the answer became readable; empty where it was."""
        return {name: count for name in ("reasks", "refused") if (count := getattr(self, name))}

    @property
    def told_ledger(self) -> dict[str, Any] | None:
        """What `info["ledger"]` and the world log hold: the entries, and what is wrong with them; None for nothing."""
        if self.ledger_check is None:
            return {"entries": self.ledger} if self.ledger else None
        return {"entries": self.ledger, **self.ledger_check.as_dict()}


class Message(TypedDict):
    """One chat message."""

    role: str
    """The author: `system`, `user` or `assistant`."""

    content: str
    """The text."""


class Conversation:
    """What the requests of one episode, and of its forks, have in common: they begin alike.

    It has no content. A generator over several servers keeps a conversation at one of them, whose prefix cache knows
    how it begins.
    """


Allows = Callable[[str, bool], bool]
"""A function that tells of a text whether a completion may begin with it, or, if the flag is set, whether it may be the
whole completion. Where the last character still lacks some of its bytes, the text ends with `PIECE`."""

PIECE = "\N{REPLACEMENT CHARACTER}"
"""How a tokenizer decodes the first bytes of a character whose last ones are still to come."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One completion to make."""

    messages: Sequence[Message]
    """The chat that the completion continues."""

    sampling: Sampling
    """How the completion is sampled."""

    schema: Mapping[str, Any] | None = None
    """A JSON Schema that the completion shall fit, where the generator can enforce it."""

    conversation: Conversation | None = field(default=None, compare=False, repr=False)
    """The conversation that the request belongs to; None where it stands alone."""

    allows: Allows | None = field(default=None, compare=False, repr=False)
    """What the completion may be, where the generator can ask at every token; None where it may be anything."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What a generator wrote."""

    text: str
    """The text of the completion."""

    finish_reason: str = "stop"
    """Why the completion ends: `stop`, or `length` if it was cut off."""

    usage: Usage = Usage()
    """The tokens that the completion cost."""

    reasoning: str = ""
    """The thinking that came apart from the text."""

    extra: Mapping[str, Any] = field(default_factory=dict)
    """What else the generator says of the completion, by name."""

    logprob: float | None = None
    """The mean log-probability per generated token under the model itself (temperature 1, nothing cut off), with the
    thinking and the end token; None where the generator does not tell."""

    refused: int = 0
    """At how many tokens the request did not allow what the model would have written."""


@runtime_checkable
class Generator(Protocol):
    """What turns chat messages into completions."""

    @property
    def supports_seed(self) -> bool:
        """Whether a request's seed is honoured."""
        ...

    @property
    def supports_schema(self) -> bool:
        """Whether a request's JSON schema is enforced."""
        ...

    @property
    def deterministic(self) -> bool:
        """Whether equal requests get equal answers, whatever else is in the batch."""
        ...

    def submit(self, requests: Sequence[ChatRequest]) -> Iterator[tuple[int, Completion | Failure]]:
        """Yield the answers as they come, each once and with the index of its request.

        A request that fails is answered by a `Failure`; it raises no exception.
        """
        ...

    def describe(self) -> dict[str, tuple[str, bool]]:
        """Return the generator's parts of a fingerprint: name → (value, verified)."""
        ...

    def close(self) -> None:
        """Free what is held. A second call does nothing."""
        ...


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


S = TypeVar("S")
S_contra = TypeVar("S_contra", contravariant=True)


@runtime_checkable
class Teachable(Protocol[S_contra]):
    """A world that can be told what it should have answered, as language worlds can."""

    def accept(self, session: S_contra, action: Action, observed: Observation) -> None:
        """Enter an action with an answer that is known already, as if the world had given it."""
        ...

    def correct(self, session: S_contra, text: str, ledger: str = "", state: str | None = None) -> None:
        """Put the true observation in the place of the last one, so that the next turn builds on it."""
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
