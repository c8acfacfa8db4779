"""What a world shows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum

from agentworld_gym.core.contracts.usage import Usage


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

    usage: Usage = field(default=Usage())
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

    lost: Usage = field(default=Usage())
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
        if not self.reasks and not self.refused:
            return {}
        return {name: count for name in ("reasks", "refused") if (count := getattr(self, name))}
