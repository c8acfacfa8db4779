"""Fills a database with rows made from a seed: equal seeds give equal rows."""

from __future__ import annotations

import datetime
import random
import re
import sqlite3
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from agentworld_gym.base.errors import SpecError
from agentworld_gym.kit.tables.database import keys_of, quoted
from agentworld_gym.kit.tables.insert import insert_rows
from agentworld_gym.kit.tables.row_file import Recipe, RowFile, Size, Words

ATTEMPTS = 200
"""The number of times that a row is made again after a constraint has refused it."""

_FIELD = re.compile(r"\{(@?\w+(?:\.\w+)*)(?:\|(\w+))?(?::([^{}]*))?\}")
_WIDE = re.compile(r"\d{4,}")
_FILTERS: dict[str, Callable[[str], str]] = {
    "slug": lambda text: slug(text),
    "lower": str.lower,
    "upper": str.upper,
    "first": lambda text: text.split()[0],
    "last": lambda text: text.split()[-1],
}

Row = dict[str, Any]


class RowSource(Protocol):
    """Something whose tables are filled from a seed, such as a scenario or a site."""

    @property
    def name(self) -> str:
        """The name of the source."""
        ...

    @property
    def folder(self) -> Path:
        """The folder that holds the source's `rows.yaml`."""
        ...

    @property
    def rows(self) -> RowFile:
        """The recipes for the source's rows."""
        ...

    @property
    def words(self) -> Words:
        """The word lists that the recipes may name."""
        ...


def fill(connection: sqlite3.Connection, scenario: RowSource, size: Size, seed: int) -> None:
    """Insert the rows of a scenario into its empty database.

    Raises:
        SpecError: a recipe of `rows.yaml` cannot be followed; the error names its key and the reason.
    """
    filler = _Filler(connection, scenario, random.Random(f"{scenario.name}/{size}/{seed}"))
    filler.place(scenario.rows.rows)
    for table, count in ((table, scenario.rows.sizes[size][table]) for table in scenario.rows.tables):
        filler.fill(table, count)
    for number, sql in enumerate(scenario.rows.then):
        try:
            connection.execute(sql)
        except sqlite3.Error as error:
            raise SpecError(filler.file, f"then.{number}", sql, f"SQL that runs ({error})") from error


def slug(text: str) -> str:
    """Return a text in lowercase ASCII with dots for spaces.

    >>> slug("Zoë van Dam")
    'zoe.van.dam'
    """
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss").replace("ø", "o")).encode("ascii", "ignore").decode()
    return ".".join(re.findall(r"[a-z0-9]+", plain.lower()))


@dataclass
class _Table:
    """One table while it is being filled."""

    name: str
    count: int
    recipes: Mapping[str, Recipe]
    rows: list[Row] = field(default_factory=list)
    decks: dict[str, list[Any]] = field(default_factory=dict)
    taken: dict[str, Row] = field(default_factory=dict)


class _Wrong(Exception):
    """A recipe that cannot be followed."""


