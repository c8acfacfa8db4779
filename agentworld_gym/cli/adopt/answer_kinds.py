"""The kinds of answers that a system gives, by which a recording tells that it meets nothing new any more."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agentworld_gym.evaluation.fidelity.replay import verb

LONGEST = 400
"""How many characters of a text tell its kind."""

_NAME = re.compile(r"\w*\d\w*|[\w.-]*[._/][\w./-]*")
"""What changes from answer to answer of one kind: numbers, paths and file names."""


def answer_kind(action: str, observation: str) -> str:
    """Return what kind of answer an observation is: what the action did, and what the answer holds beside values.

    Of JSON the names and types count, not how often they stand there. Of a text its words count, without those that
    the action had, numbers and paths.

    >>> ask = '{"name": "get", "arguments": {"name": "Emma"}}'
    >>> answer_kind(ask, '[{"name": "Emma", "age": 3}]') == answer_kind(ask, '[{"age": 4, "name": "x"}, {"age": 1}]')
    True
    >>> answer_kind(ask, "no Emma, 3 others") == answer_kind(ask.replace("Emma", "Dune"), "no Dune, 14 others")
    True
    >>> answer_kind(ask, "[]") == answer_kind(ask, "[3]")
    False
    """
    try:
        shape = " ".join(sorted(set(_paths(json.loads(observation), ""))))
    except (ValueError, RecursionError):
        given = set(re.findall(r"\w+", action))
        words = re.findall(r"\w+", _NAME.sub("*", observation[:LONGEST]))
        shape = " ".join(dict.fromkeys("*" if word in given else word for word in words))
    return f"{verb(action)}: {shape}"


def _paths(value: Any, place: str) -> Iterator[str]:
    """Yield the names and the types in a document."""
    match value:
        case dict() if value:
            for key, inner in value.items():
                yield from _paths(inner, f"{place}.{key}")
        case list() if value:
            for inner in value:
                yield from _paths(inner, f"{place}[]")
        case _:
            empty = isinstance(value, str | dict | list) and not value
            yield f"{place} {type(value).__name__}{' empty' if empty else ''}"


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
