r"""References to rows of tables, in JSON whose objects show them.

>>> orders = [{"id": 7, "item": "lamp", "status": "new"}, {"id": 8, "item": "bulb", "status": "new"}]
>>> known = TableRows({"orders": orders})
>>> known.refer('{"orders": [{"id": 7, "item": "lamp"}, {"id": 8, "item": "bulb"}], "count": 2}')
'{"orders": [@orders:7{id,item}, @orders:8{~}], "count": 2}'
>>> known.resolve('@orders:7{id,status="sent"}')
'{"id": 7, "status": "sent"}'
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentworld_gym.prompting.references.contract import ESCAPE, MARK, Room, UnknownReference
from agentworld_gym.prompting.references.jsontext import (
    AGAIN,
    NAME,
    Array,
    Node,
    Object,
    Reference,
    is_marked,
    parsed,
    written,
)

MOST_COLUMNS = 3
"""How many columns the longest key has."""

Pairs = Sequence[tuple[str, Node]]


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    """One row: its name, and its keys and values as JSON texts.

    `key` holds the first of them, which tell the row from the others of its table.
    """

    name: str
    values: Mapping[str, str]
    key: tuple[tuple[str, str], ...]


class TableRows:
    """Rows by table and key.

    The key of a row is the value of its first column where that is unique in its table, or of as many columns as it
    takes, with `/` between them; such a row is referred to where its first column is shown, in the object or in the one
    around it. Rows that are not told apart, or whose table or key has odd characters, cannot be referred to.

    Args:
        tables: The rows of each table, by its name.
    """

    def __init__(self, tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        rows = [row for table, held in tables.items() for row in _rows_of(table, held)]
        self._rows = {row.name: row for row in rows}
        self._showing: dict[tuple[str, str], list[_Row]] = defaultdict(list)
        for row in rows:
            for pair in row.values.items():
                self._showing[pair].append(row)

    def refer(self, text: str) -> str:
        """Put references in the place of objects that show known rows.

        A text that is no JSON, or longer than `LONGEST`, stays as it is.
        """
        if is_marked(text.lstrip(ESCAPE)):
            return ESCAPE + text
        try:
            short = written(self._referred(parsed(text), ("", "")))
            return short if self.resolve(short) == text else text
        except UnknownReference:
            return text

    def resolve(self, text: str) -> str:
        """Return the text that a text with references stands for.

        Raises:
            UnknownReference: A row or a key is not known, a text with a reference is no JSON otherwise, or it stands
                for more than `LONGEST` characters.
        """
        if text.startswith(ESCAPE) and is_marked(text.lstrip(ESCAPE)):
            return text.removeprefix(ESCAPE)
        return written(self._resolved(parsed(text), Room(text))) if is_marked(text) else text

    def _referred(self, node: Node, around: tuple[str, str]) -> Node:
        """A value with references; `around` is the first key and value of the object that it stands in."""
        match node:
            case Array(items):
                return Array(tuple(_shortened([self._referred(item, around) for item in items])))
            case Object(pairs):
                first = (pairs[0][0], written(pairs[0][1])) if pairs else around
                inner = tuple((key, self._referred(value, first)) for key, value in pairs)
                row = self._shown(pairs, first, around)
                return Object(inner) if row is None else _reference(row, pairs, inner)
        return node

    def _shown(self, pairs: Pairs, first: tuple[str, str], around: tuple[str, str]) -> _Row | None:
        """The row that an object shows, if one does.

        It shares the object's first value and the most others: at least one, or the object shows the row's key and has
        at most three. Of rows that share as much it is the one whose key is shown, then the one that shares the first
        value of the object around.
        """
        if first not in self._showing or not pairs:
            return None
        texts = [(key, written(value)) for key, value in pairs]
        told = {*texts, around}
        candidates = [row for row in self._showing[first] if len(row.key) == 1 or row.key[0] in told]

        def rank(row: _Row) -> tuple[int, bool, bool]:
            shared = sum(row.values.get(key) == value for key, value in texts)
            keyed = row.key == (first,) if len(row.key) == 1 else told.issuperset(row.key)
            return shared, keyed, row.values.get(around[0]) == around[1]

        ranks = list(map(rank, candidates))
        shared, keyed, _ = best = max(ranks, default=(0, False, False))
        if ranks.count(best) != 1 or not (shared >= 2 or (keyed and len(pairs) <= 3)):
            return None
        return candidates[ranks.index(best)]

    def _resolved(self, node: Node, room: Room) -> Node:
        """A value without references, counted before the values in it are, which may repeat others."""
        match node:
            case Array(items):
                room.take(2 * len(items) or 2)
                return Array(tuple(self._resolved(item, room) for item in _lengthened(items)))
            case Object(pairs):
                room.take(sum(len(key) + 4 for key, _ in pairs) or 2)
                return Object(tuple((key, self._resolved(value, room)) for key, value in pairs))
            case Reference():
                return self._resolved(self._object(node), room)
        room.take(len(node))
        return node

    def _object(self, reference: Reference) -> Object:
        """The object that a reference stands for, which may hold further ones."""
        row = self._rows.get(reference.name)
        if row is None:
            raise UnknownReference(
                MARK + reference.name, f"one of {len(self._rows)} rows, such as {next(iter(self._rows), '')}"
            )
        if reference.fields is None:
            return Object(tuple(row.values.items()))
        if isinstance(reference.fields, str):
            raise UnknownReference(written(reference), "a reference with keys before it in the list")
        return Object(tuple(self._pair(row, key, value) for key, value in reference.fields))

    def _pair(self, row: _Row, key: str, value: Node | None) -> tuple[str, Node]:
        if value is not None:
            return key, value
        if key not in row.values:
            raise UnknownReference(f"{MARK}{row.name}{{{key[1:-1]}}}", f"one of the keys {', '.join(row.values)}")
        return key, row.values[key]


def _reference(row: _Row, pairs: Pairs, inner: Pairs) -> Reference:
    fields = tuple(
        (key, None if row.values.get(key) == written(value) else short)
        for (key, value), (_, short) in zip(pairs, inner, strict=True)
    )
    same = all(value is None for _, value in fields) and [key for key, _ in fields] == list(row.values)
    return Reference(row.name, None if same else fields)


def _shortened(items: Sequence[Node]) -> Iterator[Node]:
    """The items of a list, where keys that are those of the item before are not told again."""
    before: Node | None = None
    for item in items:
        match before, item:
            case Reference(_, tuple(fields)), Reference(name, same) if same == fields:
                yield Reference(name, AGAIN)
            case _:
                yield item
        before = item


def _lengthened(items: Sequence[Node]) -> Iterator[Node]:
    """The items of a list, each with its keys; the inverse of `_shortened`."""
    before: Node | None = None
    for item in items:
        if isinstance(item, Reference) and item.fields == AGAIN and isinstance(before, Reference):
            item = Reference(item.name, before.fields)
        yield item
        before = item


def _rows_of(table: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[_Row]:
    """The rows of a table that can be referred to."""
    for columns in range(1, MOST_COLUMNS + 1):
        names = [f"{table}:{'/'.join(map(str, list(row.values())[:columns]))}" for row in rows]
        if len(set(names)) == len(rows):
            break
    else:
        return
    for name, row in zip(names, rows, strict=True):
        if NAME.fullmatch(name) and (values := _texts(row)):
            yield _Row(name, values, tuple(values.items())[:columns])


def _texts(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the JSON text of each value of a row by that of its key; nothing where JSON cannot express the row."""
    try:
        return {_json(str(key)): _json(value) for key, value in row.items()}
    except (TypeError, ValueError, RecursionError):
        return {}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
