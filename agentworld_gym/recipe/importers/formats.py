"""Readers of other systems' records: each turns one JSON object into a conversation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from agentworld_gym.recipe.importers.conversation import (
    Event,
    ImportedCall,
    ImportedConversation,
    ImportedMessage,
    ImportedResult,
    ImportTally,
    Role,
    arguments_of,
    score_of,
    text_of,
    tools_of,
)
from agentworld_gym.recipe.importers.harness import harness, is_trace
from agentworld_gym.recipe.importers.opentelemetry import opentelemetry
from agentworld_gym.recipe.importers.session_format import domain_formats

Record = Mapping[str, Any]
Reader = Callable[[Record, str, ImportTally], ImportedConversation]
"""Reads a record; it is given the id of a conversation whose record has none."""

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "agent",
    "agent": "agent",
}


def responses(record: Record, name: str, tally: ImportTally) -> ImportedConversation:
    """Read a record of OpenAI's Responses: `input` items, then `output` items of a response.

    The request stands in `responses_create_params` or at the top, the response in `response` or at the top.
    """
    request = _mapping(record.get("responses_create_params")) or record
    response = _mapping(record.get("response")) or record
    events: list[Event] = []
    if isinstance(request.get("instructions"), str):
        events.append(ImportedMessage("system", request["instructions"]))
    prompt = request.get("input")
    items = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else _list(prompt)
    for item in [*items, *_list(response.get("output"))]:
        events += _item(_mapping(item), tally)
    return ImportedConversation(
        str(record.get("id") or record.get("instance_id") or name),
        events,
        tools_of(request.get("tools"), tally),
        score_of(record.get("reward")),
    )


def chat(record: Record, name: str, tally: ImportTally) -> ImportedConversation:
    """Read OpenAI's chat messages with tool calls."""
    events: list[Event] = []
    for message in map(_mapping, _list(record.get("messages"))):
        role = message.get("role")
        if role in ("tool", "function"):
            events.append(
                ImportedResult(str(message.get("tool_call_id") or ""), text_of(message.get("content"), tally))
            )
            continue
        text = text_of(message.get("content"), tally)
        if role in _ROLES:
            events += [ImportedMessage(_ROLES[role], text)] if text or role == "user" else []
        else:
            tally.leave(f"message of role {role}")
        if message.get("reasoning") or message.get("reasoning_content"):
            tally.leave("reasoning")
        for call in map(_mapping, _list(message.get("tool_calls"))):
            function = _mapping(call.get("function")) or call
            events.append(
                ImportedCall(
                    str(call.get("id") or ""), str(function.get("name")), arguments_of(function.get("arguments"))
                )
            )
    score = score_of(record.get("reward", record.get("score")))
    tools = tools_of(record.get("tools"), tally)
    return ImportedConversation(str(record.get("id") or record.get("instance_id") or name), events, tools, score)


def atif(record: Record, name: str, tally: ImportTally) -> ImportedConversation:
    """Read Harbor's Agent Trajectory Interchange Format (`trajectory.json`)."""
    events: list[Event] = []
    for step in map(_mapping, _list(record.get("steps"))):
        source = str(step.get("source"))
        text = text_of(step.get("message"), tally)
        if source in _ROLES:
            events += [ImportedMessage(_ROLES[source], text)] if text else []
        else:
            tally.leave(f"step of source {source}")
        if step.get("reasoning_content"):
            tally.leave("reasoning")
        for call in map(_mapping, _list(step.get("tool_calls"))):
            arguments = arguments_of(call.get("arguments"))
            events.append(ImportedCall(str(call.get("tool_call_id") or ""), str(call.get("function_name")), arguments))
        for result in map(_mapping, _list(_mapping(step.get("observation")).get("results"))):
            if result.get("subagent_trajectory_ref"):
                tally.leave("trajectory of another agent")
            events.append(
                ImportedResult(str(result.get("source_call_id") or ""), text_of(result.get("content"), tally))
            )
    agent = _mapping(record.get("agent"))
    score = score_of(_mapping(record.get("extra")).get("reward", record.get("reward")))
    tools = tools_of(agent.get("tool_definitions"), tally)
    return ImportedConversation(
        str(record.get("session_id") or record.get("trajectory_id") or name), events, tools, score
    )


READERS: dict[str, Reader] = {
    "responses": responses,
    "chat": chat,
    "atif": atif,
    "opentelemetry": opentelemetry,
    "harness": harness,
}


def format_of(record: Record) -> str | None:
    """Return the name of a record's format; None for an unknown one. Only those in `READERS` hold conversations.

    >>> format_of({"messages": []}), format_of({"schema_version": "ATIF-v1.7", "steps": []}), format_of({})
    ('chat', 'atif', None)
    """
    if "system_str" in record and "prompt" in record:
        return "agentworldbench"
    for name, found in domain_formats().items():
        if found.format.is_session(record):
            return name
    if isinstance(record.get("spans"), list):
        return "opentelemetry"
    if is_trace(record):
        return "harness"
    if "steps" in record and ("agent" in record or str(record.get("schema_version", "")).startswith("ATIF")):
        return "atif"
    if "responses_create_params" in record or ("input" in record and "output" in record):
        return "responses"
    return "chat" if "messages" in record else None


def _item(item: Record, tally: ImportTally) -> Iterator[Event]:
    """Return the events of one item of Responses."""
    kind = item.get("type") or "message"
    if kind == "message":
        role = str(item.get("role"))
        if role not in _ROLES:
            tally.leave(f"message of role {role}")
            return
        text = text_of(item.get("content"), tally)
        if text:
            yield ImportedMessage(_ROLES[role], text)
    elif kind == "function_call":
        yield ImportedCall(str(item.get("call_id") or ""), str(item.get("name")), arguments_of(item.get("arguments")))
    elif kind == "function_call_output":
        yield ImportedResult(str(item.get("call_id") or ""), text_of(item.get("output"), tally))
    else:
        tally.leave(str(kind))


def _mapping(value: Any) -> Record:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
