"""The database of a fictional world: rows drawn from a theme's recipes and completed by SQL, in one SQLite database."""

from __future__ import annotations

import datetime
import itertools
import random
import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

from agentworld_gym.base.errors import SpecError
from agentworld_gym.domains.search.engine.theme import Theme, ThemeColumn, ThemeTable, Value
from agentworld_gym.kit.tables.database import building, quoted

Cells = dict[str, Any]
Tables = dict[str, list[Cells]]

_TRIES = 200


def build_database(theme: Theme, rng: random.Random) -> bytes:
    """Return the serialised database of one world; equal states of `rng` give equal bytes.

    Raises:
        SpecError: a recipe cannot be followed (an unknown word list, more unique values than there are, wrong SQL).
    """
    tables: Tables = {}
    for name in theme.tables:
        tables[name] = _Draw(theme, name, tables, rng).rows()
    connection = building()
    try:
        connection.execute("BEGIN")
        for name, table in theme.tables.items():
            _store(connection, name, table, tables[name])
        for name, table in theme.tables.items():
            _complete(connection, theme, name, table)
        connection.execute("COMMIT")
        return connection.serialize()
    finally:
        connection.close()


def read_tables(connection: sqlite3.Connection, theme: Theme) -> Tables:
    """Return all rows, by table, in the order of their ids."""
    tables: Tables = {}
    for name, table in theme.tables.items():
        columns = ["id", *table.names()]
        tables[name] = [dict(zip(columns, row, strict=True)) for row in connection.execute(_select(name, columns))]
    return tables


class _Draw:
    """Draws the rows of one table, after the tables before it in the theme."""

    def __init__(self, theme: Theme, name: str, tables: Tables, rng: random.Random) -> None:
        self.theme, self.name, self.tables, self.rng = theme, name, tables, rng
        self.table: ThemeTable = theme.tables[name]
        self.refs = self.table.refs()
        self.used: dict[str, set[Any]] = {name: set() for name in self.table.columns}

    def rows(self) -> list[Cells]:
        rows: list[Cells] = []
        for start in self._starts():
            row: Cells = {"id": len(rows) + 1, **start}
            for name, column in self.table.columns.items():
                row[name] = self._cell(name, column, row)
            rows.append(row)
        return rows

    def _starts(self) -> Iterator[Cells]:
        """Yield what each row begins with: the columns of `each`."""
        if self.table.rows is not None:
            yield from ({} for _ in range(self.table.rows))
            return
        choices = [self._choices(source) for source in self.table.each.values()]
        for combination in itertools.product(*choices):
            start = dict(zip(self.table.each, combination, strict=True))
            referred = [(self.refs[column], value) for column, value in start.items() if column in self.refs]
            if len(set(referred)) == len(referred):
                yield from (dict(start) for _ in range(self.rng.randint(*self.table.count)))

    def _choices(self, source: str | tuple[Value, ...]) -> list[Any]:
        return [row["id"] for row in self._of(source, "each")] if isinstance(source, str) else list(source)

    def _cell(self, name: str, column: ThemeColumn, row: Cells) -> Any:
        if column.sql is not None or (column.maybe < 1 and self.rng.random() >= column.maybe):
            return None
        if column.ref is not None:
            return self._reference(name, column, row)
        if not column.unique:
            return self._value(name, column, row)
        for _ in range(_TRIES):
            value = self._value(name, column, row)
            if value not in self.used[name]:
                self.used[name].add(value)
                return value
        raise self._problem(name, "unique", True, f"more than {len(self.used[name])} different values")

    def _value(self, name: str, column: ThemeColumn, row: Cells) -> Any:
        if column.text is not None:
            return column.text.format_map(_Words(self, name, row))
        if column.pick is not None:
            return self.rng.choice(self._words(name, column.pick) if isinstance(column.pick, str) else column.pick)
        if column.number is not None:
            return self._number(name, column, column.number, row)
        if column.date is not None:
            first, last = (datetime.date.fromisoformat(day).toordinal() for day in column.date)
            return datetime.date.fromordinal(self.rng.randint(first, last)).isoformat()
        assert column.days is not None
        start = datetime.date.fromisoformat(self._at(name, "plus", column.plus, row))
        low, high = column.days
        return (start + datetime.timedelta(days=self.rng.randint(int(low), int(high)))).isoformat()

    def _number(self, name: str, column: ThemeColumn, within: tuple[float, float], row: Cells) -> int | float:
        low, high = within
        value = low + column.step * self.rng.randint(0, int((high - low) / column.step + 1e-9))
        if column.plus is not None:
            value += self._at(name, "plus", column.plus, row)
        value = round(value, 6)
        return int(value) if value == int(value) and column.step == int(column.step) else value

    def _reference(self, name: str, column: ThemeColumn, row: Cells) -> int | None:
        assert column.ref is not None
        among = self._of(column.ref, name)
        if column.same is not None:
            among = [other for other in among if other[column.same] == self._at(name, "same", column.same, row)]
        if column.differs is not None:
            apart = self._at(name, "differs", column.differs, row)
            among = [other for other in among if other["id"] != apart]
        if column.unique:
            among = [other for other in among if other["id"] not in self.used[name]]
        if not among:
            raise self._problem(name, "ref", column.ref, "a table with a row that is left to refer to")
        row_id: int = self.rng.choice(among)["id"]
        self.used[name].add(row_id)
        return row_id

    def _at(self, name: str, key: str, where: str | None, row: Cells) -> Any:
        """Return an earlier value of this row, or a value of a row that it refers to."""
        path = (where or "").split(".")
        value: Any = row
        try:
            if len(path) == 2:
                value = self._of(self.refs[path[0]], name)[row[path[0]] - 1]
            return value[path[-1]]
        except (KeyError, TypeError) as error:
            raise self._problem(name, key, where, "an earlier column, or REFERENCE.COLUMN") from error

    def _of(self, table: str, column: str) -> list[Cells]:
        if table not in self.tables:
            raise self._problem(column, "ref", table, "a table further up")
        return self.tables[table]

    def _words(self, column: str, words: str) -> tuple[Value, ...]:
        if words not in self.theme.words:
            raise self._problem(column, "words", words, f"one of {', '.join(sorted(self.theme.words))}")
        return self.theme.words[words]

    def _problem(self, column: str, key: str, value: object, expected: str) -> SpecError:
        return SpecError(self.theme.path / "theme.yaml", f"tables.{self.name}.columns.{column}.{key}", value, expected)


