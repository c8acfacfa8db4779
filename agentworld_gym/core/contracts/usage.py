"""What an answer cost."""

from __future__ import annotations

from dataclasses import dataclass


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
