"""Tools from outside: whatever was written of them, some can be called, and the others are left out by name."""

from __future__ import annotations

import json
from typing import Any

import odd_schemas
from hypothesis import given, settings

from agentworld_gym.base.documents.plain_yaml import check_plain
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.actions.toolset import MAX_EXAMPLE, Toolset, example_call
from agentworld_gym.core.actions.usable_tools import usable_tools
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.tasks.source import TaskSource
from agentworld_gym.domains.mcp.awm.engine.meta_tools import listed
from agentworld_gym.domains.mcp.awm.engine.server import client_tools
from agentworld_gym.domains.mcp.awm.menu import menu_of
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.tool_definitions import tool_definitions

PORT = {"properties": {"port_id": {"type": "integer"}}, "required": ["port_id"]}
GOOD = {"name": "read_port", "description": "Reads.", "parameters": PORT}
ROWS: dict[str, list[dict[str, Any]]] = {"ports": [{"id": 7, "name": "Delft", "port_id": None, "depth": 2.5}]}


@settings(max_examples=150)
@given(odd_schemas.tools)
def test_every_tool_is_kept_or_left_out_by_name_and_a_good_one_beside_it_is_kept(tools: list[Any]) -> None:
    found = usable_tools([*tools, GOOD])
    assert found.tools[-1] == GOOD
    assert len(found.tools) + len(found.left_out) == len(tools) + 1
    assert all(found.left_out.values())
    assert str(len(found.left_out)) in found.describe_left_out("shop") and all(
        name in found.describe_left_out("shop") for name in found.left_out
    )


@settings(max_examples=150)
@given(odd_schemas.tools)
def test_whoever_reads_the_tools_that_are_kept_can_read_all_of_them(tools: list[Any]) -> None:
    kept = client_tools([*tools, GOOD]).tools
    toolset = Toolset(kept, "tools.yaml")
    assert toolset.call("read_port", {"port_id": 7})["name"] == "read_port"
    for tool in kept:
        assert len(example_call(tool)) < MAX_EXAMPLE * 8 + len(json.dumps(tool))
        assert f". {tool['name']}" in tool_definitions(kept)
        assert tool["name"] in listed(kept)
    menu = menu_of(kept, ROWS, "Look at port 7 'Delft'.", "seed")
    assert '{"name": "read_port", "arguments": {"port_id": 7}}' in menu and menu[-1] == "finish"


def test_tools_that_share_a_name_are_told_apart() -> None:
    found = usable_tools([GOOD, {"name": "read_port"}, {"name": ""}, "odd"])
    assert found.tools == (GOOD,)
    assert found.left_out == {
        "read_port (number 1)": "another tool has its name",
        "number 2": "it has no name",
        "number 3": "it has no name",
    }


def test_a_schema_without_end_is_left_out() -> None:
    schema: dict[str, Any] = {}
    schema["items"] = schema
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"items": deep}
    found = usable_tools([{"name": "endless", "parameters": schema}, {"name": "deep", "parameters": deep}, GOOD])
    assert found.tools == (GOOD,) and set(found.left_out) == {"endless", "deep"}


def test_an_example_of_a_schema_that_wants_without_end_is_short() -> None:
    many = {"type": "array", "minItems": 10**9, "items": {"type": "array", "minItems": 10**9}}
    schema = {"properties": {"many": many, "long": {"minLength": 10**15}}, "required": ["many", "long"]}
    assert len(example_call({"name": "f", "parameters": schema})) < 10 * MAX_EXAMPLE


@settings(max_examples=60, deadline=None)
@given(odd_schemas.tools)
def test_a_task_with_the_tools_of_any_server_can_be_played(tools: list[Any]) -> None:
    given_tools = [tool for tool in tools if isinstance(tool, dict)]
    success = [{"answer": {"equals": "done"}}]
    spec = load_spec("mcp")
    source = TaskSource(spec)
    given_task = {"instruction": "Look.", "tools": [*given_tools, GOOD], "success": success}
    try:
        task = source.find(given_task)
    except SpecError as error:  # What is no plain data is told apart from a tool that is odd.
        assert "tools" in str(error) and not _is_plain(given_tools)
        return
    read = ActionParser(spec).parse('{"name": "read_port", "arguments": {"port_id": 7}}', task.tools)
    assert read.error is None
    assert GOOD["name"] in Prompts(spec).system(task)


def _is_plain(value: Any) -> bool:
    try:
        check_plain(value)
    except ValueError:
        return False
    return True
