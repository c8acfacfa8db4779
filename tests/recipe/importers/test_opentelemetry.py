"""Spans of OpenTelemetry as rows: each call and the result that the agent was shown, once, in the order of time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.llm.rows.row import Row
from agentworld_gym.recipe.importers import Importer, ImportTally
from agentworld_gym.recipe.importers.conversation import ImportedCall, ImportedMessage, ImportedResult
from agentworld_gym.recipe.importers.opentelemetry import grouped_spans, opentelemetry

ASK = {"role": "user", "parts": [{"type": "text", "content": "How many mails from Ida?"}]}
FIND = {"type": "tool_call", "id": "c1", "name": "mail_find", "arguments": {"from": "Ida"}}
COUNT = {"type": "tool_call", "id": "c2", "name": "mail_count", "arguments": {}}
CHOSEN = {"role": "assistant", "parts": [{"type": "reasoning", "content": "hm"}, FIND, COUNT], "finish_reason": "x"}
SHOWN = [
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "[1, 2]"}]},
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c2", "response": {"total": 9}}]},
]
ANSWER = {"role": "assistant", "parts": [{"type": "text", "content": "Two."}], "finish_reason": "stop"}
TOOLS = [
    {"type": "function", "name": name, "description": "", "parameters": {"type": "object"}}
    for name in ("mail_find", "mail_count")
]


def otlp(value: Any) -> dict[str, Any]:
    """A value as OTLP JSON writes it."""
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": otlp(item)} for key, item in value.items()]}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [otlp(item) for item in value]}}
    return {"stringValue": value} if isinstance(value, str) else {"intValue": str(value)}


def span(began: int, operation: str, trace: str = "t1", **attributes: Any) -> dict[str, Any]:
    """A span of OTLP JSON; keys of attributes are written without `gen_ai.`, with `__` for a dot."""
    named = {f"gen_ai.{key.replace('__', '.')}": value for key, value in attributes.items()}
    pairs = {"gen_ai.operation.name": operation, **named}
    return {
        "traceId": trace,
        "spanId": f"{began:016x}",
        "startTimeUnixNano": str(began),
        "attributes": [{"key": key, "value": otlp(value)} for key, value in pairs.items()],
    }


AGENT = [
    span(1, "chat", input__messages=json.dumps([ASK]), output__messages=json.dumps([CHOSEN]), tool__definitions=TOOLS),
    span(2, "execute_tool", tool__name="mail_count", tool__call__id="c2", tool__call__result="raw"),
    span(3, "execute_tool", tool__name="mail_find", tool__call__id="c1", tool__call__result="raw"),
    span(4, "chat", input__messages=[ASK, CHOSEN, *SHOWN], output__messages=[ANSWER]),
]


def imported(tmp_path: Path, *records: Any, **options: Any) -> tuple[list[Row], ImportTally]:
    path = tmp_path / "spans.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    importer = Importer(**options)
    return list(importer.rows(path)), importer.tally


def test_messages_that_every_call_repeats_are_told_once(tmp_path: Path) -> None:
    [row], tally = imported(tmp_path, *AGENT)
    assert (row.task, row.id, row.instruction, row.finish) == ("mcp", "t1", "How many mails from Ida?", "finish: Two.")
    assert [json.loads(action)["name"] for action in row.actions] == ["mail_find", "mail_count"]
    assert row.observations == ("[1, 2]", '{"total": 9}'), "the results that the agent was shown, not the raw ones"
    assert "### 1. mail_find" in row.system_str
    assert (tally.left, tally.records) == ({"reasoning": 1}, 1)


@pytest.mark.parametrize(
    "layout",
    [
        lambda spans: [{"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}],
        lambda spans: spans[::-1],
        lambda spans: [
            {
                "name": "x",
                "context": {"trace_id": one["traceId"], "span_id": one["spanId"]},
                "start_time": f"2026-11-24T00:00:0{one['startTimeUnixNano']}.000000Z",
                "attributes": {
                    "gen_ai.operation.name": "chat" if one["startTimeUnixNano"] in "14" else "execute_tool",
                    **{pair["key"]: plain(pair["value"]) for pair in one["attributes"]},
                },
            }
            for one in spans
        ],
    ],
    ids=["one export", "another order", "console exporter"],
)
def test_every_way_to_write_spans_gives_the_same_row(layout: Any, tmp_path: Path) -> None:
    [plainly], _ = imported(tmp_path, *AGENT)
    [row], _ = imported(tmp_path, *layout(AGENT))
    assert row == plainly


def plain(value: dict[str, Any]) -> Any:
    """What OTLP JSON wrote; structures are JSON text, because the SDK takes no others."""
    if "stringValue" in value:
        return value["stringValue"]
    return json.dumps(inner(value))


def inner(value: dict[str, Any]) -> Any:
    if "kvlistValue" in value:
        return {pair["key"]: inner(pair["value"]) for pair in value["kvlistValue"]["values"]}
    if "arrayValue" in value:
        return [inner(item) for item in value["arrayValue"]["values"]]
    return int(value["intValue"]) if "intValue" in value else value["stringValue"]


def test_spans_of_tools_alone_are_calls_and_results(tmp_path: Path) -> None:
    spans = [
        span(1, "execute_tool", tool__name="add", tool__call__arguments='{"n": 1}', tool__call__result="1"),
        span(2, "execute_tool", tool__name="add", tool__call__arguments='{"n": 1}', tool__call__result="2"),
        span(3, "execute_tool", tool__name="add", tool__call__arguments='{"n": 2}'),
        span(4, "", tool__name="other"),
    ]
    [row], tally = imported(tmp_path, *spans)
    assert row.observations == ("1", "2")
    assert tally.left == {
        "result of a tool that was not traced": 1,
        "call without a result": 1,
        "span that is no call of a model or a tool": 1,
    }


def test_a_model_call_may_name_the_tool_that_it_chose(tmp_path: Path) -> None:
    spans = [
        span(1, "chat", prompt="Look.", tool__name="bash", tool__call__arguments='{"command": "ls"}'),
        span(2, "execute_tool", tool__name="bash", tool__message="a.txt"),
        span(3, "chat", tool__name="bash", tool__call__arguments='{"command": "ls"}'),
        span(4, "execute_tool", tool__name="bash", tool__message="a.txt b.txt"),
    ]
    [row], tally = imported(tmp_path, *spans, domain="swe")
    assert (row.instruction, row.observations) == ("Look.", ("a.txt", "a.txt b.txt"))
    assert not tally.left


def test_a_conversation_may_span_traces_and_a_trace_may_be_shared(tmp_path: Path) -> None:
    one = {"tool__name": "f", "tool__call__arguments": "{}", "tool__call__result": "1"}
    spans = [
        span(1, "execute_tool", "t1", conversation__id="a", **one),
        span(2, "execute_tool", "t2", conversation__id="a", **one),
        span(3, "execute_tool", "t2", conversation__id="b", **one),
    ]
    rows, _ = imported(tmp_path, *spans)
    assert [(row.id, row.turn_idx) for row in rows] == [("a", 2), ("b", 1)]


def test_a_picture_in_a_message_is_counted_once() -> None:
    picture = {"role": "user", "parts": [{"type": "blob", "content": "…"}]}
    spans = [span(n, "chat", input__messages=[picture], output__messages=[ANSWER]) for n in (1, 2)]
    [(_, record)] = grouped_spans(enumerate(spans, 1))
    tally = ImportTally()
    assert opentelemetry(record, "x", tally).events == [
        ImportedMessage("agent", "Two."),
        ImportedMessage("agent", "Two."),
    ]
    assert tally.left == {"part of type blob in a message of role user": 1}


def test_the_span_of_an_agent_is_read_where_no_model_call_is_traced() -> None:
    agent = span(1, "invoke_agent", input__messages=[ASK, CHOSEN, *SHOWN], output__messages=[ANSWER])
    [(_, record)] = grouped_spans([(1, agent)])
    events = opentelemetry(record, "x", ImportTally()).events
    assert [type(event) for event in events] == [
        ImportedMessage,
        ImportedCall,
        ImportedCall,
        ImportedResult,
        ImportedResult,
        ImportedMessage,
    ]
    [(_, both)] = grouped_spans([(1, agent), *enumerate(AGENT, 2)])
    assert len(opentelemetry(both, "x", ImportTally()).events) == len(events), "nothing is told twice"


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
messages = st.lists(
    values
    | st.fixed_dictionaries(
        {
            "role": st.sampled_from(["user", "assistant", "tool", "x"]),
            "parts": values
            | st.lists(
                st.fixed_dictionaries(
                    {"type": st.sampled_from(["text", "tool_call", "tool_call_response", "x"])},
                    optional={key: values for key in ("id", "content", "name", "arguments", "response")},
                ),
                max_size=3,
            ),
        }
    ),
    max_size=3,
)


@given(st.lists(st.dictionaries(st.sampled_from(["input__messages", "output__messages", "tool__name"]), messages)))
def test_odd_spans_are_read_or_counted(attributes: list[dict[str, Any]]) -> None:
    spans = [
        {"traceId": "t", "start_time": n, "attributes": {"gen_ai.operation.name": operation, **fields(one)}}
        for n, one in enumerate(attributes)
        for operation in ("chat", "execute_tool")
    ]
    for number, record in grouped_spans(enumerate(spans, 1)):
        assert all(
            isinstance(event, ImportedCall | ImportedResult | ImportedMessage)
            for event in opentelemetry(record, str(number), ImportTally()).events
        )


def fields(attributes: dict[str, Any]) -> dict[str, Any]:
    return {f"gen_ai.{key.replace('__', '.')}": value for key, value in attributes.items()}
