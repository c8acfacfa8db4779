"""Drills at the length of real prompts: calls that filter, sort, count and add up the rows of tables."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from datetime import date
from decimal import Decimal
from statistics import median
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.domain.spec import load_spec
from agentworld_gym.prompting.prompt import Prompts
from agentworld_gym.prompting.references import TableRows
from agentworld_gym.recipe.data.drills import DOMAIN, drill_samples
from agentworld_gym.sessions.samples import Sample
from agentworld_gym.tasks import generate

WORDS = ["lamp", "orchard", "list_items", "Harbor", "seven", "status", "count", "balance", "from", "total"]
"""Some of them are names that calls and answers use, which no column may take."""

Row = dict[str, Any]


class Server:
    """The server of a drill as its system message tells of it: it answers calls anew, from their arguments alone."""

    def __init__(self, system: str) -> None:
        _, *sections = re.split(r"^# ", system, flags=re.MULTILINE)
        parts = [section.strip().split("\n") for section in sections]
        self.tables: dict[str, list[Row]] = {name: [json.loads(line) for line in lines] for name, *lines in parts}
        self.keys = {name: next(iter(rows[0])) for name, rows in self.tables.items()}
        self.read = TableRows(deepcopy(self.tables)).resolve

    def answer(self, asked: str) -> str:
        call = json.loads(asked.rsplit("> ", 1)[1])
        verb, _, rest = call["name"].partition("-")[2].partition("_")
        return json.dumps(self._answer(verb, rest, dict(call["arguments"])))

    def _answer(self, verb: str, rest: str, arguments: Row) -> Row:
        if verb == "list":
            return self._list(rest, arguments)
        if verb == "sum":
            return self._sum(rest, arguments)
        if verb == "get":
            return self._get(f"{rest}s", arguments)
        if verb == "update":
            row = self._find(f"{rest}s", arguments[self.keys[f"{rest}s"]])
            row.update(arguments)
            return row
        if verb == "move":
            return self._move(rest, arguments)
        return self._balance(f"{rest}s", arguments)

    def _list(self, name: str, arguments: Row) -> Row:
        keys, sort = arguments.pop("keys", None), arguments.pop("sort", None)
        offset, limit = arguments.pop("offset", 0), arguments.pop("limit", None)
        hits = self._passing(name, arguments)
        if sort is not None:
            hits.sort(key=lambda row: row[sort.removeprefix("-")], reverse=sort.startswith("-"))
        page = hits if limit is None else hits[offset:][:limit]
        shown = [row if keys is None else {key: self._cell(name, row, key) for key in keys} for row in page]
        return {name: shown, "count": len(page)} | ({} if limit is None else {"total": len(hits)})

    def _cell(self, name: str, row: Row, key: str) -> Any:
        """A column, the text of the row that this one belongs to, or a count or a sum of those that belong to it."""
        if key in row:
            return row[key]
        if f"{key}s" in self.tables and self.keys[f"{key}s"] in row:
            owner = self._find(f"{key}s", row[self.keys[f"{key}s"]])
            return next(value for column, value in owner.items() if column not in self.keys.values())
        other = max((table for table in self.tables if key == table or key.startswith(f"{table}_")), key=len)
        owned = self._passing(other, {self.keys[name]: row[self.keys[name]]})
        return len(owned) if key == other else exact_sum(owned, key.removeprefix(f"{other}_"))

    def _sum(self, name: str, arguments: Row) -> Row:
        column, by, limit = arguments.pop("of"), arguments.pop("by", None), arguments.pop("limit", None)
        hits = self._passing(name, arguments)[:limit]
        if by is None:
            return {column: exact_sum(hits, column), "count": len(hits)}
        counts = Counter(row[by] for row in hits)
        sums = {value: exact_sum([row for row in hits if row[by] == value], column) for value in counts}
        groups = [{by: value, column: sums[value], "count": counts[value]} for value in sorted(counts)]
        return {name: groups, "count": len(groups)}

    def _get(self, name: str, arguments: Row) -> Row:
        nested = arguments.pop("with", {})
        [(key, value)] = arguments.items()
        if all(row[key] != value for row in self.tables[name]):
            return refused(404, f"{name[:-1].capitalize()} {value} not found")
        found = dict(self._find(name, value))
        for other, keys in nested.items():
            found[other] = [{key: row[key] for key in keys} for row in self._passing(other, arguments)]
        return found

    def _move(self, name: str, arguments: Row) -> Row:
        rows = {end: self._find(name, arguments.pop(end)) for end in ("from", "to")}
        [(column, amount)] = arguments.items()
        if rows["from"][column] < amount:
            key = rows["from"][self.keys[name]]
            return refused(409, f"{name[:-1].capitalize()} {key} holds {rows['from'][column]}")
        for end, sign in (("from", -1), ("to", 1)):
            rows[end][column] = exact_sum([rows[end], {column: sign * amount}], column)
        return {end: {self.keys[name]: row[self.keys[name]], column: row[column]} for end, row in rows.items()}

    def _balance(self, owner: str, arguments: Row) -> Row:
        begun, added, name, limit = (arguments.pop(key) for key in ("from", "add", "of", "limit"))
        [(key, value)] = arguments.items()
        row, lines = self._find(owner, value), []
        balance = row[begun]
        for entry in self._passing(name, arguments)[:limit]:
            balance = exact_sum([{added: balance}, entry], added)
            lines.append({self.keys[name]: entry[self.keys[name]], added: entry[added], "balance": balance})
        return {key: value, begun: row[begun], name: lines}

    def _find(self, name: str, key: object) -> Row:
        [row] = self._passing(name, {self.keys[name]: key})
        return row

    def _passing(self, name: str, conditions: Row) -> list[Row]:
        return [row for row in self.tables[name] if all(passes(row, *condition) for condition in conditions.items())]


def passes(row: Row, told: str, value: Any) -> bool:
    """Whether a row passes the condition that an argument tells of."""
    if told in row:
        return bool(row[told] == value)
    for prefix, test in {"min_": float.__ge__, "max_": float.__le__}.items():
        if told.startswith(prefix):
            return test(float(row[told.removeprefix(prefix)]), float(value))
    if told.startswith("not_"):
        return bool(row[told.removeprefix("not_")] != value)
    column, _, how = told.rpartition("_")
    if how == "contains":
        return value.casefold() in row[column].casefold()
    day = date.fromisoformat(row[column][:10])
    return day >= date.fromisoformat(value) if how == "from" else day <= date.fromisoformat(value)


def exact_sum(rows: list[Row], column: str) -> float:
    """What a column comes to, without binary fractions."""
    values = [row[column] for row in rows]
    exact = sum((Decimal(str(value)) for value in values), Decimal(0))
    return float(exact) if any(isinstance(value, float) for value in values) else int(exact)


def refused(code: int, message: str) -> Row:
    return {"status": "error", "code": code, "message": message}


def turns(sample: Sample) -> Iterator[tuple[str, str]]:
    """What is asked for in a drill, and the answers."""
    _, *said = (message["content"] for message in sample.messages)
    return zip(said[::2], said[1::2], strict=True)


@settings(max_examples=15)
@given(st.integers(0, 10_000))
def test_every_answer_refers_to_the_rows_that_pass_and_adds_up_their_amounts(seed: int) -> None:
    for sample in drill_samples(WORDS, seed, 1, table_drills=1):
        server = Server(sample.messages[0]["content"])
        for asked, written in turns(sample):
            assert server.read(written) == server.answer(asked), asked


def test_drills_call_tools_of_all_kinds_and_refer_to_rows() -> None:
    said = [turn for sample in drill_samples(WORDS, 0, 40, table_drills=1) for turn in turns(sample)]
    asked, written = ("\n".join(texts) for texts in zip(*said, strict=True))
    for part in ("min_", "max_", "not_", "_contains", "_from", "_to", "sort", "limit", "offset", "keys", "with", "by"):
        assert f"{part}" in asked
    for pattern in (
        r"@\w+:[\w-]+\{\w",
        r"@\w+:[\w-]+\{~\}",
        r"@\w+:[\w-]+[,\]]",
        '"code": 404',
        '"code": 409',
        "balance=",
    ):
        assert re.search(pattern, written)


def test_drills_are_as_long_as_real_prompts() -> None:
    spec = load_spec("mcp")
    prompts = Prompts(spec, profile="compact")
    families = sorted(spec.tasks.families)[::3]
    real = [len(prompts.system(generate("mcp", family, 1 + n % 3, n), {})) for n, family in enumerate(families)]
    made = [len(sample.messages[0]["content"]) for sample in drill_samples(WORDS, 0, 60, table_drills=1)]
    assert 0.75 < median(made) / median(real) < 1.3
    assert min(real) < 1.3 * min(made) and max(made) < 1.3 * max(real)


def test_the_share_leaves_the_other_drills_as_they_are() -> None:
    short, mixed = (list(drill_samples(WORDS, 3, 30, table_drills=share)) for share in (0.0, 0.5))
    assert mixed == list(drill_samples(WORDS, 3, 30, table_drills=0.5))
    same = sum(one == other for one, other in zip(short, mixed, strict=True))
    long = [sample for sample in mixed if sample.messages[0]["content"].startswith("mcp\n")]
    assert 5 <= len(long) <= 25 and same + len(long) == 30
    assert {sample.domain for sample in mixed} == {DOMAIN}
