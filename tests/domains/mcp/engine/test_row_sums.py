"""A mark instead of a sum stands only where the same value comes back from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentworld_gym.domains.mcp.engine.row_sums import SUMMED, marked, summed
from agentworld_gym.domains.mcp.engine.service import load_service

FILES = {
    "scenario.yaml": 'title: t\ndescription: d\nnow: "2026-01-01T00:00:00Z"\nuser: u\n',
    "rows.yaml": "sizes: {small: {bills: 1}, full: {bills: 1}}\ntables: {bills: {n: {count: 1}}}\n",
}
TOOL = """
- name: {name}
  description: d
  parameters: {{type: object, properties: {{n: {{type: integer}}}}, required: [n]}}
  run: ["UPDATE {table} SET {column} = ({expression}) WHERE n = :n"]
  result: {{text: x}}
"""


def state(folder: Path, schema: str, *sums: tuple[str, str, str], **rows: list[dict[str, Any]]) -> dict[str, Any]:
    """A state of a scenario with these tables, whose tools set columns to sums."""
    tools = [
        TOOL.format(name=f"sum_{number}", table=table, column=column, expression=expression)
        for number, (table, column, expression) in enumerate(sums)
    ]
    for name, text in {**FILES, "schema.sql": schema, "tools.yaml": "tools:" + "".join(tools)}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return {"scenario": str(folder), "now": "2026-01-01T00:00:00Z", "user": "u", "rows": rows}


def changed(before: dict[str, Any], **rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The marked rows after a change, from which the state after it has to come back with all types."""
    after = {**before, "rows": {**before["rows"], **rows}}
    shown = marked(before, after)
    assert repr(summed(shown)) == repr(after)
    found: dict[str, Any] = shown["rows"]
    return found


LINES = "CREATE TABLE lines (n INTEGER PRIMARY KEY, amount INTEGER);"
TOTAL = ("bills", "total", "SELECT sum(amount) FROM lines")


@pytest.mark.parametrize(("kind", "after", "shown"), [("INTEGER", 10, SUMMED), ("REAL", 10.0, 10.0)])
def test_a_sum_that_its_column_stores_as_another_type_is_not_marked(
    kind: str, after: float, shown: object, tmp_path: Path
) -> None:
    schema = f"{LINES} CREATE TABLE bills (n INTEGER PRIMARY KEY, total {kind});"
    before = state(tmp_path, schema, TOTAL, lines=[{"id": 1, "amount": 10}], bills=[{"id": 1}])
    assert changed(before, bills=[{"id": 1, "total": after}])["bills"] == [{"id": 1, "total": shown}]


def test_a_sum_of_sums_is_not_marked_where_these_are(tmp_path: Path) -> None:
    schema = f"{LINES} CREATE TABLE bills (n INTEGER PRIMARY KEY, total INTEGER, twice INTEGER);"
    twice = ("bills", "twice", "SELECT 2 * sum(total) FROM bills")
    before = state(tmp_path, schema, TOTAL, twice, lines=[{"id": 1, "amount": 10}], bills=[{"id": 1}])
    shown = changed(before, bills=[{"id": 1, "total": 10, "twice": 20}])
    assert shown["bills"] == [{"id": 1, "total": SUMMED, "twice": 20}]


def test_a_sum_whose_column_takes_no_mark_is_not_marked(tmp_path: Path) -> None:
    schema = f"{LINES} CREATE TABLE bills (n INTEGER PRIMARY KEY, total INTEGER) STRICT;"
    before = state(tmp_path, schema, TOTAL, lines=[{"id": 1, "amount": 10}], bills=[{"id": 1}])
    assert changed(before, bills=[{"id": 1, "total": 10}])["bills"] == [{"id": 1, "total": 10}]


@pytest.mark.parametrize("key", ["n INTEGER, part INTEGER, total INTEGER, PRIMARY KEY (n, part)", "n, part, total"])
def test_a_sum_in_a_row_that_no_single_column_names_is_not_marked(key: str, tmp_path: Path) -> None:
    before = state(tmp_path, f"{LINES} CREATE TABLE bills ({key});", TOTAL, lines=[{"id": 1, "amount": 10}], bills=[])
    name = {"id": "1,2"} if "KEY" in key else {"id": 0, "n": 1, "part": 2}
    assert load_service(before["scenario"]).summed == {}
    assert changed(before, bills=[{**name, "total": 10}])["bills"] == [{**name, "total": 10}]
