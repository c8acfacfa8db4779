"""The words that worlds, generators, environments and traces share.

Data flows one way: an `Action` goes to a `World`, which answers with an `Observation` or a `Failure`; a language world
turns the action into a `ChatRequest`, which a `Generator` answers with a `Completion` or a `Failure`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from typing_extensions import TypedDict  # pydantic reads no other before Python 3.12

from agentworld_gym.domain.sampling import Sampling

if TYPE_CHECKING:
    from agentworld_gym.domain.task import Task
    from agentworld_gym.fingerprint import Fingerprint


class FailureKind(StrEnum):
    """Why a world did not answer properly. Never a reward, always a truncation."""

    EMPTY = "empty"  # the completion holds no observation
    LENGTH = "length"  # the completion was cut off
    OVERFLOW = "overflow"  # the history no longer fits the context
    TIMEOUT = "timeout"  # the deadline of the wave passed
    CONNECTION = "connection"  # the server cannot be reached, or went away
    SERVER = "server"  # the server answered with an error, retries included
    MALFORMED = "malformed"  # the answer is not what the protocol says
    REJECTED = "rejected"  # the server refuses the request (key, model, parameters)
    ENGINE = "engine"  # a grounded world gave up (limits, sandbox)
    RECORDING = "recording"  # the recording lacks this transition


@dataclass(frozen=True, slots=True)
class Failure:
    """The world did not answer properly. `retryable` says whether the same step may succeed later.

    >>> Failure(FailureKind.TIMEOUT, "no answer within 30 s", retryable=True).as_dict()["kind"]
    'timeout'
    """

    kind: FailureKind
    message: str
    retryable: bool = False

    def as_dict(self) -> dict[str, Any]:
        """A JSON-able form, as it stands in `info["failure"]`."""
        return {"kind": self.kind.value, "message": self.message, "retryable": self.retryable}


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens spent. `cached_tokens` is the part of the prompt that came from a prefix cache, where that is known."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
        )

    def as_dict(self) -> dict[str, int]:
        """A JSON-able form, as it stands in `info["tokens"]`."""
        return {
            "prompt": self.prompt_tokens,
            "completion": self.completion_tokens,
            "cached": self.cached_tokens,
        }


class ActionKind(StrEnum):
    """What an action is for."""

    ACT = "act"  # goes to the world
    CONFIRM = "confirm"  # goes to the world, which asks to confirm; repeated at once it is a finish
    FINISH = "finish"  # the agent's verb for "done"; never sent to a world


@dataclass(frozen=True, slots=True)
class Action:
    """What an agent did, as text and as the domain understands it.

    `error` is set when the text cannot be parsed; it is then what the real counterpart would print, and becomes the
    observation without a model call. `answer` is what follows `finish:`.
    """

    raw: str
    parsed: Any = None
    error: str | None = None
    kind: ActionKind = ActionKind.ACT
    answer: str | None = None
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """What a world shows after an action, with what it cost.

    A language world also says what it asked (`prompt`, the turn as it stays in the history), what came back
    (`completion`, `reasoning`) and under which `seed`, for the world log. `confidence` is the mean log-probability per
    generated token, from its completion: 0.0 is certainty, and None where the generator does not tell. `ledger` is
    what a language world that keeps a ledger says of the hidden state: the entries that the action changed.
    """

    text: str
    usage: Usage = Usage()
    prompt: str = ""
    completion: str = ""
    reasoning: str = ""
    seed: int | None = None
    confidence: float | None = None
    ledger: str = ""


class Message(TypedDict):
    """One chat message."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One completion to make. `schema` asks for JSON of that schema where the backend can enforce it."""

    messages: Sequence[Message]
    sampling: Sampling
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """What a generator wrote. `finish_reason` is `stop` or `length`; `reasoning` is thinking that came apart.

    `logprob` is the mean log-probability per generated token under the model itself (temperature 1, nothing cut off),
    thinking and the end token included; None where the generator does not tell.
    """

    text: str
    finish_reason: str = "stop"
    usage: Usage = Usage()
    reasoning: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    logprob: float | None = None


