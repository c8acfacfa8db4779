"""JSON as tools print it, on one line, in which objects may be references: read and written to the letter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from agentworld_gym.prompting.references.contract import MARK, UnknownReference

DEEPEST = 60
"""Levels of lists and objects in each other."""

_STRING = r'"(?:[^"\\]|\\.)*"'
_SCALAR = re.compile(rf"{_STRING}|-?[0-9][0-9.eE+-]*|true|false|null", re.DOTALL)
_KEY = re.compile(_STRING, re.DOTALL)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_UNMARKED = re.compile(rf'(?:[^"{MARK}]+|{_STRING})*', re.DOTALL)
"""What goes before the first mark outside of strings, or the first quote that nothing closes."""

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*:[\w.:/@+-]+")
"""Table and key of a row."""

AGAIN = "~"


@dataclass(frozen=True, slots=True)
class Array:
    """A list."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Object:
    """An object; keys are JSON texts."""

    pairs: tuple[tuple[str, Node], ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """A row. `fields` are the keys that it shows, each with another value where it has one.

    None stands for all of the row, `AGAIN` for the fields of the reference before it in a list.
    """

    name: str
    fields: tuple[tuple[str, Node | None], ...] | str | None = None


Node = str | Array | Object | Reference
"""Anything else is kept as it is written."""


def is_marked(text: str) -> bool:
    """Whether a text is one reference, or JSON that holds references.

    >>> [is_marked(text) for text in ("@orders:3", '{"order": @orders:3}', '{"mail": "a@b.example"}', "a@b")]
    [True, True, False, False]
    """
    if text.startswith(MARK):
        return True
    if text[:1] not in ("{", "[") or MARK not in text:
        return False
    before = _UNMARKED.match(text)
    return before is not None and MARK in text[before.end() :]


def written(node: Node) -> str:
    """The text of a value; the inverse of `parsed`."""
    match node:
        case Array(items):
            return f"[{', '.join(map(written, items))}]"
        case Object(pairs):
            return "{" + ", ".join(f"{key}: {written(value)}" for key, value in pairs) + "}"
        case Reference(name, None):
            return MARK + name
        case Reference(name, str(again)):
            return f"{MARK}{name}{{{again}}}"
        case Reference(name, tuple(fields)):
            return f"{MARK}{name}{{{','.join(_field(key, value) for key, value in fields)}}}"
    return str(node)


def _field(key: str, value: Node | None) -> str:
    word = key[1:-1] if _WORD.fullmatch(key[1:-1]) else key
    return word if value is None else f"{word}={written(value)}"


def parsed(text: str) -> Node:
    """The value that a text holds.

    >>> parsed('[1, @orders:3{id,note="late"}]')
    Array(items=('1', Reference(name='orders:3', fields=(('"id"', None), ('"note"', '"late"')))))

    Raises:
        UnknownReference: the text is not what `written` could have written.
    """
    return _Parser(text).whole()


class _Parser:
    """Reads a text from its beginning to its end."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._depth = text, 0, 0

    def whole(self) -> Node:
        node = self._value()
        if self._at < len(self._text):
            self._fail("nothing more")
        return node

    def _value(self) -> Node:
        if self._skips(MARK):
            return self._reference()
        if not self._sees("[", "{"):
            return self._taken(_SCALAR, "a value")
        self._depth += 1
        if self._depth > DEEPEST:
            self._fail(f"at most {DEEPEST} levels")
        node = self._array() if self._skips("[") else self._object()
        self._depth -= 1
        return node

    def _array(self) -> Array:
        items: list[Node] = []
        while not self._skips("]"):
            if items:
                self._need(", ")
            items.append(self._value())
        return Array(tuple(items))

    def _object(self) -> Object:
        pairs: list[tuple[str, Node]] = []
        self._need("{")
        while not self._skips("}"):
            if pairs:
                self._need(", ")
            key = self._taken(_KEY, "a key")
            self._need(": ")
            pairs.append((key, self._value()))
        return Object(tuple(pairs))

    def _reference(self) -> Reference:
        name = self._taken(NAME, "a table and a key")
        if not self._skips("{"):
            return Reference(name)
        if self._skips(AGAIN + "}"):
            return Reference(name, AGAIN)
        self._depth += 1
        if self._depth > DEEPEST:
            self._fail(f"at most {DEEPEST} levels")
        fields: list[tuple[str, Node | None]] = []
        while not self._skips("}"):
            if fields:
                self._need(",")
            key = self._taken(_KEY, "a key") if self._sees('"') else f'"{self._taken(_WORD, "a key")}"'
            fields.append((key, self._value() if self._skips("=") else None))
        self._depth -= 1
        return Reference(name, tuple(fields))

    def _sees(self, *texts: str) -> bool:
        return self._text.startswith(texts, self._at)

    def _skips(self, text: str) -> bool:
        if not self._sees(text):
            return False
        self._at += len(text)
        return True

    def _need(self, text: str) -> None:
        if not self._skips(text):
            self._fail(repr(text))

    def _taken(self, pattern: re.Pattern[str], what: str) -> str:
        found = pattern.match(self._text, self._at)
        if found is None:
            self._fail(what)
        self._at = found.end()
        return found[0]

    def _fail(self, expected: str) -> NoReturn:
        raise UnknownReference(self._text[max(0, self._at - 20) : self._at + 60], f"{expected} at character {self._at}")
