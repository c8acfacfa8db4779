"""What a generator is asked, what it answers, and what it has to offer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NotRequired, Protocol, runtime_checkable

from typing_extensions import TypedDict  # pydantic reads no other before Python 3.12

from agentworld_gym.core.contracts.observation import NO_USAGE, Failure, Usage
from agentworld_gym.core.contracts.world import Action
from agentworld_gym.core.domain.sampling import Sampling


class Message(TypedDict):
    """One chat message."""

    role: str
    """The author: `system`, `user` or `assistant`, or `tool`, whose text is what a call showed."""

    content: str
    """The text."""

    tool_calls: NotRequired[Sequence[Mapping[str, Any]]]
    """The calls that the assistant made beside the text, as OpenAI's protocol has them."""

    tool_call_id: NotRequired[str]
    """The call that a message of a `tool` answers."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool that stands beside the text of a completion."""

    id: str
    """The name of the call, which its answer repeats."""

    name: str
    """The name of the tool."""

    arguments: str
    """The arguments as the model wrote them, which should be a JSON object."""


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
class AskedStep:
    """The step that a request asks about, as no prompt has written it."""

    action: Action
    """The action."""

    first: str
    """What was shown before the first action."""

    turns: Sequence[tuple[Action, str]]
    """The turns before, each an action and what it showed."""

    reasks: int = 0
    """How many answers to the same step were refused before."""


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

    tools: Sequence[Mapping[str, Any]] = ()
    """The tools that may be called, each with name, description and the JSON Schema of its parameters, where the
    generator takes them apart from the messages."""

    allows: Allows | None = field(default=None, compare=False, repr=False)
    """What the completion may be, where the generator can ask at every token; None where it may be anything."""

    step: AskedStep | None = field(default=None, compare=False, repr=False)
    """The step of a world that the request asks about, for a generator that reads no messages; None for any other
    request."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What a generator wrote."""

    text: str
    """The text of the completion."""

    finish_reason: str = "stop"
    """Why the completion ends: `stop`, or `length` if it was cut off."""

    usage: Usage = NO_USAGE
    """The tokens that the completion cost."""

    reasoning: str = ""
    """The thinking that came apart from the text."""

    calls: tuple[ToolCall, ...] = ()
    """The calls of tools that came apart from the text."""

    extra: Mapping[str, Any] = field(default_factory=dict)
    """What else the generator says of the completion, by name."""

    logprob: float | None = None
    """The mean log-probability per generated token under the model itself (temperature 1, nothing cut off), with the
    thinking and the end token; None where the generator does not tell."""

    refused: int = 0
    """At how many tokens the request did not allow what the model would have written."""

    filled: bool = False
    """Whether it was cut off because prompt and answer filled the context, and not because of the request's limit."""

    lost: Usage = field(default=NO_USAGE, compare=False)
    """The tokens of answers to the same request that could not be used, before this one."""


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
