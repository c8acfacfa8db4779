"""How a generator samples, whichever backend it has."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a generator samples: the one configuration for every backend.

    `thinking` is passed to the chat template as `enable_thinking`. `seed` is honoured where the generator's
    `supports_seed` is true and ignored elsewhere. Temperature 0 is greedy. `top_k` 0 means no limit.
    """

    temperature: float = 0.6
    top_p: float = 1.0
    top_k: int = 0
    max_tokens: int = 4096
    thinking: bool = True
    stop: tuple[str, ...] = ()
    seed: int | None = None

    def seeded(self, seed: int | None) -> Sampling:
        """The same sampling under another seed."""
        return replace(self, seed=seed)

    def as_dict(self) -> dict[str, Any]:
        """A JSON-able form with every field."""
        return {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "top_k": self.top_k,
            "max_tokens": self.max_tokens,
            "thinking": self.thinking,
            "stop": list(self.stop),
            "seed": self.seed,
        }
