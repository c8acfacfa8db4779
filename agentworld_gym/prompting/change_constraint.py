"""Which texts may begin a change of a structured state, for constrained decoding in the state form.

A generator that asks at every token writes no change that cannot be read: no entry of a list that is not there, and no
broken JSON. Whatever the reader takes stays possible, so that a readable answer is written as it would be anyway.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic_core import from_json

from agentworld_gym.contracts import PIECE
from agentworld_gym.errors import AnswerError
from agentworld_gym.prompting.state_changes import SAME, Path, applied, at, escaped, key_of, read_path

_SIGNS = ("=", ":=", "+=")
_FENCE = re.compile(r"`{1,2}|```\w*")
_CUT = "EOF while parsing"
"""How pydantic's reader of JSON says that a text ends too early."""
_LAST_ASCII = "\x7f"
Makes = Literal["nothing", "entry", "path"]
"""What of a path may be missing in a state: nothing, the last key of an object, or all from any object on."""


class ChangeConstraint:
    """Tells which texts a change of one structured state may begin with, and which are one.

    >>> allows = ChangeConstraint({"cart": [{"id": "jana", "n": 1}]}, ())
    >>> allows("cart/ja"), allows("cart/lotta"), allows('cart/jana/n = "a", "'), allows('cart/jana/n = {"a')
    (True, False, False, True)
    >>> allows("cart/jana/n = {", whole=True), allows("cart/jana/n = 2", whole=True)
    (False, True)

    Args:
        before: The state before the change.
        place: The path of the place at which the agent is.
    """

    def __init__(self, before: Mapping[str, Any], place: Path) -> None:
        self._before, self._place = before, place
        self._lines, self._state = "", before

    def __call__(self, text: str, whole: bool = False) -> bool:
        """Whether a text may begin a change; or, if it is the `whole` answer, whether it is one."""
        if whole:
            return self._after(text) is not None
        lines, _, line = text.rpartition("\n")
        state = self._after(lines)
        return state is not None and _may_begin(line.lstrip(), self._before, state, self._place)

    def _after(self, lines: str) -> Mapping[str, Any] | None:
        """Return the state after the lines that are complete; None where they cannot be read."""
        if lines != self._lines:
            try:
                state = applied(self._before, lines, self._place)
            except AnswerError:
                return None
            self._lines, self._state = lines, state
        return self._state


def _may_begin(line: str, before: Mapping[str, Any], state: Mapping[str, Any], place: Path) -> bool:
    """Whether a line may begin an operation on a state."""
    if SAME.startswith(line) or _FENCE.fullmatch(line):
        return True
    if line[0] in "->":
        return _leads(state, line[1:], place, "entry" if line[0] == "-" else "nothing")
    if line[0] in "+^":
        path, blank, value = line[1:].partition(" ")
        if not blank:
            return _leads(state, path, place)
        return isinstance(_at(state, path, place), list) and _begins_json(value)
    path, blank, rest = line.partition(" ")
    sign, second, value = rest.partition(" ")
    if sign == "+=" and not isinstance(_at(state, path, place), str | int):
        return False
    if not _leads(state, path, place, "path", whole=bool(blank)):
        return False
    if not second:
        return any(one.startswith(sign) for one in _SIGNS)
    return _leads(before, value, place) if sign == ":=" else sign in _SIGNS and _begins_json(value)


def _leads(state: Any, text: str, place: Path, makes: Makes = "nothing", *, whole: bool = False) -> bool:
    """Whether the beginning of a path, or a whole one, leads to something in a state."""
    if text in ("", ".", ".."):
        return True
    start, slash, last = text.rpartition("/")
    if not slash and text.startswith("."):
        start, last = ".", text[1:]
    holder = state
    try:
        for step in read_path(start, place):
            if makes == "path" and isinstance(holder, dict) and step not in holder:
                return True
            holder = holder[key_of(holder, step)]
    except (LookupError, TypeError, ValueError):
        return False
    if isinstance(holder, dict) and makes != "nothing":
        return True
    return last in _names(holder) if whole else any(_begins(name, last) for name in _names(holder))


def _begins(name: str, text: str) -> bool:
    """Whether a name begins with a text, whose last character may still lack some of its bytes."""
    known = text.rstrip(PIECE)
    return name.startswith(known) and (known == text or name[len(known) :] > _LAST_ASCII)


def _names(holder: Any) -> Iterable[str]:
    """Return how paths name what an object or a list holds."""
    if isinstance(holder, dict):
        return map(escaped, holder)
    if not isinstance(holder, list):
        return ()
    ids = [str(row["id"]) if isinstance(row, dict) and "id" in row else "" for row in holder]
    return map(escaped, ids) if all(ids) and len(set(ids)) == len(ids) else map(str, range(len(holder)))


def _at(state: Any, path: str, place: Path) -> Any:
    """Return the value at a path; None where there is none."""
    try:
        return at(state, read_path(path, place))
    except (LookupError, TypeError, ValueError):
        return None


def _begins_json(text: str) -> bool:
    """Whether a text is JSON, or the beginning of it."""
    try:
        from_json(text, allow_inf_nan=False)
    except ValueError as error:
        return str(error).startswith(_CUT)
    return True
