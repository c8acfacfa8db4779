"""Schemas of tools as somebody outside may have written them, for hypothesis: most of them are no JSON Schemas."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

KEYWORDS = (
    *(
        "type",
        "properties",
        "required",
        "items",
        "enum",
        "const",
        "default",
        "examples",
        "example",
        "pattern",
        "format",
    ),
    *("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "additionalProperties", "anyOf", "allOf"),
    *("oneOf", "not", "$ref", "$schema", "$id", "$defs", "$dynamicRef", "title", "description", "nullable"),
    *("patternProperties", "propertyNames", "exclusiveMinimum", "multipleOf", "uniqueItems", "readOnly"),
)
TYPES = ("string", "integer", "number", "boolean", "object", "array", "null", "int", "date", "")
PATTERNS = ("[a-", r"\d+\Z", "(?P<x>a)", "(?P=x)", "(a+)+$", "^[A-Z]{2}$", "a{99999999}", "(?#note)a")
PLACES = ("#", "#/properties/port_id", "#/nowhere", "http://localhost:1/x", "http://json-schema.org/draft-04/schema#")

plain = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 10**20),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from((*TYPES, *PATTERNS, *PLACES, "\ud800", "\0", "x" * 300)),
    st.text(max_size=8),
)
"""Values that hold no other value."""

names = st.sampled_from(("port_id", "name", "id", "pattern", "type", "", "note"))


def _with(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    likely = st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(TYPES) | st.lists(st.sampled_from(TYPES), max_size=2),
            "properties": st.dictionaries(names, inner, max_size=4),
            "required": st.lists(names, max_size=3),
            "items": inner,
            "enum": st.lists(inner, max_size=3),
            "pattern": st.sampled_from(PATTERNS),
            "minLength": st.sampled_from((0, 2, 2.0, 10**12)),
            "minItems": st.sampled_from((0, 2, 2.0, 10**12)),
            "minimum": st.integers(-5, 10**20) | st.floats(),
            "examples": st.lists(inner, max_size=2) | inner,
            "default": inner,
            "$ref": st.sampled_from(PLACES),
            "$schema": st.sampled_from(PLACES),
        },
    )
    wild = st.dictionaries(st.sampled_from(KEYWORDS) | names, inner, max_size=4)
    return likely | wild | st.lists(inner, max_size=3)


schemas = st.recursive(plain, _with, max_leaves=8)
"""What stands where a JSON Schema should stand."""

tools = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(("get_port", "list_ports", "update_port", "odd"))},
        optional={"description": st.text(max_size=20) | plain, "parameters": schemas},
    )
    | plain,
    max_size=4,
)
"""Tools with such schemas."""
