"""What a world or a generator gives where it cannot answer properly."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from agentworld_gym.core.contracts.usage import Usage


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

    spent: Usage = field(default=Usage(), compare=False)
    """The tokens of the answers that could not be used."""

    def as_dict(self) -> dict[str, Any]:
        """Return the failure as it stands in `info["failure"]`, ready for JSON."""
        return {"kind": self.kind.value, "message": self.message, "retryable": self.retryable}
