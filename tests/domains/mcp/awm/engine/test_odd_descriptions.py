"""Descriptions of apps as their authors may have spoiled them: every tool is told or refused; none stops another."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import odd_schemas
from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.domains.mcp.awm.engine.inside.openapi import MAX_PARTS, tools_of
from agentworld_gym.domains.mcp.awm.engine.server import client_tools

GOOD = {
    "operationId": "get_port",
    "parameters": [{"name": "port_id", "in": "path", "required": True, "schema": {"type": "integer"}}],
    "responses": {"200": {"description": "A port.", "content": {"application/json": {"schema": {"type": "object"}}}}},
}
parameters = st.lists(
    st.fixed_dictionaries(
        {"name": odd_schemas.names, "in": st.sampled_from(("path", "query", "header", "cookie"))},
        optional={"schema": odd_schemas.schemas, "required": odd_schemas.plain, "description": odd_schemas.plain},
    ),
    max_size=3,
)
content = st.fixed_dictionaries(
    {},
    optional={
        "application/json": st.fixed_dictionaries(
            {},
            optional={"schema": odd_schemas.schemas, "example": odd_schemas.schemas, "examples": odd_schemas.schemas},
        )
    },
)
operations = (
    st.fixed_dictionaries(
        {"operationId": st.sampled_from(("odd", "list_ports"))},
        optional={
            "summary": odd_schemas.plain,
            "description": odd_schemas.plain,
            "parameters": parameters | odd_schemas.schemas,
            "requestBody": st.fixed_dictionaries({"content": content}) | odd_schemas.schemas,
            "responses": st.dictionaries(
                st.sampled_from(("200", "404", "x")), st.fixed_dictionaries({"content": content})
            )
            | odd_schemas.schemas,
        },
    )
    | odd_schemas.schemas
)


@settings(max_examples=150, deadline=None)
@given(operations, operations, st.dictionaries(st.sampled_from(("Port", "Ship")), odd_schemas.schemas, max_size=2))
def test_whatever_an_author_wrote_the_other_tools_are_told(one: Any, other: Any, schemas: dict[str, Any]) -> None:
    description = {
        "paths": {"/odd": {"post": one, "get": other, "x": 1}, "/ports/{port_id}": {"get": GOOD}},
        "components": {"schemas": schemas},
    }
    tools, known = tools_of(description)
    assert tools[-1]["name"] == "get_port" and known["get_port"].refusal == ""
    named = {each["operationId"] for each in (one, other) if isinstance(each, dict) and "operationId" in each}
    assert named <= known.keys()
    assert [tool["name"] for tool in tools] == [name for name, each in known.items() if not each.refusal]
    for tool in tools:
        json.dumps(tool, allow_nan=False).encode()
        jsonschema.validators.validator_for(tool["parameters"]).check_schema(tool["parameters"])
    kept = client_tools(tools)
    assert kept.tools[-1]["name"] == "get_port" and len(kept.tools) + len(kept.left_out) == len(tools)


def test_models_that_hold_each_other_without_end_cost_their_tool_alone() -> None:
    names = [f"M{number}" for number in range(12)]
    links = {name: {"$ref": f"#/components/schemas/{name}"} for name in names}
    schemas = {name: {"type": "object", "properties": links} for name in names}
    body = {"content": {"application/json": {"schema": links["M0"]}}}
    paths = {"/odd": {"post": {"operationId": "odd", "requestBody": body}}, "/ports/{port_id}": {"get": GOOD}}
    tools, known = tools_of({"paths": paths, "components": {"schemas": schemas}})
    assert [tool["name"] for tool in tools] == ["get_port"]
    assert str(MAX_PARTS) in known["odd"].refusal
