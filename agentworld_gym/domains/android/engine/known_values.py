"""The values to which the change of a phone can refer by a name, so that a world model need not copy them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any

from agentworld_gym.core.domain.view import StructuredState
from agentworld_gym.domains.android.engine.display import Display
from agentworld_gym.domains.android.engine.phone import Phone
from agentworld_gym.domains.android.engine.pointing import aim_of, words_on

MANY = 12
"""The smallest number of entries of a list that has no name."""
SMALLEST = 10
"""The smallest number that has a name; smaller ones stand in texts by chance, as in "Alarm set for 2 hours"."""
_UNNAMED = frozenset(("screen", "over", "focus", "scroll", "fields", "choices", "title"))
"""The keys of a screen that hold nothing which stands elsewhere afterwards."""
_PRICE = re.compile(r"(?:Total )?(€(\d+)\.(\d\d))\b")
_BRACES = re.compile("[{}]")


def given_values(shown: StructuredState, phone: Phone, display: Display, action: Any) -> dict[str, Any]:
    """Return what an action and the screens in front give, by name.

    The text that an action types is `text`. The texts of the fields of a screen have the names of the fields, and what
    else a screen has that of its key: `number`, `date`. A dialog comes before the screen below it. `aim` is what the
    message behind the element says that an action touches, and `label` the text on the element. The time is `now`, and
    the day is `today`. Of the price of a basket `total` is the number of cents, and `€total` is the text.

    Args:
        shown: The structured state.
        phone: The phone that is restored from it.
        display: What it displays.
        action: The action as its parser read it; None where there is none.
    """
    values: dict[str, Any] = {}
    for name, value in (
        *_arguments(action),
        *(pair for screen in _screens(shown) for pair in _of_screen(screen)),
        *_aim(phone, display, action),
        ("now", f"{phone.clock:%Y-%m-%d %H:%M}"),
        ("today", f"{phone.clock:%Y-%m-%d}"),
        *_total(phone, display),
    ):
        if _may_have_name(name, value):
            values.setdefault(name, value)
    return values


def found_values(shown: StructuredState, phone: Phone, display: Display, action: Any) -> dict[str, Any]:
    """Return what is stored of what the screens in front name, and the short lists of the app, by name.

    `person/phone` is a column of the row whose number the screen has as `person`, and `aim/name` of the row that an
    action is aimed at. `slots` is a list that the app in front stores, or a single value; `call/number` is of
    a single row.

    Args:
        shown: The structured state.
        phone: The phone that is restored from it.
        display: What it displays.
        action: The action as its parser read it; None where there is none.
    """
    stored = shown["data"].get(phone.screen["app"], {}) or shown["data"].get(shown["front"], {})
    named = [(key, value) for screen in _screens(shown) for key, value in screen.items() if type(value) is int]
    aims = [("aim", value) for name, value in _aim(phone, display, action) if name == "aim" and type(value) is int]
    values: dict[str, Any] = {}
    for key, number in (*named, *aims):
        row = _row(stored, key, number)
        values |= {f"{key}/{column}": row[column] for column in row if _may_have_name(column, row[column])}
    values |= {key: value for key, value in stored.items() if _may_have_name(key, value)}
    single = {
        f"{key}/{inner}": value for key, part in stored.items() if type(part) is dict for inner, value in part.items()
    }
    return values | {name: value for name, value in single.items() if _may_have_name(name, value)}


def _arguments(action: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(action, Mapping):
        yield from ((key, value) for key, value in action.items() if key != "action_type" and isinstance(value, str))


def _screens(shown: StructuredState) -> Sequence[Mapping[str, Any]]:
    """Return the screen on top, and the one below it."""
    stack = [*shown["tasks"][shown["front"]], *shown["above"]]
    return stack[:-3:-1]


def _of_screen(screen: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield from screen.get("fields", {}).items()
    yield from ((key, value) for key, value in screen.items() if key not in _UNNAMED)


def _aim(phone: Phone, display: Display, action: Any) -> Iterator[tuple[str, Any]]:
    aim = aim_of(display, action) if isinstance(action, Mapping) else None
    if aim is not None:
        widget, (_, *said) = aim
        yield from (("aim" if not place else f"aim/{place}", value) for place, value in enumerate(said))
        yield from (("label", text) for text in words_on(widget))


def _total(phone: Phone, display: Display) -> Iterator[tuple[str, Any]]:
    """Yield the price of a basket: in the line that says so, or in the question whether to order it."""
    texts = [element.widget.text for element in display.elements if element.widget.text.startswith("Total ")]
    for text in (*texts, str(phone.screen.get("text", ""))):
        found = _PRICE.match(text)
        if found is not None:
            yield "total", int(found[2] + found[3])
            yield "€total", found[1]


def _row(stored: Mapping[str, Any], key: str, number: int) -> Mapping[str, Any]:
    """Return the row of a number; of several lists the one whose name begins most like the key."""
    found = [
        (_alike(name, key), row)
        for name, rows in stored.items()
        if isinstance(rows, list)
        for row in rows
        if isinstance(row, dict) and row.get("id") == number
    ]
    most = max((alike for alike, _ in found), default=0)
    best = [row for alike, row in found if alike == most]
    return best[0] if len(best) == 1 else {}


def _alike(one: str, other: str) -> int:
    """Return with how many letters both begin."""
    return len([*takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))])


def _may_have_name(name: str, value: Any) -> bool:
    """Whether a value of this name can be referred to: no truth value, nothing small or empty, and no long list."""
    if value in ("", None) or type(value) is bool or (type(value) is int and value < SMALLEST) or _BRACES.search(name):
        return False
    return not isinstance(value, list | dict) or 0 < len(value) < MANY
