"""Neighbours of a solution: the same calls with one value changed, or with one call left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any

from agentworld_gym.domains.mcp.synth.draft import CallDraft
from agentworld_gym.domains.mcp.synth.machines import State

VALUES = 3
"""How many other values are tried for one argument."""

_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def changed_calls(call: CallDraft, state: State) -> Iterator[tuple[str, CallDraft]]:
    """Yield calls that differ in one argument, each with the name of the argument.

    Args:
        call: The call.
        state: The stored values, from which other values of the same column are taken.

    >>> state = {"loans/1/book": "b-7", "loans/2/book": "b-8"}
    >>> call = CallDraft(name="lend", arguments={"book": "b-7"})
    >>> [(name, other.arguments) for name, other in changed_calls(call, state)]
    [('book', {'book': 'b-8'}), ('book', {'book': 'b-7 x'}), ('book', {'book': 'b-8'})]
    """
    for name, value in call.arguments.items():
        for other in islice(other_values(value, state), VALUES):
            yield name, call.model_copy(update={"arguments": {**call.arguments, name: other}})


def other_values(value: Any, state: State) -> Iterator[Any]:
    """Yield other values for an argument, the likeliest first: those stored where this one is, then made-up ones.

    >>> list(other_values(True, {})), list(other_values(3, {})), list(other_values([1, 2], {}))
    ([False], [4, 2, 5], [[1], [2, 2], [0, 2], [3, 2]])
    """
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield from _stored(value, state)
        yield from (other for other in (value + 1, value - 1, value + 2) if other != value)
    elif isinstance(value, str):
        yield from _stored(value, state)
        yield f"{value} x"
        yield from other_answers(value)
    elif isinstance(value, list):
        if len(value) > 1:
            yield value[:-1]
        yield from ([other, *value[1:]] for other in (other_values(value[0], state) if value else ()))
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from ({**value, key: other} for other in islice(other_values(inner, state), 1))


def other_answers(answer: str, state: State = MappingProxyType({})) -> Iterator[str]:
    """Yield wrong answers beside a right one: another number or another text, and what else its columns hold.

    Args:
        answer: The right answer.
        state: The stored values.

    >>> list(other_answers("12.50 euros")), list(other_answers("Ada", {"people/1/name": "Ada", "people/2/name": "Bo"}))
    (['13.50 euros'], ['nothing of it', 'Bo'])
    """
    if match := _NUMBER.search(answer):
        whole, point, rest = match.group().partition(".")
        yield f"{answer[: match.start()]}{int(whole) + 1}{point}{rest}{answer[match.end() :]}"
    else:
        yield "nothing of it"
    texts = {field: str(held) for field, held in state.items() if held is not None}
    yield from (other for other in _stored(answer, texts) if other.casefold() != answer.casefold())


def _stored(value: Any, state: State) -> list[Any]:
    """Return other values of the columns that hold a value, in the order of their rows."""
    columns = {_column(field) for field, held in state.items() if held == value and type(held) is type(value)}
    others = {held: None for field, held in state.items() if _column(field) in columns and held not in (value, None)}
    return list(others)[:VALUES]


def _column(field: str) -> tuple[str, str]:
    """Return the table and the column of a stored value; a key of a row may hold slashes."""
    return field[: field.index("/")], field[field.rindex("/") + 1 :]


def shortened(solution: Sequence[CallDraft], writing: Sequence[int]) -> Iterator[tuple[int, list[CallDraft]]]:
    """Yield the solution without one of its writing calls, each with the place of that call.

    >>> [calls for _, calls in shortened([CallDraft(name="a_1"), CallDraft(name="b_2")], [1])]
    [[CallDraft(name='a_1', arguments={})]]
    """
    for place in writing:
        yield place, [*solution[:place], *solution[place + 1 :]]
