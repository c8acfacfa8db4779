"""The conditions of graded tests, and whether the values that a program recorded meet them."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agentworld_gym.domains.swe.engine.python.grading.values import InvalidRecord, compare, read

MAX_MESSAGE = 10_000
"""The characters of an exception's text in which a pattern is looked for; some patterns take their square in time."""


@dataclass(frozen=True, slots=True)
class GradingVerdict:
    """The outcome of graded tests: the ids of those that passed, and why each of the others did not."""

    passed: tuple[str, ...]
    failed: Mapping[str, str]

    @property
    def whole(self) -> bool:
        """Whether there were tests and all of them passed."""
        return bool(self.passed) and not self.failed


@dataclass(frozen=True, slots=True)
class Operand:
    """One side of a comparison: a value that the program recorded at a place, or a value that the test states."""

    place: int | None
    value: Any = None

    def of(self, records: Mapping[int, Any]) -> Any:
        """Return the value of the operand.

        Raises:
            InvalidRecord: the program recorded no value.
        """
        if self.place is None:
            return self.value
        if self.place not in records or records[self.place][0] != "value":
            raise InvalidRecord(f"no value at {self.place}")
        return read(records[self.place][1])


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition of an assertion: a relation of operands, or several conditions joined by `kind`."""

    kind: str
    operands: tuple[Operand, ...] = ()
    relations: tuple[type[ast.cmpop], ...] = ()
    inner: tuple[Condition, ...] = ()

    def holds(self, records: Mapping[int, Any]) -> bool:
        """Return whether the recorded values meet the condition."""
        if self.kind == "not":
            return not self.inner[0].holds(records)
        if self.kind in ("and", "or"):
            return (all if self.kind == "and" else any)(part.holds(records) for part in self.inner)
        values = [operand.of(records) for operand in self.operands]
        if self.kind == "truth":
            return bool(values[0])
        return all(map(compare, self.relations, values, values[1:]))


@dataclass(frozen=True, slots=True)
class Raising:
    """The exception that must be raised at a place: its possible classes, and a pattern that its text must contain."""

    place: int
    names: tuple[str, ...]
    pattern: str | None

    def holds(self, records: Mapping[int, Any]) -> bool:
        """Return whether such an exception was raised."""
        record = records.get(self.place, [None])
        if record[0] != "raised" or not set(self.names) & set(map(str, record[1])):
            return False
        return self.pattern is None or re.search(self.pattern, str(record[2])[:MAX_MESSAGE]) is not None


@dataclass(slots=True)
class GradedTest:
    """One test: the text of its program's side, its conditions, and the places where nothing may be raised."""

    id: str
    name: str
    lines: list[str] = field(default_factory=list)
    wanted: list[tuple[int, Condition | Raising]] = field(default_factory=list)
    quiet: set[int] = field(default_factory=set)

    def verdict(self, records: Mapping[int, Any]) -> str:
        """Return why the test failed; the text is empty if it passed."""
        for place in sorted(self.quiet):
            if records.get(place, ["raised"])[0] == "raised":
                record = records.get(place)
                return f"raised {record[1][0]}" if record else "the run ended before"
        for line, condition in self.wanted:
            try:
                if not condition.holds(records):
                    return f"line {line}"
            except (InvalidRecord, IndexError, TypeError):
                return f"line {line}: no value"
        return ""
