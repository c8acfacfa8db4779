"""Drills at the length of real prompts: the tables of a tool server, and calls that filter, sort, count and add up.

A small model of tool servers errs where it has to tell which rows pass a filter, and what amounts come to. These drills
ask for nothing else. Their tables are those of recorded prompts with values shuffled among rows. Their tools are made
up, so a call says all that its answer depends on: conditions, order, page and keys. The answers are computed from the
rows, and written with references to them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from agentworld_gym.prompting.references import TableRows
from agentworld_gym.recipe.data.drill_words import Words
from agentworld_gym.recipe.data.prompt_tables import Row, Table, printed, prompt_rows, shuffled, tables_of

TURNS = (4, 14)
"""The calls of a drill."""

MOST_LISTED, MOST_ADDED = 12, 6
"""The most rows that a list shows at once, and that a sum adds up."""

DECIMALS = 4
"""The decimals of sums, as tool servers print them."""

Condition = Callable[[Row], bool]
Arguments = dict[str, Any]
Call = tuple[str, Arguments, Any]
"""The name of a tool, its arguments, and what it prints."""


def table_drill(system: str, words: Words, rng: random.Random) -> tuple[str, list[tuple[str, str]]]:
    """Return the system message of a drill, and its turns: what is asked, and the answer.

    Args:
        system: A system message that shows at least one table of JSON rows.
        words: What texts are searched for that no row may hold.
        rng: All draws.

    >>> rng = random.Random(1)
    >>> system, turns = table_drill('# orders\\n{"order_id": 7, "price": 2.5}', Words(["red"], rng), rng)
    >>> turns[0]
    ('> {"name": "select_orders", "arguments": {"min_price": -4}}', '{"orders": [@orders:7], "count": 1}')
    """
    system = shuffled(system, rng)
    rows = prompt_rows(system)
    references, caller = TableRows(rows), _Caller(words, rng, tables_of(rows))
    turns = []
    for _ in range(rng.randint(*TURNS)):
        tool, arguments, answer = caller.call()
        turns.append((f"> {printed({'name': tool, 'arguments': arguments})}", references.refer(printed(answer))))
    return system, turns


class _Caller:
    """Draws calls and answers them; what a call changes stays changed."""

    def __init__(self, words: Words, rng: random.Random, tables: Sequence[Table]) -> None:
        self._words, self._rng, self._tables = words, rng, {table.name: table for table in tables}
        self._calls: dict[Callable[[], Call | None], float] = {
            self._select: 45,
            self._sum: 18,
            self._read: 12,
            self._set: 9,
            self._balance: 8,
            self._move: 8,
        }

    def call(self) -> Call:
        """Draw a call that the tables allow, and carry it out."""
        while True:
            (make,) = self._rng.choices(list(self._calls), list(self._calls.values()))
            if (call := make()) is not None:
                return call

    def _select(self) -> Call:
        """The rows that pass some conditions, in an order, perhaps a page of them, each whole or in part."""
        rng, table = self._rng, self._long_table()
        arguments, hits = self._passing(table, rng.choice((0, 1, 1, 2, 2, 3)))
        if rng.random() < 0.4:
            column = rng.choice([table.first, *table.of_kind("text", "amount", "number", "day")])
            falling = rng.random() < 0.5
            arguments["sort"] = f"-{column}" if falling else column
            hits = sorted(hits, key=lambda row: row[column], reverse=falling)
        page, all_of_them = hits, {}
        if len(hits) > MOST_LISTED or rng.random() < 0.2:
            limit, offset = rng.randint(2, MOST_LISTED), rng.choice((0, 0, rng.randint(0, len(hits))))
            arguments["limit"] = limit
            if offset:
                arguments["offset"] = offset
            page, all_of_them = hits[offset : offset + limit], {"total": len(hits)}
        if rng.random() < 0.7:
            arguments["keys"] = keys = self._keys(table)
            page = [{key: self._cell(table, row, key) for key in keys} for row in page]
        return f"select_{table.name}", arguments, {table.name: page, "count": len(page), **all_of_them}

    def _sum(self) -> Call | None:
        """What the amounts of some rows come to, all together or in groups."""
        rng, table = self._rng, self._long_table()
        columns = table.of_kind("amount", "number")
        if not columns:
            return None
        column = rng.choice(columns)
        asked: Arguments = {"of": column}
        groups = [key for key in table.of_kind("owner", "choice") if not table.holds_missing(key)]
        by = rng.choice(groups) if groups and rng.random() < 0.5 else None
        if by is not None:
            asked["by"] = by
        for count in (1, 2, 3):
            arguments, hits = self._passing(table, count)
            if len(hits) <= MOST_ADDED:
                break
        else:
            arguments["limit"], hits = MOST_ADDED, hits[:MOST_ADDED]
        asked |= arguments
        if by is None:
            return f"sum_{table.name}", asked, {column: total(hits, column), "count": len(hits)}
        grouped = {value: [row for row in hits if row[by] == value] for value in sorted({row[by] for row in hits})}
        sums = [{by: value, column: total(rows, column), "count": len(rows)} for value, rows in grouped.items()]
        return f"sum_{table.name}", asked, {table.name: sums, "count": len(sums)}

    def _read(self) -> Call | None:
        """One row, with some of the rows that belong to it; or none."""
        rng, table = self._rng, self._keyed_table()
        if table is None:
            return None
        key = rng.choice(table.rows)[table.first]
        if rng.random() < 0.1:
            key = f"{key}0" if isinstance(key, str) else key + 1000
        tool, arguments = f"read_{table.singular}", {table.first: key}
        row = next((row for row in table.rows if row[table.first] == key), None)
        if row is None:
            return tool, arguments, _refused(404, f"{table.singular.capitalize()} {key} not found")
        answer = dict(row)
        owned = [other for other in self._owned(table) if other.name not in row]
        if owned and rng.random() < 0.7:
            other = rng.choice(owned)
            further = list(other.columns)[1:]
            keys = [other.first, *rng.sample(further, min(len(further), rng.randint(1, 3)))]
            arguments["with"] = {other.name: keys}
            answer[other.name] = [{name: inner[name] for name in keys} for inner in _belonging(table, other, row)]
        return tool, arguments, answer

    def _set(self) -> Call | None:
        """One row after one of its values has become that of another row."""
        rng, table = self._rng, self._keyed_table()
        columns = [] if table is None else table.of_kind("choice", "amount", "number")
        if table is None or not columns:
            return None
        row, column = rng.choice(table.rows), rng.choice(columns)
        row[column] = rng.choice(table.rows)[column]
        return f"set_{table.singular}", {table.first: row[table.first], column: row[column]}, dict(row)

    def _balance(self) -> Call | None:
        """An amount of a row, and what it comes to after each of the rows that belong to it."""
        rng, owner = self._rng, self._keyed_table()
        columns = [] if owner is None else [*owner.of_kind("amount", "number")]
        owned = [] if owner is None else [other for other in self._owned(owner) if other.of_kind("amount", "number")]
        if owner is None or not columns or not owned:
            return None
        table, row, column = rng.choice(owned), rng.choice(owner.rows), rng.choice(columns)
        added, limit = rng.choice(table.of_kind("amount", "number")), rng.randint(2, MOST_ADDED)
        entries = _belonging(owner, table, row)[:limit]
        arguments = {owner.first: row[owner.first], "from": column, "add": added, "of": table.name, "limit": limit}
        lines = [
            {
                table.first: entry[table.first],
                added: entry[added],
                "balance": total(entries[: place + 1], added, row[column]),
            }
            for place, entry in enumerate(entries)
        ]
        answer = {owner.first: row[owner.first], column: row[column], table.name: lines}
        return f"balance_{owner.singular}", arguments, answer

    def _move(self) -> Call | None:
        """Two rows after an amount has gone from the one to the other; or why it has not."""
        rng, table = self._rng, self._keyed_table()
        columns = [] if table is None else table.of_kind("amount", "number")
        if table is None or not columns or len(table.rows) < 2:
            return None
        (giver, taker), column = rng.sample(table.rows, 2), rng.choice(columns)
        amount: float = rng.randint(1, max(int(giver[column] * 1.2), 1))
        if column in table.of_kind("amount") and rng.random() < 0.5:
            amount = round(amount - rng.randrange(1, 100) / 100, 2)
        tool, arguments = f"move_{table.name}", {"from": giver[table.first], "to": taker[table.first], column: amount}
        if giver[column] < amount:
            message = f"{table.singular.capitalize()} {giver[table.first]} holds {giver[column]}"
            return tool, arguments, _refused(409, message)
        giver[column] = total([giver], column, -amount)
        taker[column] = total([taker], column, amount)
        shown = ({table.first: row[table.first], column: row[column]} for row in (giver, taker))
        return tool, arguments, dict(zip(("from", "to"), shown, strict=True))

    def _long_table(self) -> Table:
        """A table, most often a long one, where there is something to filter."""
        tables = list(self._tables.values())
        (table,) = self._rng.choices(tables, [len(table.rows) for table in tables])
        return table

    def _keyed_table(self) -> Table | None:
        keyed = [table for table in self._tables.values() if table.keyed]
        return self._rng.choice(keyed) if keyed else None

    def _owned(self, table: Table) -> list[Table]:
        """The tables whose rows belong to those of a table."""
        return [other for other in self._tables.values() if table.name in other.owners.values()]

    def _passing(self, table: Table, count: int) -> tuple[Arguments, list[Row]]:
        """Conditions on different columns as arguments, and the rows that pass all of them: most often at least one."""
        rng, row = self._rng, self._rng.choice(table.rows)
        columns = table.of_kind("owner", "choice", "text", "amount", "number", "day")
        arguments: Arguments = {}
        hits = list(table.rows)
        for column in rng.sample(columns, min(count, len(columns))):
            told, test = self._condition(table, row, column)
            arguments |= told
            hits = list(filter(test, hits))
        return arguments, hits

    def _condition(self, table: Table, row: Row, column: str) -> tuple[Arguments, Condition]:
        rng, kind, value = self._rng, table.columns[column], row[column]
        if kind == "text":
            part = rng.choice(value.split(" ")) if rng.random() < 0.9 else self._words.word()
            part = rng.choice((part, part.lower()))
            return {f"{column}_contains": part}, lambda row: part.lower() in row[column].lower()
        if kind == "day":
            day = value[:10]
            if rng.random() < 0.5:
                return {f"{column}_from": day}, lambda row: row[column][:10] >= day
            return {f"{column}_to": day}, lambda row: row[column][:10] <= day
        if kind in ("amount", "number"):
            step = rng.randint(0, 20)
            if rng.random() < 0.5:
                least = int(value) - step if rng.random() < 0.8 else value
                return {f"min_{column}": least}, lambda row: row[column] >= least
            most = int(value) + 1 + step if rng.random() < 0.8 else value
            return {f"max_{column}": most}, lambda row: row[column] <= most
        if kind == "choice" and rng.random() < 0.25 and not table.holds_missing(column):
            other = rng.choice(table.rows)[column]
            return {f"not_{column}": other}, lambda row: row[column] != other
        return {column: value}, lambda row: row[column] == value

    def _keys(self, table: Table) -> list[str]:
        """The keys that a list shows: columns, and perhaps one that other tables give."""
        rng = self._rng
        keys = [key for key in list(table.columns)[1:] if rng.random() < 0.6]
        further = sorted(self._further(table))
        if further and rng.random() < 0.5:
            keys.append(rng.choice(further))
        return [table.first, *keys]

    def _cell(self, table: Table, row: Row, key: str) -> Any:
        return row[key] if key in table.columns else self._further(table)[key](row)

    def _further(self, table: Table) -> dict[str, Callable[[Row], Any]]:
        """What other tables say about a row of this one, by key: what the row that it belongs to goes by, how many rows
        belong to it, and what an amount of theirs comes to."""
        further: dict[str, Callable[[Row], Any]] = {}
        for column, name in table.owners.items():
            owner = self._tables[name]
            if owner.label is not None:
                further[owner.singular] = partial(_label, owner, owner.label, column)
        for other in self._owned(table):
            further[other.name] = partial(_count, table, other)
            most = max(len(_belonging(table, other, row)) for row in table.rows)
            for column in other.of_kind("amount", "number") if most <= MOST_ADDED else ():
                further[f"{other.name}_{column}"] = partial(_total, table, other, column)
        return {key: tell for key, tell in further.items() if key not in table.columns}


def total(rows: Iterable[Row], column: str, start: float = 0) -> float:
    """Return what a column comes to.

    >>> total([{"price": 0.1}, {"price": 0.2}], "price", start=1)
    1.3
    """
    amount: float = start + sum(row[column] for row in rows)
    return round(amount, DECIMALS)


def _belonging(owner: Table, other: Table, row: Row) -> list[Row]:
    """The rows of another table that belong to a row."""
    (column,) = (column for column, name in other.owners.items() if name == owner.name)
    return [inner for inner in other.rows if inner[column] == row[owner.first]]


def _label(owner: Table, label: str, column: str, row: Row) -> Any:
    return next((other[label] for other in owner.rows if other[owner.first] == row[column]), None)


def _count(owner: Table, other: Table, row: Row) -> int:
    return len(_belonging(owner, other, row))


def _total(owner: Table, other: Table, column: str, row: Row) -> float:
    return total(_belonging(owner, other, row), column)


def _refused(code: int, message: str) -> Row:
    return {"status": "error", "code": code, "message": message}
