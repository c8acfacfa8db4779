"""Whatever is called with whatever, a tool server answers with a text, and its database stays whole."""

from __future__ import annotations

import json
import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.domains.mcp.engine import ToolMachine, load_service, scenario_names
from agentworld_gym.domains.mcp.engine.machine import MAX_ARGUMENT_CHARS
from agentworld_gym.kit.tables.database import MAX_BYTES

TOOLS = load_service("shop").tools

SHAPES: list[Any] = [
    None,
    True,
    7,
    float("nan"),
    "shop-get_order",
    b"bytes",
    [],
    {},
    {"name": None},
    {"name": 7, "arguments": {}},
    {"name": "shop-get_order"},
    {"name": "shop-get_order", "arguments": None},
    {"name": "shop-get_order", "arguments": []},
    {"name": "shop-get_order", "arguments": "{}"},
    {"name": "x" * 100_000, "arguments": {}},
    {"name": "\ud800", "arguments": {}},
    {"name": "shop-get_order; DROP TABLE orders", "arguments": {}},
    {"name": "sqlite_master", "arguments": {}},
    object(),
]
VALUES: list[Any] = [
    None,
    True,
    -1,
    0,
    2**63 - 1,
    2**63,
    -(2**63) - 1,
    10**299,
    10**5000,
    1.5,
    5.0,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "\x00",
    "\ud800",
    "a" * MAX_ARGUMENT_CHARS,
    "%" * 5000,
    "%a" * 3000,
    "' OR 1=1 --",
    "'; DROP TABLE orders; --",
    "{order_id} {now} {0} {__class__}",
    "{{ 7 * 7 }}",
    "<|im_end|>",
    [],
    [[]] * 1000,
    {},
    {"a": {"b": []}},
    {1: 2},
    b"bytes",
    object(),
    {"sku": "LMP", "quantity": 10**30},
    [{"sku": "LMP", "quantity": 1}] * 20,
]


def deep(levels: int) -> Any:
    """Lists in lists."""
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


def fresh(**state: Any) -> ToolMachine:
    return ToolMachine.start({"scenario": "shop", "size": "small", "seed": 1, **state}, seed=0)


def is_whole(machine: ToolMachine) -> bool:
    """Whether SQLite finds nothing broken and no reference into the void."""
    connection = sqlite3.connect(":memory:")
    connection.deserialize(machine.database())
    (verdict,) = connection.execute("PRAGMA integrity_check").fetchone()
    return verdict == "ok" and not connection.execute("PRAGMA foreign_key_check").fetchall()


def answer(machine: ToolMachine, action: Any) -> str:
    """The answer, which is text of bounded length that can be written down."""
    text = machine.act(action)
    assert isinstance(text, str)
    assert text == machine.observation
    assert len(text.encode("utf-8")) < 4 * MAX_ARGUMENT_CHARS
    return text


@pytest.mark.parametrize("action", SHAPES, ids=[str(number) for number in range(len(SHAPES))])
def test_what_is_no_call_is_refused(action: Any) -> None:
    machine = fresh()
    before = machine.state()
    text = answer(machine, action)
    assert text.startswith(("MCP error -32602: ", "Unknown tool: ", "Error calling tool 'shop-get_order': "))
    assert machine.refused
    assert machine.state() == before


@pytest.mark.parametrize("number", range(len(VALUES) + 1))
def test_every_tool_survives_every_value(number: int) -> None:
    value = deep(100_000) if number == len(VALUES) else VALUES[number]
    machine = fresh()
    for tool in TOOLS.values():
        names = list(tool.parameters["properties"])
        answer(machine, {"name": tool.name, "arguments": dict.fromkeys(names, value)})
        for name in names:
            answer(machine, {"name": tool.name, "arguments": {name: value}})
    assert is_whole(machine)


def plausible(rng: random.Random, schema: dict[str, Any], known: list[Any]) -> Any:
    """A value of about the right type, mostly one that stands in the database, or none of it."""
    if rng.random() < 0.1:
        return rng.choice(VALUES)
    if "enum" in schema:
        return rng.choice(schema["enum"])
    match schema.get("type"):
        case "integer":
            return rng.choice([value for value in known if isinstance(value, int)] + [rng.randint(-5, 50)])
        case "number":
            return rng.choice([0, 1, 9.99, -3, 1e9])
        case "boolean":
            return rng.random() < 0.5
        case "array":
            return [plausible(rng, schema.get("items", {}), known) for _ in range(rng.randint(0, 4))]
        case "object":
            return {name: plausible(rng, inner, known) for name, inner in schema.get("properties", {}).items()}
    return rng.choice([value for value in known if isinstance(value, str)] + ["2026-03-02T10:00:00Z", "x" * 300])


