"""The rows that a request reads or writes: what a world model has to know to foresee what a site makes of it."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from agentworld_gym.domain.view import compact
from agentworld_gym.engines.tables.database import quoted
from agentworld_gym.engines.web.sites.request_handler import Visit, values_of
from agentworld_gym.engines.web.sites.site_schema import Route

_NOTHING: tuple[Any, ...] = (None, "", [])
MOST, MOST_LINES = 4, 10
"""How many rows of a table are told, and how many lines."""
LONGEST = 200
"""How many characters of a text are told."""
_TABLE = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+(\w+)")
_SET = re.compile(r"\bSET\b.*?(?=\bWHERE\b|$)", re.S)
_EQUAL = re.compile(r"\b(\w+)\s*=\s*(?:(replace|lower|upper)\()?:(\w+)")
_AMONG = re.compile(r"\b(\w+)\s+IN\s+\(SELECT\s+value\s+FROM\s+json_each\(:(\w+)\)\)")
_INSERT = re.compile(r"INSERT\s+INTO\s+(\w+)\s*\(([^)]*)\)\s*(?:VALUES\s*\(([^)]*)\)|SELECT\s+(.*?)\s+FROM)?", re.S)
_PARAMETER = re.compile(r"\s*:(\w+)\s*")
_CHANGES = {"replace": lambda text: text.replace("_", " "), "lower": str.lower, "upper": str.upper}
"""What SQL does to a text before it compares it."""


def concerned_rows(visit: Visit) -> Iterator[str]:
    """Yield a line for each row that the rules and the statements of a route name by the values of a request.

    A line begins with the path of the row, `shop/cart/rosa,121`, and shows the columns that the statements name. A
    table to whose end the route adds a row is told with the next number.
    """
    match = visit.site.find(visit.method, visit.path)
    if match is None:
        return
    page, holes = match
    named = list(_statements(page.route))
    if not named:
        return
    values = values_of(visit, page, holes)
    values |= {name: text for name, text in visit.form if name not in values}
    text = " ".join(sql for _, sql in named)
    lines = [f"now {visit.now}"] if ":now" in text else []
    for name, sql in named:
        if name and sql.startswith("SELECT"):
            with suppress(sqlite3.Error):
                values[name] = visit.store.first(sql, values)
        lines += _rows(visit, sql, values, text)
    for table, columns, *_ in _INSERT.findall(text):
        names, key = visit.site.keys.get(table, ((), ()))
        if len(key) == 1 and names[key[0]] not in map(str.strip, columns.split(",")):
            last = visit.store.first(f"SELECT max({quoted(names[key[0]])}) FROM {quoted(table)}", {})
            lines.append(f"{visit.site.name}/{table} {(last or 0) + 1}")
    yield from list(dict.fromkeys(lines))[:MOST_LINES]


def _statements(route: Route) -> Iterator[tuple[str, str]]:
    """Yield the statements of a route that decide what happens, and the names of their results."""
    yield from (("", rule.sql) for rule in route.rules)
    if route.sign_in is not None:
        yield "", route.sign_in
    for step in route.run:
        yield from [("", step)] if isinstance(step, str) else step.items()


def _conditions(visit: Visit, table: str, sql: str, values: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the columns of a table with the values of the rows that a statement means."""
    for column, change, parameter in _EQUAL.findall(_SET.sub("", sql)):
        value = values.get(parameter)
        if column != "password" and value is not None:
            yield column, _CHANGES[change](value) if change and isinstance(value, str) else value
    for column, parameter in _AMONG.findall(sql):
        yield column, [text for name, text in visit.form if name == parameter]
    names, key = visit.site.keys.get(table, ((), ()))
    for inserted, columns, filled, chosen in _INSERT.findall(sql):
        for column, value in zip(columns.split(","), (filled or chosen).split(","), strict=False):
            parameter = _PARAMETER.fullmatch(value)
            if inserted == table and parameter and column.strip() in {names[place] for place in key}:
                yield column.strip(), values.get(parameter[1])


def _rows(visit: Visit, sql: str, values: dict[str, Any], text: str) -> Iterator[str]:
    found: dict[str, list[Any]] = {}
    for table in dict.fromkeys(_TABLE.findall(sql)):
        names, key = visit.site.keys.get(table, ((), ()))
        try:
            every = names or tuple(visit.store.rows(f"SELECT * FROM {quoted(table)} LIMIT 1", {})[0])
        except (sqlite3.Error, IndexError):
            continue
        meant = _conditions(visit, table, sql, values)
        known = {column: value for column, value in meant if column in every and value not in _NOTHING}
        if not known and len(key) == 1 and names[key[0]] in found:
            known = {names[key[0]]: found[names[key[0]]]}
        if not known:
            continue
        where = " AND ".join(
            f"{quoted(column)} IN (SELECT value FROM json_each(:{column}))"
            if isinstance(value, list)
            else f"{quoted(column)} = :{column}"
            for column, value in known.items()
        )
        given = {column: json.dumps(value) if isinstance(value, list) else value for column, value in known.items()}
        rows = visit.store.rows(f"SELECT * FROM {quoted(table)} WHERE {where} LIMIT {MOST}", given)
        for column in every:
            found.setdefault(column, [row[column] for row in rows])
        keyed = {names[place] for place in key} or known.keys()
        told = [column for column in every if column not in keyed and re.search(rf"\b{re.escape(column)}\b", text)]
        for row in rows:
            name = ",".join(str(row[names[place]]) for place in key) or ",".join(map(str, known.values()))
            shown = {column: _short(row[column]) for column in told if row[column] is not None}
            yield f"{visit.site.name}/{table}/{name} {compact(shown)}"
        if not rows and not any(isinstance(value, list) for value in known.values()):
            yield f"{visit.site.name}/{table}/{','.join(map(str, known.values()))} none"


def _short(value: Any) -> Any:
    return value[:LONGEST] if isinstance(value, str) else value
