"""How a generator samples its completions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

_DRAWN = 0.6
"""The temperature that is usual, and at which a greedy request is tried again."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a generator samples: one configuration for every backend."""

    temperature: float = _DRAWN
    """The temperature; 0 is greedy."""

    top_p: float | None = None
    """The probability mass that tokens are drawn from. None leaves it to a server, and means all of it to an engine in
    this process."""

    top_k: int = 0
    """How many of the likeliest tokens one is drawn from; 0 is no limit."""

    max_tokens: int = 4096
    """Tokens of one completion."""

    thinking: bool = True
    """Whether the model may think first; the chat template gets it as `enable_thinking`."""

    stop: tuple[str, ...] = ()
    """Texts that end a completion."""

    seed: int | None = None
    """The seed of the draws; a generator whose `supports_seed` is False ignores it."""

    reasks: int = 0
    """How many times whoever asks may ask again, under another seed, because the completion cannot be read;
    generators do not look at it."""

    def seeded(self, seed: int | None) -> Sampling:
        """Return the same sampling with another seed."""
        return self if seed == self.seed else replace(self, seed=seed)

    def again(self, reasks: int) -> Sampling:
        """Return the sampling of a request that was asked before: a greedy one is drawn, or it would be answered alike.

        >>> Sampling(temperature=0.0).again(0).temperature, Sampling(temperature=0.0).again(1).temperature
        (0.0, 0.6)
        """
        greedy = reasks and self.temperature <= 0
        return replace(self, temperature=_DRAWN) if greedy else self

    def as_dict(self) -> dict[str, Any]:
        """Return all fields by name, as JSON can hold them."""
        return {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "top_k": self.top_k,
            "max_tokens": self.max_tokens,
            "thinking": self.thinking,
            "stop": list(self.stop),
            "seed": self.seed,
            **({"reasks": self.reasks} if self.reasks else {}),
        }