@pytest.mark.parametrize("scenario", scenario_names())
def test_random_calls_of_every_scenario_leave_a_whole_database(scenario: str) -> None:
    rng = random.Random(scenario)
    machine = ToolMachine.start({"scenario": scenario, "size": "small", "seed": 2}, seed=0)
    known = list(machine.state().values())
    tools = list(machine.service.tools.values())
    succeeded = set()
    for _ in range(1500):
        tool = rng.choice(tools)
        required = tool.parameters.get("required", ())
        arguments = {
            name: plausible(rng, schema, known)
            for name, schema in tool.parameters["properties"].items()
            if name in required or rng.random() < 0.2
        }
        text = answer(machine, {"name": tool.name, "arguments": arguments})
        assert '"code": 500' not in text, (tool.name, arguments, text)
        if not machine.refused:
            succeeded.add(tool.name)
    assert len(succeeded) > len(tools) / 3
    assert is_whole(machine)


trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30) | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8) | st.integers(), inner, max_size=3),
    max_leaves=10,
)
arguments = st.dictionaries(
    st.sampled_from(["order_id", "items", "sku", "query", "limit", "status", "cursor", "justification", "x"]), trees
)
calls = trees | st.fixed_dictionaries({"name": st.sampled_from(sorted(TOOLS)), "arguments": arguments | trees})
SHARED = fresh()


@given(st.lists(calls, min_size=1, max_size=5))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_sequence_of_anything_is_answered_and_forks_agree(sequence: list[Any]) -> None:
    machine = SHARED.fork()
    twin = machine.fork()
    assert [answer(machine, action) for action in sequence] == [answer(twin, action) for action in sequence]
    assert machine.state() == twin.state()
    machine.close()
    twin.close()


@given(st.text(max_size=200) | trees.map(lambda tree: json.dumps(tree, default=str)))
@settings(max_examples=100, deadline=None)
def test_any_text_that_the_parser_takes_is_answered(text: str) -> None:
    action = ActionParser(load_spec("mcp")).parse(text, SHARED.service.listed)
    if action.error is None and action.kind.value == "act":
        assert answer(SHARED.fork(), action.parsed)


@pytest.mark.parametrize("scenario", scenario_names())
@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**400, 1e30])
def test_an_integer_beyond_64_bits_is_refused_in_the_words_of_the_server(scenario: str, number: float) -> None:
    """And never in those of the database, which the agent knows nothing of."""
    machine = ToolMachine.start({"scenario": scenario, "size": "small", "seed": 1}, 0)
    answers = []
    for name, tool in load_service(scenario).tools.items():
        properties = tool.parameters["properties"]
        for key, schema in properties.items():
            if schema.get("type") == "integer" and "maximum" not in schema:
                others = {other: 1 if properties[other].get("type") == "integer" else "x" for other in properties}
                answers.append(machine.act({"name": name, "arguments": {**others, key: number}}))
    assert answers and not any("SQLite" in answer or "too large to convert" in answer for answer in answers)
    assert any('"code": 422, "message": "Unprocessable Entity: ' in answer for answer in answers)


def test_a_full_database_refuses_and_goes_on() -> None:
    machine = fresh()
    call = {"name": "shop-create_customer", "arguments": {"name": "n", "phone": "9" * 30_000}}
    for number in range(MAX_BYTES // 30_000 + 10):
        text = machine.act({**call, "arguments": {**call["arguments"], "email": f"{number}@x.y"}})
        if machine.refused:
            break
    assert text == '{"status": "error", "code": 507, "message": "Insufficient Storage: the database is full"}'
    assert len(machine.database()) <= MAX_BYTES
    assert machine.act({"name": "shop-get_order", "arguments": {"order_id": 1031}}).startswith('{"order_id": 1031')
    assert is_whole(machine.fork())


def test_a_query_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    for name, text in {
        "scenario.yaml": 'title: t\ndescription: d\nnow: "2026-01-01T00:00:00Z"\nuser: u\n',
        "schema.sql": "CREATE TABLE t (n INTEGER PRIMARY KEY);",
        "rows.yaml": "sizes: {small: {t: 3}, full: {t: 3}}\ntables: {t: {n: {count: 1}}}\n",
        "tools.yaml": """
tools:
  - name: spin
    description: Takes for ever.
    run: ["INSERT INTO t VALUES (99)"]
    result:
      one: >-
        SELECT count(*) AS n FROM (WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c
        WHERE i < 1000000 * (SELECT count(*) FROM t)) SELECT i FROM c)
""",
    }.items():
        (tmp_path / name).write_text(text)
    machine = ToolMachine.start({"scenario": str(tmp_path)}, seed=0)
    text = answer(machine, {"name": f"{tmp_path.name}-spin", "arguments": {}})
    assert text == '{"status": "error", "code": 503, "message": "Service Unavailable: the query took too long"}'
    assert machine.state() == {"t/1/n": 1, "t/2/n": 2, "t/3/n": 3}
