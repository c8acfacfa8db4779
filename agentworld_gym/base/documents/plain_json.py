"""Reads JSON that a judgement depends on: JSON without repeated keys, and JSON that a model wrote loosely in prose."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

MAX_DEPTH = 8
"""How deep loose JSON may nest."""

MAX_OBJECTS = 1000
"""At how many places of a text objects may begin, or seem to begin, for it to be searched."""

_TOKEN = re.compile(
    r"""\s*(?:(?P<mark>[{}\[\],:])|(?P<text>"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+')|(?P<word>[^\s{}\[\],:"']++))""",
    re.DOTALL,
)
_IN_SINGLE_QUOTES = re.compile(r"\\'|\"")


def read_unique(text: str) -> Any:
    """Read a JSON text in which no object holds a key twice.

    >>> read_unique('{"a": [1]}')
    {'a': [1]}

    Raises:
        ValueError: The text is no JSON, or a key stands twice.
        RecursionError: The text nests too deep.
    """
    return json.loads(text, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return members


@dataclass(frozen=True, slots=True)
class FoundObject:
    """An object in a text, between `start` and `end`; `repeats` says whether a key stands twice somewhere in it."""

    value: dict[str, Any]
    start: int
    end: int
    repeats: bool


def loose_objects(text: str) -> list[FoundObject]:
    """Read the outermost objects in a text that may have prose, fences and broken JSON between them.

    They may be written loosely: with commas before a closing bracket, strings in single quotes, keys without quotes,
    plus signs, and line breaks within strings. `NaN` and `Infinity` are no values.

    >>> [found.value for found in loose_objects("So: {scores: {'a': +4,}} or {no JSON}")]
    [{'scores': {'a': 4}}]

    Raises:
        ValueError: Objects seem to begin at too many places.
    """
    objects: list[FoundObject] = []
    place, tried = text.find("{"), 0
    while place >= 0:
        tried += 1
        if tried > MAX_OBJECTS:
            raise ValueError(f"objects seem to begin at more than {MAX_OBJECTS} places")
        reader = _Reader(text, place)
        try:
            objects.append(FoundObject(reader.value(), place, reader.place, reader.repeats))
            place = text.find("{", reader.place)
        except ValueError:
            place = text.find("{", place + 1)
    return objects


class _Reader:
    """Reads one loosely written value that starts at a place of a text; every error is a ValueError."""

    def __init__(self, text: str, place: int) -> None:
        self.text, self.place, self.repeats, self._depth = text, place, False, 0

    def value(self) -> Any:
        kind, token = self._next()
        if kind == "text":
            return _unquoted(token)
        if kind == "word":
            return json.loads(token.removeprefix("+"), parse_constant=_no_value)
        if token not in "{[" or self._depth == MAX_DEPTH:
            raise ValueError(f"no value begins with {token}")
        self._depth += 1
        found = self._object() if token == "{" else self._array()
        self._depth -= 1
        return found

    def _object(self) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while not self._closes("}"):
            kind, token = self._next()
            if kind == "mark" or self._next()[1] != ":":
                raise ValueError("expected a key and a colon")
            key = _unquoted(token) if kind == "text" else token
            self.repeats |= key in members
            members[key] = self.value()
            self._separated("}")
        return members

    def _array(self) -> list[Any]:
        items = []
        while not self._closes("]"):
            items.append(self.value())
            self._separated("]")
        return items

    def _closes(self, bracket: str) -> bool:
        """Pass over a closing bracket, if it comes next."""
        before = self.place
        if self._next() == ("mark", bracket):
            return True
        self.place = before
        return False

    def _separated(self, bracket: str) -> None:
        """Pass over a comma; a closing bracket may come in its place and is left."""
        before = self.place
        token = self._next()
        if token != ("mark", ","):
            self.place = before
            if token != ("mark", bracket):
                raise ValueError(f"expected a comma or {bracket}")

    def _next(self) -> tuple[str, str]:
        match = _TOKEN.match(self.text, self.place)
        if match is None or match.lastgroup is None:
            raise ValueError("the text ends, or a string does not")
        self.place = match.end()
        return match.lastgroup, match[match.lastgroup]


def _unquoted(token: str) -> str:
    if token.startswith("'"):
        inner = _IN_SINGLE_QUOTES.sub(lambda found: "'" if found[0] == r"\'" else r"\"", token[1:-1])
        token = f'"{inner}"'
    return str(json.loads(token, strict=False))


def _no_value(name: str) -> NoReturn:
    raise ValueError(f"{name} is no value")
