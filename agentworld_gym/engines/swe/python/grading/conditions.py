"""What judged tests want, and whether what a program told fulfils it."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agentworld_gym.engines.swe.python.grading.values import BadTale, compare, read


@dataclass(frozen=True, slots=True)
class Verdict:
    """How judged tests went: the ids of those that passed, and why each of the others did not."""

    passed: tuple[str, ...]
    failed: Mapping[str, str]

    @property
    def whole(self) -> bool:
        """Whether there were tests, and all of them passed."""
        return bool(self.passed) and not self.failed


@dataclass(frozen=True, slots=True)
class Operand:
    """One side of a comparison: what the program told at a place, or a value that the test states."""

    place: int | None
    value: Any = None

    def of(self, tale: Mapping[int, Any]) -> Any:
        """Its value.

        Raises:
            BadTale: the program told none.
        """
        if self.place is None:
            return self.value
        if self.place not in tale or tale[self.place][0] != "value":
            raise BadTale(f"no value at {self.place}")
        return read(tale[self.place][1])


@dataclass(frozen=True, slots=True)
class Condition:
    """What an assertion wants: a relation of operands, or several conditions joined by `kind`."""

    kind: str
    operands: tuple[Operand, ...] = ()
    relations: tuple[type[ast.cmpop], ...] = ()
    inner: tuple[Condition, ...] = ()

    def holds(self, tale: Mapping[int, Any]) -> bool:
        """Whether what was told fulfils it."""
        if self.kind == "not":
            return not self.inner[0].holds(tale)
        if self.kind in ("and", "or"):
            return (all if self.kind == "and" else any)(part.holds(tale) for part in self.inner)
        values = [operand.of(tale) for operand in self.operands]
        if self.kind == "truth":
            return bool(values[0])
        return all(map(compare, self.relations, values, values[1:]))


@dataclass(frozen=True, slots=True)
class Raising:
    """What has to be raised at a place: one of these classes, with a text in which a pattern is found."""

    place: int
    names: tuple[str, ...]
    pattern: str | None

    def holds(self, tale: Mapping[int, Any]) -> bool:
        """Whether that was raised."""
        told = tale.get(self.place, [None])
        if told[0] != "raised" or not set(self.names) & set(map(str, told[1])):
            return False
        return self.pattern is None or re.search(self.pattern, str(told[2])) is not None


@dataclass(slots=True)
class Case:
    """One test: the text of its program's side, what is wanted, and where nothing may be raised."""

    id: str
    name: str
    lines: list[str] = field(default_factory=list)
    wanted: list[tuple[int, Condition | Raising]] = field(default_factory=list)
    quiet: set[int] = field(default_factory=set)

    def verdict(self, tale: Mapping[int, Any]) -> str:
        """Why it failed; empty if it passed."""
        for place in sorted(self.quiet):
            if tale.get(place, ["raised"])[0] == "raised":
                told = tale.get(place)
                return f"raised {told[1][0]}" if told else "the run ended before"
        for line, condition in self.wanted:
            try:
                if not condition.holds(tale):
                    return f"line {line}"
            except (BadTale, IndexError, TypeError):
                return f"line {line}: no value"
        return ""
