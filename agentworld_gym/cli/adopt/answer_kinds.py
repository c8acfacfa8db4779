"""The kinds of answers that a system gives, by which a recording tells that it meets nothing new any more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agentworld_gym.llm.worldbook.steps import answer_kind


@dataclass(frozen=True)
class AnswerKinds:
    """The kinds of answers that sessions show.

    >>> rows = [{"actions": ["a", "b"], "observations": ["x", "y"]}, {"actions": ["a"], "observations": ["x"]}]
    >>> met = AnswerKinds.of(rows)
    >>> met.kinds, met.answers, round(met.unmet, 2)
    (2, 3, 0.33)
    """

    sessions: int
    """How many sessions there are."""

    answers: int
    """How many answers they hold."""

    kinds: int
    """How many kinds these are of."""

    once: int
    """How many kinds were met once."""

    @property
    def unmet(self) -> float:
        """The share of further answers that would be of a kind which no session shows, as Good and Turing estimate it
        (Good, Biometrika 40, 1953): the kinds that were met once, divided by the answers."""
        return self.once / self.answers if self.answers else 1.0

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> AnswerKinds:
        """Count the kinds of answers of recorded sessions."""
        met, sessions = Counter[str](), 0
        for row in rows:
            sessions += 1
            met.update(map(answer_kind, row["actions"], row["observations"]))
        return cls(sessions, met.total(), len(met), sum(count == 1 for count in met.values()))
