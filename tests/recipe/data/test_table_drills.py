"""Drills at the length of real prompts: calls that filter, sort, count and add up the rows of tables."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.contracts import Message
from agentworld_gym.domain.spec import load_spec
from agentworld_gym.prompting.prompt import Prompts
from agentworld_gym.prompting.references import TableRows
from agentworld_gym.recipe.data.drills import DOMAIN, drill_samples, with_drills
from agentworld_gym.sessions.samples import Sample
from agentworld_gym.tasks import generate

WORDS = ["lamp", "orchard", "list_items", "Harbor", "seven"]

Row = dict[str, Any]


@cache
def real_prompts() -> list[str]:
    """System messages of tool servers, a few of each scenario."""
    spec = load_spec("mcp")
    prompts = Prompts(spec, profile="compact")
    families = sorted(spec.tasks.families)[::2]
    tasks = (generate("mcp", family, 1 + number % 3, number) for number, family in enumerate(families))
    return [prompts.system(task, {}) for task in tasks]


def drills(seed: int, count: int, share: float = 1) -> list[Sample]:
    return list(drill_samples(WORDS, seed, count, share, real_prompts()))


class Server:
    """The server of a drill as its system message tells of it: it answers calls anew, from their arguments alone."""

    def __init__(self, system: str) -> None:
        found = re.findall(r"^# (\w+)\n((?:\{.*\n?)+)", system, flags=re.MULTILINE)
        self.tables: dict[str, list[Row]] = {
            name: [json.loads(line) for line in lines.strip().split("\n")] for name, lines in found
        }
        self.names = {name.removesuffix("s"): name for name in self.tables}
        self.keys = {name: next(iter(rows[0])) for name, rows in self.tables.items()}
        self.read = TableRows(deepcopy(self.tables)).resolve

    def answer(self, asked: str) -> str:
        call = json.loads(asked.removeprefix("> "))
        verb, _, named = call["name"].partition("_")
        return json.dumps(self._answer(verb, self.names.get(named, named), call["arguments"]), ensure_ascii=False)

    def _answer(self, verb: str, name: str, arguments: Row) -> Row:
        if verb == "set":
            row = self._find(name, arguments[self.keys[name]])
            row.update(arguments)
            return row
        answering = {
            "select": self._select,
            "sum": self._sum,
            "read": self._read,
            "balance": self._balance,
            "move": self._move,
        }
        return answering[verb](name, arguments)

    def _select(self, name: str, arguments: Row) -> Row:
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
        if key in self.names and self.keys[self.names[key]] in row:
            column = self.keys[self.names[key]]
            owners = self._passing(self.names[key], {column: row[column]})
            labels = [owner.get("name", owner.get("title")) for owner in owners]
            return labels[0] if labels else None
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

    def _read(self, name: str, arguments: Row) -> Row:
        nested = arguments.pop("with", {})
        [(key, value)] = arguments.items()
        if all(row[key] != value for row in self.tables[name]):
            return refused(404, f"{name.removesuffix('s').capitalize()} {value} not found")
        found = dict(self._find(name, value))
        for other, keys in nested.items():
            found[other] = [{key: row[key] for key in keys} for row in self._passing(other, arguments)]
        return found

    def _move(self, name: str, arguments: Row) -> Row:
        rows = {end: self._find(name, arguments.pop(end)) for end in ("from", "to")}
        [(column, amount)] = arguments.items()
        if rows["from"][column] < amount:
            key = rows["from"][self.keys[name]]
            return refused(409, f"{name.removesuffix('s').capitalize()} {key} holds {rows['from'][column]}")
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
    for sample in drills(seed, 2):
        server = Server(sample.messages[0]["content"])
        for asked, written in turns(sample):
            assert server.read(written) == server.answer(asked), asked


def test_drills_call_tools_of_all_kinds_and_refer_to_rows() -> None:
    said = [turn for sample in drills(0, 60) for turn in turns(sample)]
    asked, written = ("\n".join(texts) for texts in zip(*said, strict=True))
    for part in ("min_", "max_", "not_", "_contains", "_from", "_to", "sort", "limit", "offset", "keys", "with", "by"):
        assert part in asked
    row = r"@\w+:[\w./@-]+"
    for pattern in (rf"{row}\{{\w", rf"{row}\{{~\}}", rf"{row}[,\]]", '"code": 404', '"code": 409', "balance="):
        assert re.search(pattern, written)


def test_drills_have_the_length_and_the_values_of_real_prompts_in_other_rows() -> None:
    lengths = sorted(map(len, real_prompts()))
    for sample in drills(1, 20):
        system = sample.messages[0]["content"]
        assert len(system) in lengths and system not in real_prompts()
        assert any(sorted(system) == sorted(prompt) for prompt in real_prompts())


def test_the_share_leaves_the_other_drills_as_they_are() -> None:
    short, mixed = drills(3, 30, share=0), drills(3, 30, share=0.5)
    assert mixed == drills(3, 30, share=0.5)
    long = [sample for sample in mixed if sample.messages[0]["content"].startswith("mcp\n")]
    same = sum(one == other for one, other in zip(short, mixed, strict=True))
    assert 5 <= len(long) <= 25 and same + len(long) == 30
    assert {sample.domain for sample in mixed} == {DOMAIN}


def test_drills_take_their_tables_from_the_first_samples() -> None:
    said: list[Message] = [
        {"role": "system", "content": real_prompts()[0]},
        {"role": "user", "content": "> {}"},
        {"role": "assistant", "content": "{}"},
    ]
    real = Sample(id="a", domain="mcp", messages=tuple(said), weights=(1.0,))
    _, *found = with_drills([real], 0, 10, table_drills=1)
    assert len(found) == 10 and {len(sample.messages[0]["content"]) for sample in found} == {len(real_prompts()[0])}
    plain = real.model_copy(update={"messages": tuple(said[1:])})
    assert [*with_drills([plain], 0, 10, table_drills=1)][1:] == [*with_drills([plain], 0, 10)][1:]
