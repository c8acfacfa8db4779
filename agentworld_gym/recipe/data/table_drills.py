"""Drills at the length of real prompts: the tables of a tool server, and calls that filter, sort, count and add up.

A small model of tool servers errs where it has to tell which rows pass a filter, and what amounts come to. These drills
ask for nothing else. The tools are made up, so a call says all that its answer depends on: conditions, order, page and
keys. The answers are computed from the rows, and written with references to them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from agentworld_gym.prompting.references import TableRows
from agentworld_gym.recipe.data.drill_words import Words
from agentworld_gym.recipe.data.made_up_tables import Row, Table, made_up_tables, printed

LENGTHS = (6000, 13_000)
"""The characters of the tables, as in recorded sessions of tool servers."""

TURNS = (4, 14)
"""The calls of a drill."""

MOST_LISTED, MOST_ADDED = 12, 6
"""The most rows that a list shows at once, and that a sum adds up."""

Condition = Callable[[Row], bool]
Arguments = dict[str, Any]
Call = tuple[str, Arguments, Any]
"""The name of a tool, its arguments, and what it prints."""


def table_drill(words: Words, rng: random.Random) -> tuple[str, list[tuple[str, str]]]:
    """Return the system message of a drill, and its turns: what is asked, and the answer.

    >>> rng = random.Random(0)
    >>> system, turns = table_drill(Words(["red", "green", "blue"], rng), rng)
    >>> 6000 <= len(system) < 14_000, 4 <= len(turns) <= 14
    (True, True)
    """
    tables = made_up_tables(words, rng, rng.randint(*LENGTHS))
    references = TableRows({table.name: [dict(row) for row in table.rows] for table in tables})
    server, user = words.word().lower(), f"{words.word()}.{words.word()}".lower()
    now = f"2026-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}T{rng.randint(8, 17):02}:{rng.choice(('00', '30'))}:00Z"
    system = ["mcp", f"scenario: {server}", f"now: {now}", f"user: {user}", *(li for t in tables for li in t.lines())]
    caller = _Caller(words, rng, tables)
    turns = []
    for _ in range(rng.randint(*TURNS)):
        tool, arguments, answer = caller.call()
        asked = printed({"name": f"{server}-{tool}", "arguments": arguments})
        turns.append((f"> {asked}", references.refer(printed(answer))))
    connected = f"Connected to server {server}. Signed in as {user}. Server time {now}."
    turns[0] = (f"{connected}\n{turns[0][0]}", turns[0][1])
    return "\n".join(system), turns


class _Caller:
    """Draws calls and answers them; what a call changes stays changed."""

    def __init__(self, words: Words, rng: random.Random, tables: Sequence[Table]) -> None:
        self._words, self._rng, self._tables = words, rng, tables
        self._owned = [table for table in tables if table.owner is not None]
        self._calls = {
            self._list: 45,
            self._sum: 15,
            self._get: 12,
            self._update: 12,
            self._statement: 8,
            self._move: 8,
        }

    def call(self) -> Call:
        """Draw a call, and carry it out."""
        (make,) = self._rng.choices(list(self._calls), list(self._calls.values()))
        return make()

    def _list(self) -> Call:
        """The rows that pass some conditions, in an order, perhaps a page of them, each whole or in part."""
        rng, table = self._rng, self._any_table()
        arguments, hits = self._passing(table, rng.choice((0, 1, 1, 2, 2, 3)))
        sorted_by = table.of_kind("key", "text", "amount", "number", "day")
        if rng.random() < 0.4:
            column, falling = rng.choice(sorted_by), rng.random() < 0.5
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
        return f"list_{table.name}", arguments, {table.name: page, "count": len(page), **all_of_them}

    def _sum(self) -> Call:
        """What the amounts of some rows come to, all together or in groups."""
        rng, table = self._rng, self._rng.choice(self._owned)
        column = rng.choice(table.of_kind("amount", "number"))
        asked: Arguments = {"of": column}
        by = rng.choice(table.of_kind("owner", "choice")) if rng.random() < 0.5 else None
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
        groups = {value: [row for row in hits if row[by] == value] for value in sorted({row[by] for row in hits})}
        sums = [{by: value, column: total(rows, column), "count": len(rows)} for value, rows in groups.items()]
        return f"sum_{table.name}", asked, {table.name: sums, "count": len(sums)}

    def _get(self) -> Call:
        """One row, with some of the rows that belong to it; or none."""
        rng, table = self._rng, self._any_table()
        if rng.random() < 0.1:
            key: Any = f"{table.singular}-0" if rng.random() < 0.5 else 0
            return (
                f"get_{table.singular}",
                {table.key: key},
                _refused(404, f"{table.singular.capitalize()} {key} not found"),
            )
        row = rng.choice(table.rows)
        arguments: Arguments = {table.key: row[table.key]}
        answer = dict(row)
        owning = [other for other in self._owned if other.owner is table]
        if owning:
            other = rng.choice(owning)
            keys = [other.key, *rng.sample(list(other.columns)[1:], rng.randint(1, 3))]
            arguments["with"] = {other.name: keys}
            answer[other.name] = [{key: inner[key] for key in keys} for inner in other.owned_by(row[table.key])]
        return f"get_{table.singular}", arguments, answer

    def _update(self) -> Call:
        """One row after one of its values has changed."""
        rng, table = self._rng, self._any_table()
        row = rng.choice(table.rows)
        column = rng.choice(table.of_kind("choice", "amount", "note"))
        if column in table.choices:
            row[column] = rng.choice(table.choices[column])
        elif column in table.of_kind("amount"):
            row[column] = rng.randrange(1, 100_000) / 100
        else:
            row[column] = self._words.value()
        return f"update_{table.singular}", {table.key: row[table.key], column: row[column]}, dict(row)

    def _statement(self) -> Call:
        """An amount of a row, and what it comes to after each of the rows that belong to it."""
        rng, table = self._rng, self._rng.choice(self._owned)
        owner = table.owner or table
        row = rng.choice(owner.rows)
        column, changed_by = rng.choice(owner.of_kind("amount")), rng.choice(table.of_kind("amount"))
        limit = rng.randint(2, MOST_ADDED)
        entries = table.owned_by(row[owner.key])[:limit]
        balances = [total(entries[: count + 1], changed_by, row[column]) for count in range(len(entries))]
        arguments = {owner.key: row[owner.key], "from": column, "add": changed_by, "of": table.name, "limit": limit}
        lines = [
            {table.key: entry[table.key], changed_by: entry[changed_by], "balance": balance}
            for entry, balance in zip(entries, balances, strict=True)
        ]
        answer = {owner.key: row[owner.key], column: row[column], table.name: lines}
        return f"balance_{owner.singular}", arguments, answer

    def _move(self) -> Call:
        """Two rows after an amount has gone from the one to the other; or why it has not."""
        rng = self._rng
        table = rng.choice([table for table in self._tables if len(table.rows) > 1])
        giver, taker = rng.sample(table.rows, 2)
        column = rng.choice(table.of_kind("amount"))
        held = max(int(giver[column] * 100), 100)
        amount = rng.randint(1, int(held * 1.2)) / 100
        arguments = {"from": giver[table.key], "to": taker[table.key], column: amount}
        tool = f"move_{table.name}"
        if giver[column] < amount:
            message = f"{table.singular.capitalize()} {giver[table.key]} holds {giver[column]}"
            return tool, arguments, _refused(409, message)
        giver[column], taker[column] = round(giver[column] - amount, 2), round(taker[column] + amount, 2)
        shown = ({table.key: row[table.key], column: row[column]} for row in (giver, taker))
        return tool, arguments, dict(zip(("from", "to"), shown, strict=True))

    def _any_table(self) -> Table:
        """A table, most often one whose rows belong to others, because such tables are the long ones."""
        return self._rng.choice(self._owned if self._rng.random() < 0.6 else self._tables)

    def _passing(self, table: Table, count: int) -> tuple[Arguments, list[Row]]:
        """Conditions as arguments, and the rows that pass all of them: most often at least one."""
        arguments, tests = self._conditions(table, self._rng.choice(table.rows), count)
        return arguments, [row for row in table.rows if all(test(row) for test in tests)]

    def _conditions(self, table: Table, row: Row, count: int) -> tuple[Arguments, list[Condition]]:
        """Conditions on different columns, nearly all of which a row passes."""
        columns = table.of_kind("owner", "choice", "text", "amount", "number", "day")
        arguments: Arguments = {}
        tests: list[Condition] = []
        for column in self._rng.sample(columns, min(count, len(columns))):
            told, test = self._condition(table, row, column)
            arguments |= told
            tests.append(test)
        return arguments, tests

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
        if kind == "choice" and rng.random() < 0.25:
            other = rng.choice(table.choices[column])
            return {f"not_{column}": other}, lambda row: row[column] != other
        return {column: value}, lambda row: row[column] == value

    def _keys(self, table: Table) -> list[str]:
        """The keys that a list shows: columns, and perhaps one that other tables give."""
        rng = self._rng
        keys = [key for key in list(table.columns)[1:] if rng.random() < 0.6]
        further = sorted(self._further(table))
        if further and rng.random() < 0.5:
            keys.append(rng.choice(further))
        return [table.key, *keys]

    def _cell(self, table: Table, row: Row, key: str) -> Any:
        return row[key] if key in table.columns else self._further(table)[key](row)

    def _further(self, table: Table) -> dict[str, Callable[[Row], Any]]:
        """What other tables say about a row of this one, by key: the text of the row that it belongs to, how many rows
        belong to it, and what an amount of theirs comes to."""
        further: dict[str, Callable[[Row], Any]] = {}
        if table.owner is not None:
            further[table.owner.singular] = partial(_text_of_owner, table.owner)
        for other in self._owned:
            if other.owner is table:
                column = other.of_kind("amount")[0]
                further[other.name] = partial(_count_of_owned, table, other)
                further[f"{other.name}_{column}"] = partial(_total_of_owned, table, other, column)
        return further


def total(rows: Iterable[Row], column: str, start: float = 0) -> float:
    """Return what a column comes to, to the cent.

    >>> total([{"price": 0.1}, {"price": 0.2}], "price", start=1)
    1.3
    """
    return round(start + sum(row[column] for row in rows), 2)


def _text_of_owner(owner: Table, row: Row) -> Any:
    return owner.find(row[owner.key])[owner.of_kind("text")[0]]


def _count_of_owned(table: Table, other: Table, row: Row) -> int:
    return len(other.owned_by(row[table.key]))


def _total_of_owned(table: Table, other: Table, column: str, row: Row) -> float:
    return total(other.owned_by(row[table.key]), column)


def _refused(code: int, message: str) -> Row:
    return {"status": "error", "code": code, "message": message}
