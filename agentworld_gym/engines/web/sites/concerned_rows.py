"""The rows that a request reads or writes: what a world model has to know to foresee what a site makes of it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

from agentworld_gym.domain.view import compact
from agentworld_gym.engines.tables.database import quoted
from agentworld_gym.engines.web.sites.request_handler import Visit, values_of
from agentworld_gym.engines.web.sites.site_schema import Route

MOST = 4
"""How many rows of a table are told."""
_TABLE = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+(\w+)")
_EQUAL = re.compile(r"\b(\w+)\s*=\s*:(\w+)")
_INSERT = re.compile(r"INSERT\s+INTO\s+(\w+)\s*\(([^)]*)\)\s*(?:VALUES\s*\(([^)]*)\))?")
_PARAMETER = re.compile(r"\s*:(\w+)\s*")


def concerned_rows(visit: Visit) -> Iterator[str]:
    """Yield a line for each row that the rules and the statements of a route name by the values of a request.

    A line begins with the path of the row, `shop/cart/rosa,121`, and shows the columns that the statements name. A
    table to whose end the route adds a row is told with the next number.
    """
    match = visit.site.find(visit.method, visit.path)
    if match is None:
        return
    page, holes = match
    statements = list(_statements(page.route))
    if not statements:
        return
    values = values_of(visit, page, holes)
    values |= {name: text for name, text in visit.form if name not in values}
    text = " ".join(statements)
    if ":now" in text:
        yield f"now {visit.now}"
    columns = {column for sql in statements for column, _ in _pairs(sql)}
    for table in dict.fromkeys(_TABLE.findall(text)):
        yield from _rows(visit, table, statements, values, text, columns)
    for table, filled, _ in _INSERT.findall(text):
        names, key = visit.site.keys.get(table, ((), ()))
        if len(key) == 1 and names[key[0]] not in map(str.strip, filled.split(",")):
            last = visit.store.first(f"SELECT max({quoted(names[key[0]])}) FROM {quoted(table)}", {})
            if isinstance(last, int):
                yield f"{visit.site.name}/{table} {last + 1}"


def _statements(route: Route) -> Iterator[str]:
    yield from (rule.sql for rule in route.rules)
    for step in route.run:
        yield from [step] if isinstance(step, str) else step.values()


def _pairs(sql: str) -> Iterator[tuple[str, str]]:
    """Yield the columns that a statement compares with parameters, or fills with them."""
    yield from _EQUAL.findall(sql)
    for _, columns, filled in _INSERT.findall(sql):
        for column, value in zip(columns.split(","), filled.split(","), strict=False):
            if parameter := _PARAMETER.fullmatch(value):
                yield column.strip(), parameter[1]


def _rows(
    visit: Visit, table: str, statements: list[str], values: Mapping[str, Any], text: str, named: set[str]
) -> Iterator[str]:
    names, key = visit.site.keys.get(table, ((), ()))
    try:
        every = names or tuple(visit.store.rows(f"SELECT * FROM {quoted(table)} LIMIT 1", {})[0])
    except (sqlite3.Error, IndexError):
        return
    keyed = {names[place] for place in key} or named
    known = {
        column: values[parameter]
        for sql in statements
        if table in _TABLE.findall(sql)
        for column, parameter in _pairs(sql)
        if column in every and column in keyed and values.get(parameter) is not None
    }
    if not known:
        return
    where = " AND ".join(f"{quoted(column)} = :{column}" for column in known)
    rows = visit.store.rows(f"SELECT * FROM {quoted(table)} WHERE {where} LIMIT {MOST}", known)
    told = [column for column in every if re.search(rf"\b{re.escape(column)}\b", text) and column not in keyed]
    for row in rows:
        name = ",".join(str(row[names[place]]) for place in key) if key else ",".join(map(str, known.values()))
        shown = {column: row[column] for column in told if row[column] is not None}
        yield f"{visit.site.name}/{table}/{name} {compact(shown)}"
    if not rows:
        yield f"{visit.site.name}/{table}/{','.join(map(str, known.values()))} none"
