"""Made-up tables of a tool server: rows with keys, names, kinds, figures and days, and rows that belong to others."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Set
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Literal

from agentworld_gym.recipe.data.drill_words import Words

Row = dict[str, Any]

Kind = Literal["key", "owner", "text", "choice", "amount", "number", "day", "note"]
"""What a column holds: the key of the row or of the row that it belongs to, a text of some words, one of a few words,
an amount in cents, a number, a day with or without its time, or a text that may be missing."""

RESERVED = frozenset(
    ("add", "balance", "by", "count", "from", "keys", "limit", "of", "offset", "sort", "status", "to", "total", "with")
)
"""Names that no column may have, because calls and answers use them beside columns."""

HOLDERS, ENTRIES = (3, 8), (4, 12)
"""How many rows a table has at first: one whose rows others belong to, and one of such others."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table whose first column is its key; the key of the row that a row belongs to comes next, then a text."""

    singular: str
    """The name of one row."""

    columns: dict[str, Kind]
    """The kind of each column, in the order of the rows."""

    choices: dict[str, list[str]]
    """The words that a column of the kind `choice` may hold."""

    rows: list[Row]

    owner: Table | None = None
    """The table whose rows the rows of this one belong to."""

    @property
    def name(self) -> str:
        """The name of the table."""
        return f"{self.singular}s"

    @property
    def key(self) -> str:
        """The name of the first column."""
        return next(iter(self.columns))

    def of_kind(self, *kinds: Kind) -> list[str]:
        """Return the columns of some kinds."""
        return [column for column, kind in self.columns.items() if kind in kinds]

    def find(self, key: object) -> Row:
        """Return the row with a key."""
        return next(row for row in self.rows if row[self.key] == key)

    def owned_by(self, key: object) -> list[Row]:
        """Return the rows that belong to the row with a key of the table's owner."""
        return [] if self.owner is None else [row for row in self.rows if row[self.owner.key] == key]

    def lines(self) -> list[str]:
        """Return the table as prompts show it."""
        return [f"# {self.name}", *map(printed, self.rows)]


def made_up_tables(words: Words, rng: random.Random, length: int) -> list[Table]:
    """Return tables that together take at least so many characters in a prompt, and at most some rows more.

    >>> tables = made_up_tables(Words(["red", "green", "blue"], random.Random(0)), random.Random(0), 9000)
    >>> 9000 <= sum(len(line) + 1 for table in tables for line in table.lines()) < 9500
    True
    """
    singulars = list(dict.fromkeys(name.lower() for name in words.names(rng.randint(3, 6))))
    singulars.append(f"{singulars[0]}_part")
    taken = {*RESERVED, *singulars, *(f"{singular}s" for singular in singulars)}
    makers: list[_Maker] = []
    for singular in singulars:
        owned = makers and (singular == singulars[-1] or rng.random() < 0.7)
        makers.append(_Maker(words, rng, singular, rng.choice(makers).table if owned else None, taken))
    for maker in makers:
        for _ in range(rng.randint(*(HOLDERS if maker.table.owner is None else ENTRIES))):
            maker.add_row()
    missing = length - sum(len(line) + 1 for maker in makers for line in maker.table.lines())
    entries = [maker for maker in makers if maker.table.owner is not None]
    while missing > 0:
        missing -= len(printed(rng.choice(entries).add_row())) + 1
    return [maker.table for maker in makers]


def printed(value: object) -> str:
    """Return a value as tools print it."""
    return json.dumps(value, ensure_ascii=False)


class _Maker:
    """Makes one table, row by row."""

    def __init__(self, words: Words, rng: random.Random, singular: str, owner: Table | None, taken: Set[str]) -> None:
        self._words, self._rng = words, rng
        kinds: list[Kind] = ["choice", "amount", *rng.choices(_FURTHER, k=rng.randint(0, 4))]
        rng.shuffle(kinds)
        kinds.insert(0, "text")
        names = [name for name in words.names(len(kinds) + len(taken)) if name not in taken]
        columns: dict[str, Kind] = {f"{singular}_id": "key"}
        if owner is not None:
            columns[owner.key] = "owner"
        columns |= dict(zip(names, kinds, strict=False))
        choices = {column: words.names(rng.randint(2, 4)) for column, kind in columns.items() if kind == "choice"}
        self.table = Table(singular, columns, choices, [], owner)
        self._next = rng.choice((1, rng.randrange(10, 10_000)))
        self._letters = "".join(rng.choices(string.ascii_uppercase, k=3)) if rng.random() < 0.2 else ""
        self._texts = [" ".join(words.word() for _ in range(rng.randint(1, 3))) for _ in range(8)]
        self._day = date(2026, rng.randint(1, 9), rng.randint(1, 28))
        self._timed, self._signed = rng.random() < 0.4, owner is not None and rng.random() < 0.4

    def add_row(self) -> Row:
        """Add a row to the table and return it."""
        row = {column: self._value(column, kind) for column, kind in self.table.columns.items()}
        self.table.rows.append(row)
        self._next += 1
        self._day += timedelta(days=self._rng.randint(0, 4))
        return row

    def _value(self, column: str, kind: Kind) -> Any:
        rng, words = self._rng, self._words
        match kind:
            case "key":
                return f"{self._letters}-{self._next}" if self._letters else self._next
            case "owner":
                owner = self.table.owner
                return None if owner is None else rng.choice(owner.rows)[owner.key]
            case "text":
                pooled = self.table.owner is not None and rng.random() < 0.6
                return rng.choice(self._texts) if pooled else " ".join(words.word() for _ in range(rng.randint(1, 3)))
            case "choice":
                return rng.choice(self.table.choices[column])
            case "amount":
                cents = rng.randrange(1, 10 ** rng.randint(3, 6))
                return (-cents if self._signed and rng.random() < 0.7 else cents) / 100
            case "number":
                return rng.randrange(rng.choice((10, 100)))
            case "day":
                time = f"T{rng.randrange(7, 20):02}:{rng.randrange(60):02}:{rng.randrange(60):02}Z"
                return self._day.isoformat() + (time if self._timed else "")
            case "note":
                return None if rng.random() < 0.5 else words.value()


_FURTHER: tuple[Kind, ...] = ("choice", "amount", "number", "day", "day", "note")
"""The kinds of columns that a table may have beside a key, a text, a choice and an amount."""
