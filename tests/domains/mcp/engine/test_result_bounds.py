"""A result has bounded rows and characters: a call whose result has more is refused, and nothing of it is stored."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

import pytest

from agentworld_gym.core.actions.toolset import example_call
from agentworld_gym.domains.mcp.engine import CallContext, ToolMachine, scenario_names
from agentworld_gym.domains.mcp.engine.sql_tools import MAX_CHARS, MAX_ROWS, sql_tool
from agentworld_gym.domains.mcp.engine.tool import ToolRefusal
from agentworld_gym.domains.mcp.engine.tool_spec import ToolSpec

NUMBERS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < {}) SELECT {} FROM n"
LONG = f"replace(printf('%{MAX_CHARS // 2}d', 0), ' ', 'é')"
"""A text of half of the characters that a result may have, and of all bytes that a value may have."""


def answer(**result: Any) -> Any:
    """What a tool with this result answers."""
    spec = ToolSpec.model_validate({"name": "show", "description": "Shows.", "result": result})
    return sql_tool("server", spec).call(sqlite3.connect(":memory:"), {}, CallContext("2026-01-01T09:00:00Z", "ana"))


def refusal(**result: Any) -> str:
    with pytest.raises(ToolRefusal) as refused:
        answer(**result)
    assert refused.value.code == 413
    return refused.value.message


def test_a_list_has_as_many_rows_as_are_allowed_and_no_more() -> None:
    assert answer(many=NUMBERS.format(MAX_ROWS, "x"), key="numbers")["count"] == MAX_ROWS
    told = refusal(many=NUMBERS.format(MAX_ROWS + 1, "x"), key="numbers")
    assert told == "Payload Too Large: a list has at most 200 rows"
    nested = {"numbers": NUMBERS.format(10**9, "x")}
    assert refusal(one="SELECT 1 AS one", nested=nested) == told


@pytest.mark.parametrize(
    "result",
    [
        {"many": NUMBERS.format(3, f"{LONG} AS word"), "key": "words"},
        {"one": f"SELECT {LONG} AS word", "nested": {"words": f"SELECT {LONG} AS other"}},
        {"text": "{now}" + "-" * MAX_CHARS},
    ],
    ids=["many", "nested", "text"],
)
def test_the_characters_of_a_result_are_bounded(result: Mapping[str, Any]) -> None:
    assert refusal(**result) == "Payload Too Large: a result has at most 250000 characters"


def test_a_value_of_half_of_the_bound_is_told() -> None:
    assert len(answer(one=f"SELECT {LONG} AS word")["word"]) == MAX_CHARS // 2


@pytest.mark.parametrize("scenario", scenario_names())
def test_no_list_of_a_shipped_scenario_reaches_half_of_the_bounds(scenario: str) -> None:
    machine = ToolMachine.start({"scenario": scenario, "size": "full", "seed": 1}, 0)
    stored = machine.state()
    for spec in machine.service.scenario.tools:
        call = json.loads(example_call({"name": spec.name, "parameters": spec.parameters}))
        arguments = {name: likely(name, value, stored) for name, value in call["arguments"].items()}
        most = spec.parameters.get("properties", {}).get("limit", {}).get("maximum")
        if "LIMIT" in str(spec.result.many):
            arguments["limit"] = most
        text = machine.fork().act({"name": f"{scenario}-{spec.name}", "arguments": arguments})
        assert "Payload Too Large" not in text and len(text) < MAX_CHARS // 2


def likely(name: str, value: Any, stored: Mapping[str, Any]) -> Any:
    """A stored value of a column with the name of an argument, if there is one."""
    fit = (one for field, one in stored.items() if field.endswith(f"/{name}") and type(one) is type(value))
    return next(fit, value)