class _Words(dict[str, Any]):
    """The values of a text's placeholders: an earlier column, or a word of a list."""

    def __init__(self, draw: _Draw, column: str, row: Mapping[str, Any]) -> None:
        super().__init__(row)
        self._draw, self._column = draw, column

    def __missing__(self, name: str) -> Value:
        return self._draw.rng.choice(self._draw._words(self._column, name))


def _store(connection: sqlite3.Connection, name: str, table: ThemeTable, rows: list[Cells]) -> None:
    columns = ["id", *table.names()]
    defined = ", ".join(map(quoted, columns[1:]))
    connection.execute(f"CREATE TABLE {quoted(name)} (id INTEGER PRIMARY KEY, {defined})")
    marks = ", ".join("?" for _ in columns)
    values = ([row[column] for column in columns] for row in rows)
    connection.executemany(f"INSERT INTO {quoted(name)} VALUES ({marks})", values)


def _complete(connection: sqlite3.Connection, theme: Theme, name: str, table: ThemeTable) -> None:
    """Fill the columns that are made by SQL, in their order."""
    for column, recipe in table.columns.items():
        if recipe.sql is not None:
            try:
                connection.execute(f"UPDATE {quoted(name)} SET {quoted(column)} = {recipe.sql}")
            except sqlite3.Error as error:
                key = f"tables.{name}.columns.{column}.sql"
                raise SpecError(
                    theme.path / "theme.yaml", key, recipe.sql, f"an expression of SQL ({error})"
                ) from error


def _select(table: str, columns: list[str]) -> str:
    return f"SELECT {', '.join(map(quoted, columns))} FROM {quoted(table)} ORDER BY id"
