"""How the ways of tool servers call, read, order and answer: three habits, each with its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from agentworld_gym.core.screens.sight import ActionStream
from ways.playing import Way

Calls = Generator[str, str, Any]
"""Yields actions, is sent what they show, and returns what was read."""

Solver = Callable[["Habit", str], ActionStream]
"""A solution of a family's instruction, with a habit."""


@dataclass(frozen=True)
class Habit:
    """How an agent goes about its work."""

    name: str
    broad: bool
    """Whether it lists everything and looks for itself, instead of searching."""

    backwards: bool
    """Whether it does the last thing first where the instruction leaves the order open."""

    again: bool
    """Whether it looks again at what it has changed."""

    def call(self, tool: str, **arguments: Any) -> Calls:
        """Call a tool and return what it answers, read as JSON."""
        answer = yield self.written(tool, arguments)
        if not answer.startswith("{") or '"status": "error"' in answer:
            raise ValueError(f"{tool} {arguments} is refused: {answer}")
        return json.loads(answer)

    def written(self, tool: str, arguments: dict[str, Any]) -> str:
        """Return a call as agents write it: on one line, with the arguments first, or over several lines."""
        if self.again:
            return json.dumps({"name": tool, "arguments": arguments}, indent=2)
        if self.backwards:
            return json.dumps({"arguments": arguments, "name": tool}, ensure_ascii=False)
        return json.dumps({"name": tool, "arguments": arguments}, ensure_ascii=False, separators=(",", ":"))

    def order(self, things: Sequence[Any]) -> list[Any]:
        """Return things in the order in which the habit does them."""
        return list(reversed(things)) if self.backwards else list(things)

    def finish(self, answer: float | str | Sequence[str], what: str, unit: str = "") -> str:
        """Return the closing action: the answer as a person or a language model words it.

        Args:
            answer: A number, a name, or several names.
            what: What was asked for, as in "balance of the Reserve".
            unit: Of a number: "euros", "days", "points".
        """
        if isinstance(answer, float | int):
            return f"finish: {self._number(answer, what, unit)}"
        names = [answer] if isinstance(answer, str) else list(answer)
        verb = "is" if isinstance(answer, str) else "are"
        if self.again:
            return "finish: " + "\n".join(
                f"“{name.replace('-', chr(0x2011)).replace(' ', chr(0xA0))}”" for name in names
            )
        if self.backwards:
            return f"finish: The {what} {verb} {' and '.join(reversed(names))}."
        return f"finish: **{', '.join(names)}**"

    def _number(self, number: float, what: str, unit: str) -> str:
        money = unit == "euros"
        digits = f"{number:,.2f}" if money else f"{number:g}"
        if self.again:
            return f"€{digits.replace(',', chr(0x202F))}" if money else f"{digits}\u00a0{unit}"
        if self.backwards:
            return f"The {what} is {digits} {unit}."
        return f"**{digits} {'EUR' if money else unit}**"


HABITS = (
    Habit("whole_lists", broad=True, backwards=False, again=False),
    Habit("other_order", broad=False, backwards=True, again=False),
    Habit("second_look", broad=False, backwards=False, again=True),
)


def with_habits(solver: Solver) -> list[Way]:
    """Return a solver as three ways, one for each habit."""
    return [_way(solver, habit) for habit in HABITS]


def _way(solver: Solver, habit: Habit) -> Way:
    def way(instruction: str, screen: str) -> ActionStream:
        yield from solver(habit, instruction)

    way.__name__ = f"{solver.__name__}_with_{habit.name}"
    return way


def only(rows: Iterable[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    """Return the only row with these fields.

    Raises:
        ValueError: There is none, or more than one.
    """
    found = [row for row in rows if all(row.get(name) == value for name, value in fields.items())]
    if len(found) != 1:
        raise ValueError(f"{len(found)} rows with {fields}")
    return found[0]
