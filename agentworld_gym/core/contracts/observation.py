"""What comes back: an observation, or a failure of a world or a generator, and what it cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from agentworld_gym.core.contracts.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens that were spent.

    >>> (Usage(7, 3) + Usage(1)).as_dict()
    {'prompt': 8, 'completion': 3, 'cached': 0}
    >>> (Usage(7, 3) + Usage(known=False)).as_dict(), Usage.read({}).known
    ({}, False)
    """

    prompt_tokens: int = 0
    """The tokens of prompts."""

    completion_tokens: int = 0
    """The tokens of completions."""

    cached_tokens: int = 0
    """The part of `prompt_tokens` that came from a prefix cache, where that is known."""

    known: bool = True
    """Whether servers told of all of it; where one did not, the counts lack its part."""

    def __add__(self, other: Usage) -> Usage:
        if other is NO_USAGE:
            return self
        if self is NO_USAGE:
            return other
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            self.known and other.known,
        )

    @property
    def total(self) -> int | None:
        """The tokens of prompts and completions; None where they are not known."""
        return self.prompt_tokens + self.completion_tokens if self.known else None

    def as_dict(self) -> dict[str, int]:
        """Return the counts as they stand in `info["tokens"]`, ready for JSON; none where they are not known."""
        if not self.known:
            return {}
        return {
            "prompt": self.prompt_tokens,
            "completion": self.completion_tokens,
            "cached": self.cached_tokens,
        }

    @classmethod
    def read(cls, counts: Mapping[str, int]) -> Usage:
        """Return the tokens that `as_dict` wrote."""
        if not counts:
            return cls(known=False)
        return cls(counts.get("prompt", 0), counts.get("completion", 0), counts.get("cached", 0))


NO_USAGE = Usage()
"""Nothing was spent: the one object that stands for it wherever no usage is given."""


class AnswerSource(StrEnum):
    """Who answered instead of a world's model."""

    STATE = "state"  # The view of the domain: a probe opened what stands in the predicted structured state.
    GROUNDED = "grounded"  # The grounded world of a guard.


@dataclass(frozen=True, slots=True)
class Observation:
    """What a world shows after an action, with what it cost.

    Only a language world fills in the fields from `prompt` on; they are for the world log.
    """

    text: str
    """What the agent sees."""

    usage: Usage = NO_USAGE
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

    state: str | None = None
    """The structured state that `text` was printed from, as JSON, where a model writes changes of it."""

    source: AnswerSource | None = None
    """Who answered instead of the world's model; None where the world did itself."""

    reasks: int = 0
    """How many times the model was asked again, because the answer before could not be read."""

    lost: Usage = NO_USAGE
    """The tokens that those answers cost."""

    refused: int = 0
    """At how many tokens constrained decoding did not allow what the model would have written; without it the answer
    could hardly have been read."""

    in_first_dialect: str | None = None
    """The same observation in the first dialect of its domain, in which checks and screens are read; None where `text`
    is in it already, or where the world cannot tell."""

    verdict: Verdict | None = None
    """What the world says of the step, where it pays and ends episodes itself."""

    offers: tuple[str, ...] | None = None
    """The actions that can be done next, where the world tells them."""

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
        if not self.reasks and not self.refused:
            return {}
        return {name: count for name in ("reasks", "refused") if (count := getattr(self, name))}


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
    UNJUDGED = "unjudged"  # A check asks for what the world does not show, or for a judge that there is not.
    UNSEEN = "unseen"  # The action names what the training data of the model did not hold.
    UNLIKELY = "unlikely"  # The model holds its own answer to be less likely than a guard asks for.


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

    spent: Usage = field(default=NO_USAGE, compare=False)
    """The tokens of the answers that could not be used."""

    def as_dict(self) -> dict[str, Any]:
        """Return the failure as it stands in `info["failure"]`, ready for JSON."""
        return {"kind": self.kind.value, "message": self.message, "retryable": self.retryable}
