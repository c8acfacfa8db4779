"""Which texts may begin a change of a structured state, for constrained decoding in the state form.

A generator that asks at every token writes no change that cannot be read: no entry of a list that is not there, and no
broken JSON. Whatever the reader takes stays possible, so that a readable answer is written as it would be anyway.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, Protocol

from pydantic_core import from_json

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.core.domain.view import Choices, StructuredState
from agentworld_gym.llm.prompting.state_changes import SAME, Completed, applied
from agentworld_gym.llm.prompting.state_paths import Path, at, escaped, key_of, read_path
from agentworld_gym.llm.prompting.state_references import ESCAPED, References, begins

_SIGNS = ("=", ":=", "+=")
_FENCE = re.compile(r"`{1,2}|```\w*")
_VALUE = re.compile(r"([+^])?(\S+) (?(1)|(\+?=) )(.*)")
"""An operation that writes a value: the sign of one that adds an entry, the path, any other sign, and the value."""
_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\(?:u[0-9a-fA-F]{0,3})?\Z")
"""The beginning of an escape at the end of a text of JSON."""
_GROWTH = {str: re.compile('"'), int: re.compile(r"-?\d*\Z"), float: re.compile(r"-|\d")}
"""How that begins by which a value grows."""
ADDED = "+"
"""The name of an entry that is added to a list, in a path."""
_CUT = "EOF while parsing"
"""How pydantic's reader of JSON says that a text ends too early."""
ChoicesOf = Callable[[StructuredState, tuple[str, ...]], Choices | None]
Makes = Literal["nothing", "entry", "path"]
"""What of a path may be missing in a state: nothing, the last key of an object, or all from any object on."""