@runtime_checkable
class Generator(Protocol):
    """Turns chat messages into completions.

    `submit` yields `(index, answer)` as answers come, each index once; a failed member is a `Failure` and never an
    exception. `supports_seed` and `supports_schema` say whether it honours a request's seed and JSON schema,
    `deterministic` whether equal requests get equal answers, whatever else is in the batch.
    """

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
        """Whether equal requests get equal answers."""
        ...

    def submit(self, requests: Sequence[ChatRequest]) -> Iterator[tuple[int, Completion | Failure]]:
        """Answers as they come, each with the index of its request."""
        ...

    def describe(self) -> dict[str, tuple[str, bool]]:
        """Parts of the fingerprint: name → (value, verified)."""
        ...

    def close(self) -> None:
        """Free what is held; more than once is fine."""
        ...


@runtime_checkable
class SelectiveGenerator(Protocol):
    """A generator that sends only a part of a request's sampling, and tells which."""

    def sent(self, sampling: Sampling) -> dict[str, Any]:
        """Return the fields of a request's sampling that are sent, by name."""
        ...


@runtime_checkable
class Session(Protocol):
    """One episode as its world keeps it. After a failure a session is unchanged and can be retried.

    `observation` is the current one; `system` is what a language world was told at the start, else empty.
    """

    @property
    def observation(self) -> str:
        """What the world shows at this moment."""
        ...

    @property
    def system(self) -> str:
        """What a language world was told at the start, else empty."""
        ...

    def fork(self) -> Session:
        """An exact copy that goes its own way."""
        ...

    def probe(self) -> Session:
        """A copy to test success on: as `fork`, but where the world acts controls out, none of them strikes.

        A grounded world also takes back what an agent did to the meaning of later actions, such as a shell's functions.
        """
        ...

    def close(self) -> None:
        """Free what is held; more than once is fine."""
        ...


@runtime_checkable
class Pictured(Protocol):
    """A session, or what stands behind it, that can make a picture of its own."""

    def screenshot(self) -> bytes | None:
        """Return the picture as a PNG file; None where there is none at this moment."""
        ...


S = TypeVar("S")
S_contra = TypeVar("S_contra", contravariant=True)


@runtime_checkable
class Testing(Protocol[S_contra]):
    """A world that runs test files itself, where it can, and judges them by the values that the tested code gives."""

    def passes(
        self, sessions: Sequence[S_contra], tests: Sequence[Mapping[str, str | None]]
    ) -> list[bool | Failure | None]:
        """For each session whether the tests of some files pass; None where this world cannot tell.

        Args:
            sessions: copies to test success on.
            tests: for each of them path -> text; None for the text that the file had at the start.
        """
        ...


@runtime_checkable
class Teachable(Protocol[S_contra]):
    """A world that can be told what it should have answered, as language worlds can."""

    def accept(self, session: S_contra, action: Action, observed: Observation) -> None:
        """Enter an action with an answer that is known already, as if the world had given it."""
        ...

    def correct(self, session: S_contra, text: str, ledger: str = "") -> None:
        """Put the true observation in the place of the last one, so that the next turn builds on it."""
        ...


@runtime_checkable
class World(Protocol[S]):
    """Whoever answers an action, with sessions of its own kind. A failed member never fails its wave."""

    @property
    def fingerprint(self) -> Fingerprint:
        """All that makes this world what it is."""
        ...

    @property
    def deterministic(self) -> bool:
        """Whether equal seeds and actions give equal observations."""
        ...

    def begin(self, tasks: Sequence[Task], seeds: Sequence[int]) -> list[S | Failure]:
        """One session a task."""
        ...

    def step(self, sessions: Sequence[S], actions: Sequence[Action]) -> list[Observation | Failure]:
        """One wave; a session that stands in it twice is stepped in order."""
        ...

    def close(self) -> None:
        """Free what is held; more than once is fine."""
        ...


@runtime_checkable
class Accountable(Protocol[S_contra]):
    """A world that knows the state of its sessions, and so what they changed beside what their tasks ask for.

    Grounded worlds are. Any other world may be one; of a world that is none, success is what the checks say.
    """

    def collateral(self, sessions: Sequence[S_contra]) -> list[tuple[str, ...] | Failure | None]:
        """For each session where its state differs from the one that the expert of its task leaves.

        Nothing is told (None) where that cannot be known, as for a task without an expert.
        """
        ...