class _Filler:
    def __init__(self, connection: sqlite3.Connection, scenario: RowSource, rng: random.Random) -> None:
        self.connection, self.scenario, self.rng = connection, scenario, rng
        self.file = scenario.folder / "rows.yaml"
        self.tables: dict[str, _Table] = {}

    def place(self, tables: Mapping[str, Sequence[Row]]) -> None:
        """Insert the rows that are always there."""
        if not tables:
            return
        insert_rows(self.connection, keys_of(self.connection), tables, self.file, "rows")
        self.tables |= {name: _Table(name, len(rows), {}, list(rows)) for name, rows in tables.items()}

    def fill(self, name: str, count: int) -> None:
        """Make and insert all rows of one table."""
        table = self.tables[name] = _Table(name, count, self.scenario.rows.tables[name])
        for column, recipe in table.recipes.items():
            try:
                self._deal(table, column, recipe)
            except _Wrong as error:
                raise SpecError(self.file, f"tables.{name}.{column}", recipe.kind, str(error)) from error
        stored = [column for column in table.recipes if not column.startswith("_")]
        marks = ", ".join("?" * len(stored))
        sql = f"INSERT INTO {quoted(name)} ({', '.join(map(quoted, stored))}) VALUES ({marks})"
        for number in range(count):
            refusal: sqlite3.Error | None = None
            for _ in range(ATTEMPTS):
                row = self._row(table, number)
                try:
                    self.connection.execute(sql, [row[column] for column in stored])
                except sqlite3.IntegrityError as error:
                    refusal = error
                    continue
                except sqlite3.Error as error:
                    raise SpecError(self.file, f"tables.{name}", stored, f"columns of the schema ({error})") from error
                table.rows.append(row)
                break
            else:
                raise SpecError(self.file, f"tables.{name}", row, f"rows that the schema accepts ({refusal})")

    def _deal(self, table: _Table, column: str, recipe: Recipe) -> None:
        """Draw what concerns the whole table at once: entries without repetition, and sorted values."""
        if recipe.kind == "draw":
            entries = list(self._entries(recipe.draw))
            if len(entries) < table.count:
                raise _Wrong(f"at least {table.count} entries to draw from (got {len(entries)})")
            table.decks[column] = self.rng.sample(entries, table.count)
        elif recipe.sorted:
            table.decks[column] = sorted(self._value(table, {}, 0, recipe) for _ in range(table.count))

    def _row(self, table: _Table, number: int) -> Row:
        row: Row = {}
        table.taken = {}
        for column, recipe in table.recipes.items():
            try:
                if recipe.empty and self.rng.random() < recipe.empty:
                    row[column] = None
                elif column in table.decks:
                    row[column] = table.decks[column][number]
                elif recipe.of is not None:
                    row[column] = self._referred(table, row, number, column, recipe)
                else:
                    row[column] = self._value(table, row, number, recipe)
            except (_Wrong, KeyError, ValueError, TypeError, IndexError) as error:
                key = f"tables.{table.name}.{column}"
                raise SpecError(self.file, key, recipe.kind, f"a recipe that can be followed ({error})") from error
        return row

    def _value(self, table: _Table, row: Row, number: int, recipe: Recipe) -> Any:
        match recipe.kind:
            case "count":
                return (recipe.count or 0) + number * recipe.step
            case "value":
                return recipe.value
            case "integer":
                return self.rng.randint(*_pair(recipe.integer))
            case "money":
                return round(self.rng.uniform(*_pair(recipe.money)), 2)
            case "date":
                return self._day(recipe, *map(_date, _pair(recipe.date))).isoformat()
            case "time":
                return self._time(recipe)
            case "choice":
                return self._chosen(recipe.choice)
            case "after":
                return self._after(recipe, row)
            case "text":
                text = recipe.text if isinstance(recipe.text, str) else self.rng.choice(recipe.text or ("",))
                return self._rendered(text, {**row, "n": number + 1})
            case _:
                return _at(row, recipe.field or "")

    def _referred(self, table: _Table, row: Row, number: int, column: str, recipe: Recipe) -> Any:
        name, wanted = (recipe.of or "").split(".")
        if recipe.by is not None:
            taken = table.taken.get(recipe.by)
            return None if taken is None and row[recipe.by] is None else _earlier_row(taken, recipe.by)[wanted]
        if name not in self.tables:
            raise _Wrong(f"{name} is not filled before")
        rows = self.tables[name].rows
        if recipe.where:
            wanted_values = {key: self._condition(value, row) for key, value in recipe.where.items()}
            rows = [other for other in rows if all(other[key] == value for key, value in wanted_values.items())]
        if not rows:
            if name == table.name:
                return None
            raise _Wrong(f"no row of {name} fits")
        other = rows[number] if recipe.spread and number < len(rows) else self.rng.choice(rows)
        table.taken[column] = other
        return other[wanted]

    def _condition(self, value: Any, row: Row) -> Any:
        return self._rendered(value, row) if isinstance(value, str) else value

    def _entries(self, source: Any) -> tuple[Any, ...]:
        if not isinstance(source, str):
            return tuple(source)
        if source not in self.scenario.words:
            raise _Wrong(f"no word list {source}")
        return self.scenario.words[source]

    def _chosen(self, choice: Any) -> Any:
        if isinstance(choice, dict):
            return self.rng.choices(list(choice), list(choice.values()))[0]
        return self.rng.choice(self._entries(choice))

    def _day(self, recipe: Recipe, first: datetime.date, last: datetime.date) -> datetime.date:
        for _ in range(ATTEMPTS):
            day = first + datetime.timedelta(self.rng.randint(0, (last - first).days))
            if not recipe.weekdays or day.weekday() < 5:
                return day
        raise _Wrong("no weekday lies within both ends")

    def _time(self, recipe: Recipe) -> str:
        first, last = map(datetime.datetime.fromisoformat, _pair(recipe.time))
        grid = 60 * recipe.grid or 1
        for _ in range(ATTEMPTS):
            day = self._day(recipe, first.date(), last.date())
            begin, end = recipe.between or (0, 24)
            second = self.rng.randrange(begin * 3600, end * 3600) // grid * grid
            moment = datetime.datetime.combine(day, datetime.time(), first.tzinfo) + datetime.timedelta(seconds=second)
            if first <= moment <= last:
                return _stamp(moment)
        raise _Wrong("no time lies within both ends")

    def _after(self, recipe: Recipe, row: Row) -> Any:
        start = row[recipe.after or ""]
        if start is None:
            return None
        units = (("days", recipe.days), ("hours", recipe.hours), ("minutes", recipe.minutes))
        span = datetime.timedelta(**{name: self.rng.randint(*ends) for name, ends in units if ends})
        if "T" in start:
            return _stamp(datetime.datetime.fromisoformat(start) + span)
        return (_date(start) + span).isoformat()

    def _rendered(self, template: str, row: Row) -> str:
        def fill(match: re.Match[str]) -> str:
            name, how, form = match.groups()
            value = self.rng.choice(self._entries(name[1:])) if name.startswith("@") else _at(row, name)
            if how is not None:
                value = _FILTERS[how](str(value))
            if _WIDE.search(form or ""):
                raise _Wrong(f"{form} is wider than 999 characters")
            return format(value, form or "")

        return _FIELD.sub(fill, template)


def _at(row: Row, path: str) -> Any:
    value: Any = row
    for key in path.split("."):
        if not isinstance(value, Mapping) or key not in value:
            raise _Wrong(f"nothing called {path} in the row so far")
        value = value[key]
    return value


def _earlier_row(row: Row | None, name: str) -> Row:
    if row is None:
        raise _Wrong(f"{name} is no earlier column with `of`")
    return row


def _pair(ends: tuple[Any, Any] | None) -> tuple[Any, Any]:
    assert ends is not None
    return ends


def _date(text: str) -> datetime.date:
    return datetime.date.fromisoformat(text[:10])


def _stamp(moment: datetime.datetime) -> str:
    return moment.replace(microsecond=0).isoformat().replace("+00:00", "Z")