class TextConstraint(Protocol):
    """Tells which texts an answer may begin with, and which are one."""

    def __call__(self, text: str, whole: bool = False) -> bool:
        """Whether a text may begin an answer; or, if it is the `whole` answer, whether it is one."""
        ...


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
        choices: What tells of a state and a path in it which texts can stand there; None where any can.
        references: The values that texts refer to; None where braces are braces.
        completed: Returns the fields that an added entry gets without being written; None for no fields.
    """

    def __init__(
        self,
        before: StructuredState,
        place: Path,
        choices: ChoicesOf | None = None,
        references: References | None = None,
        completed: Completed | None = None,
    ) -> None:
        self._before, self._place = before, place
        self._references, self._completed = references, completed
        self._lines, self._state = "", before
        self._choices, self._known = choices, dict[tuple[str, ...], Choices | None]()

    def __call__(self, text: str, whole: bool = False) -> bool:
        """Whether a text may begin a change; or, if it is the `whole` answer, whether it is one."""
        if whole:
            return self._after(text) is not None
        lines, _, line = text.rpartition("\n")
        state = self._after(lines)
        line = line.lstrip()
        spellings = [line] if self._references is None else self._references.spellings(line)
        return state is not None and any(self._may_begin(spelling, state) for spelling in spellings)

    def _may_begin(self, line: str, state: StructuredState) -> bool:
        """Whether a line with no names in its paths may begin an operation on a state."""
        if not _may_begin(line, self._before, state, self._place, self._references):
            return False
        known, choices = self._references, self._choices
        return (
            known is None
            or all(known.may_begin(part, field, whole=closed) for field, part, closed in _texts(line, self._place))
        ) and (
            choices is None
            or all(
                self._is_chosen(path, field, part, whole=closed)
                for path, field, part, closed in _set(line, self._place)
            )
        )

    def _is_chosen(self, path: tuple[str, ...], field: str, text: str, *, whole: bool) -> bool:
        """Whether what a text at a path may mean is among its choices."""
        choices = self._chosen(path)
        if choices is None or self._references is None:
            return _is_among(choices, text, whole=whole)
        return any(_is_among(choices, meaning, whole=whole) for meaning in self._references.may_mean(text, field))

    def _chosen(self, path: tuple[str, ...]) -> Choices | None:
        """Return what a text at a path can be after the lines that are complete."""
        assert self._choices is not None
        if path not in self._known:
            try:
                self._known[path] = self._choices(self._state, path)
            except AnswerError:
                self._known[path] = None
        return self._known[path]

    def _after(self, lines: str) -> StructuredState | None:
        """Return the state after the lines that are complete; None where they cannot be read."""
        if lines != self._lines:
            try:
                state = applied(self._before, lines, self._place, self._references, self._completed)
            except AnswerError:
                return None
            self._lines, self._state, self._known = lines, state, {}
        return self._state


def _may_begin(
    line: str, before: Mapping[str, Any], state: Mapping[str, Any], place: Path, references: References | None
) -> bool:
    """Whether a line may begin an operation on a state."""
    if SAME.startswith(line) or _FENCE.fullmatch(line):
        return True
    if line[0] in "->":
        path = line[1:].rstrip()
        return _leads(state, path, place, "entry" if line[0] == "-" else "nothing", whole=path != line[1:])
    if line[0] in "+^":
        path, blank, value = line[1:].partition(" ")
        if not blank:
            return _leads(state, path, place)
        return isinstance(_at(state, path, place), list) and _begins_json(value)
    path, blank, rest = line.partition(" ")
    sign, second, value = rest.partition(" ")
    if not _leads(state, path, place, "path", whole=bool(blank)):
        return False
    if sign == "+=" and not _may_grow(
        _at(state, path, place), value.strip(), _field(read_path(path, place)), references
    ):
        return False
    if path in (".", "..") and blank and not read_path(path, place):  # The whole state is no field.
        return False
    if not second:
        return any(one.startswith(sign) for one in _SIGNS)
    if sign == ":=":
        return _leads(before, value.rstrip(), place, whole=value != value.rstrip())
    return sign in _SIGNS and _begins_json(value)


def _may_grow(value: Any, text: str, field: str, references: References | None) -> bool:
    """Whether the value of a field grows by what a text begins: a text by a text, a whole number by a whole one."""
    if references is not None and text.startswith('"') and type(value) in (int, float):
        return _begins_json(text) and all(
            references.may_begin_number(part, field, type(value), whole=whole) for _, part, whole in _inner_texts(text)
        )
    beginning = _GROWTH.get(type(value))
    return beginning is not None and (not text or beginning.match(text) is not None)


def _leads(state: Any, text: str, place: Path, makes: Makes = "nothing", *, whole: bool = False) -> bool:
    """Whether the beginning of a path, or a whole one, leads to something in a state."""
    if text in ("", ".", ".."):
        return True
    if any(map(str.isspace, text)):
        return False
    start, slash, last = text.rpartition("/")
    if not slash and text.startswith("."):
        start, last = ".", text[1:]
    holder = state
    try:
        read_path(text, place)
        for step in read_path(start, place):
            if makes == "path" and isinstance(holder, dict) and step not in holder:
                return True
            holder = holder[key_of(holder, step)]
    except (LookupError, TypeError, ValueError):
        return False
    if isinstance(holder, dict) and makes != "nothing":
        return True
    return last in _names(holder) if whole else any(begins(name, last) for name in _names(holder))


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


def _is_json(text: str) -> bool:
    try:
        from_json(text)
    except ValueError:
        return False
    return True


def _begins_json(text: str) -> bool:
    """Whether a text is JSON, or the beginning of it."""
    try:
        from_json(text, allow_inf_nan=False)
    except ValueError as error:
        return str(error).startswith(_CUT)
    return True


def _field(path: Path) -> str:
    """Return the name of the field at a path, which an entry of a list has from the list."""
    return str(path[-1]) if path else ""


def _set(line: str, place: Path) -> Iterator[tuple[tuple[str, ...], str, str, bool]]:
    """Yield the texts that an operation sets in a field or an entry as far as they are written, with their paths and
    the names of their fields, and if they are whole.
    """
    found = _VALUE.fullmatch(line)
    if found is None or found[3] == "+=":
        return
    path = tuple(map(str, read_path(found[2], place)))
    for inner, text, whole in _inner_texts(found[4]):
        keys = tuple(key for key in inner if key is not None)
        if len(inner) == len(keys) <= 1:
            yield (*path, *((ADDED,) if found[1] else ()), *keys), _field((*path, *keys)), text, whole


def _texts(line: str, place: Path) -> Iterator[tuple[str, str, bool]]:
    """Yield all texts in the value of an operation as far as it is written, with the names of their fields, and if they
    are whole. An entry of a list has the name of the list.
    """
    found = _VALUE.fullmatch(line)
    if found is None:
        return
    path = read_path(found[2], place)
    for inner, text, whole in _inner_texts(found[4]):
        yield _field((*path, *(key for key in inner if key is not None))), text, whole


def _inner_texts(text: str) -> Iterator[tuple[tuple[str | None, ...], str, bool]]:
    """Yield the texts in the beginning of JSON, with their keys and if they are whole; there is no key in a list."""
    lacking = ESCAPED if _ESCAPE.search(text) else ""
    if text.startswith('"'):
        yield (), from_json(text, allow_partial="trailing-strings") + lacking, _is_json(text)
    elif text[:1] in ("{", "["):
        begun, closed = from_json(text, allow_partial="trailing-strings"), from_json(text, allow_partial=True)
        for keys, part, whole in _walked(begun, closed):
            yield keys, part if whole else part + lacking, whole


def _walked(begun: Any, closed: Any) -> Iterator[tuple[tuple[str | None, ...], str, bool]]:
    """Yield the texts of a value, and if they are in the value without what is not complete."""
    inner: Iterable[tuple[Any, Any]] = begun.items() if isinstance(begun, dict) else enumerate(begun)
    for key, part in inner:
        known: bool = key in closed if isinstance(closed, dict) else key < len(closed)
        name: str | None = key if isinstance(begun, dict) else None
        if isinstance(part, str):
            yield (name,), part, known
        elif isinstance(part, dict | list):
            for keys, text, whole in _walked(part, closed[key] if known else type(part)()):
                yield (name, *keys), text, whole


def _is_among(choices: Choices | None, text: str, *, whole: bool) -> bool:
    """Whether a text, or what it may begin with, is among some choices."""
    if choices is None:
        return True
    parts = text.split(",", len(choices) - 1)
    last = choices[len(parts) - 1]
    if any(some is not None and part not in some for some, part in zip(choices, parts[:-1], strict=False)):
        return False
    if whole:
        return len(parts) == len(choices) and (last is None or parts[-1] in last)
    return last is None or any(begins(name, parts[-1]) for name in last)
