"""Reads spans of OpenTelemetry that follow its semantic conventions for generative AI.

Spans come as OTLP JSON, whole exports or one span a line, or as the console exporter of the Python SDK writes them. The
spans of a conversation, or of a trace where none is named, become one conversation in the order in which they began:
messages from the calls of models, results from messages, and from the calls of tools where no message holds them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
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
    text_of,
    tools_of,
)

_MODEL_CALLS = {"chat", "text_completion", "generate_content"}
_AGENT_CALLS = {"invoke_agent", "invoke_workflow"}
_TOOL_CALL = "execute_tool"
_ROLES: dict[str, Role] = {"system": "system", "developer": "system", "user": "user", "assistant": "agent"}
_ARGUMENTS = ("gen_ai.tool.call.arguments", "gen_ai.tool.input")
_RESULTS = ("gen_ai.tool.call.result", "gen_ai.tool.output", "gen_ai.tool.message")


def is_spans(record: Any) -> bool:
    """Whether a JSON object is a span, or an export of spans.

    >>> is_spans({"traceId": "a", "attributes": []}), is_spans({"resourceSpans": []}), is_spans({"messages": []})
    (True, True, False)
    """
    if not isinstance(record, Mapping):
        return False
    named = "traceId" in record or "trace_id" in record or isinstance(record.get("context"), Mapping)
    return "resourceSpans" in record or (named and "attributes" in record)


def grouped_spans(records: Iterable[tuple[int, Mapping[str, Any]]]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the records of a file with their numbers; the spans of each conversation become one record at the end.

    >>> span = {"traceId": "a", "spanId": "1", "attributes": []}
    >>> [(number, sorted(record)) for number, record in grouped_spans([(1, span), (2, {"messages": []}), (3, span)])]
    [(2, ['messages']), (1, ['id', 'spans'])]
    """
    conversations: dict[str, tuple[int, list[Mapping[str, Any]]]] = {}
    for number, record in records:
        if not is_spans(record):
            yield number, record
            continue
        for span in _spans(record):
            attributes = _attributes(span)
            name = str(attributes.get("gen_ai.conversation.id") or _trace(span))
            conversations.setdefault(name, (number, []))[1].append({**span, "attributes": attributes})
    for name, (number, spans) in conversations.items():
        yield number, {"id": name, "spans": spans}


def opentelemetry(record: Mapping[str, Any], name: str, tally: ImportTally) -> ImportedConversation:
    """Read the spans of one conversation, as `grouped_spans` gives them."""
    spans = sorted(record.get("spans") or (), key=_began)
    operations = {_operation(span) for span in spans}
    # A span of an agent repeats the messages of its calls of models, where these are traced too.
    models = _MODEL_CALLS if operations & _MODEL_CALLS else _AGENT_CALLS
    account = _Account(tally, _answered(spans))
    for span in spans:
        attributes = span["attributes"]
        if _operation(span) in models:
            account.model_call(attributes)
        elif _operation(span) == _TOOL_CALL:
            account.tool_call(attributes)
        elif _operation(span) not in _AGENT_CALLS:
            tally.leave("span that is no call of a model or a tool")
    return ImportedConversation(str(record.get("id") or name), account.events, tuple(account.tools.values()))


@dataclass(frozen=True, slots=True)
class _Left:
    """A part of a message that has no place in a conversation, and what it held."""

    what: str
    content: str


@dataclass(slots=True)
class _Account:
    """The events of a conversation so far."""

    tally: ImportTally
    answered: set[str]
    """The ids of calls whose results stand in messages, which hold what the agent was shown."""

    events: list[Event] = field(default_factory=list)
    tools: dict[str, dict[str, Any]] = field(default_factory=dict)
    known: Counter[Hashable] = field(default_factory=Counter)

    def model_call(self, attributes: Mapping[str, Any]) -> None:
        """Add the new messages of a call of a model; each call repeats the messages so far."""
        for tool in tools_of(_value(attributes.get("gen_ai.tool.definitions")), self.tally):
            self.tools[tool["name"]] = tool
        instructions = {"role": "system", "parts": _listed(attributes.get("gen_ai.system_instructions"))}
        told = [instructions, *_listed(attributes.get("gen_ai.input.messages"))]
        if isinstance(attributes.get("gen_ai.prompt"), str):
            told.append({"role": "user", "parts": [{"type": "text", "content": attributes["gen_ai.prompt"]}]})
        self._add_unknown(event for message in told for event in _events(message))
        choices = _listed(attributes.get("gen_ai.output.messages"))
        self.tally.leave("further choice of a model", max(0, len(choices) - 1))
        for message in choices[:1]:
            for event in _events(message):
                self._add(event)
        if "gen_ai.tool.name" in attributes:  # written by tools that trace the call that a model chose, and no messages
            arguments = arguments_of(_first(attributes, _ARGUMENTS))
            called = str(attributes.get("gen_ai.tool.call.id") or "")
            self._add(ImportedCall(called, str(attributes["gen_ai.tool.name"]), arguments))

    def tool_call(self, attributes: Mapping[str, Any]) -> None:
        """Add a call of a tool and its result, as far as messages do not hold them."""
        name, called = str(attributes.get("gen_ai.tool.name") or ""), str(attributes.get("gen_ai.tool.call.id") or "")
        arguments, result = _first(attributes, _ARGUMENTS), _first(attributes, _RESULTS)
        call = ImportedCall(called, name, arguments_of(arguments))
        known = self.known[_key(call)] if called else arguments is None or call in self.events[-1:]
        if not known:
            self._add(call)
        if result is None:
            self.tally.leave("result of a tool that was not traced", int(called not in self.answered))
        elif not called or called not in self.answered:
            self._add(ImportedResult(called, text_of(result, self.tally)))

    def _add_unknown(self, events: Iterable[Event | _Left]) -> None:
        """Add each event that happened more often in some messages than is known."""
        seen: Counter[Hashable] = Counter()
        for event in events:
            seen[_key(event)] += 1
            if seen[_key(event)] > self.known[_key(event)]:
                self._add(event)

    def _add(self, event: Event | _Left) -> None:
        self.known[_key(event)] += 1
        if isinstance(event, _Left):
            self.tally.leave(event.what)
        else:
            self.events.append(event)


def _key(event: Event | _Left) -> Hashable:
    """Return the key under which repetitions of an event are equal."""
    return (type(event), event.id) if isinstance(event, ImportedCall | ImportedResult) and event.id else event


def _events(message: Any) -> Iterator[Event | _Left]:
    """Return the events of a message in parts."""
    role = message.get("role") if isinstance(message, Mapping) else None
    for part in _listed(message.get("parts")) if role else ():
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind == "tool_call":
            yield ImportedCall(str(part.get("id") or ""), str(part.get("name")), arguments_of(part.get("arguments")))
        elif kind == "tool_call_response":
            left, result = ImportTally(), part.get("response", part.get("result"))
            yield ImportedResult(str(part.get("id") or ""), text_of(result, left))
            yield from (_Left(what, json.dumps(part)) for what in left.left.elements())
        elif kind == "text" and role == "tool":
            yield ImportedResult("", str(part.get("content")))
        elif kind == "text" and role in _ROLES:
            yield ImportedMessage(_ROLES[role], str(part.get("content")))
        else:
            what = "reasoning" if kind == "reasoning" else f"part of type {kind} in a message of role {role}"
            yield _Left(what, json.dumps(part))


def _answered(spans: Sequence[Mapping[str, Any]]) -> set[str]:
    """Return the ids of the calls whose results stand in messages."""
    messages = (message for span in spans for message in _listed(span["attributes"].get("gen_ai.input.messages")))
    events = (event for message in messages for event in _events(message))
    return {event.id for event in events if isinstance(event, ImportedResult)}


def _operation(span: Mapping[str, Any]) -> str:
    return str(span["attributes"].get("gen_ai.operation.name") or "")


def _spans(record: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Return the spans of an export, or the span that a record is."""
    if "resourceSpans" not in record:
        yield record
        return
    for resource in _listed(record["resourceSpans"]):
        for scope in _listed(resource.get("scopeSpans")):
            yield from _listed(scope.get("spans"))


def _trace(span: Mapping[str, Any]) -> str:
    context = span.get("context")
    inner = context.get("trace_id") if isinstance(context, Mapping) else None
    return str(span.get("traceId") or span.get("trace_id") or inner or "")


def _began(span: Mapping[str, Any]) -> int:
    """Return the time at which a span began, in nanoseconds; 0 where none is written."""
    stamp = span.get("startTimeUnixNano", span.get("start_time_unix_nano", span.get("start_time", 0)))
    try:
        return int(stamp)
    except (TypeError, ValueError):
        pass
    try:
        return int(datetime.fromisoformat(str(stamp)).timestamp() * 1e9)
    except ValueError:
        return 0


def _attributes(span: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of a span as plain values."""
    attributes = span.get("attributes")
    if isinstance(attributes, Mapping):
        return dict(attributes)
    pairs = (pair for pair in _listed(attributes) if isinstance(pair, Mapping))
    return {str(pair.get("key")): _plain(pair.get("value")) for pair in pairs}


def _plain(value: Any) -> Any:
    """Return a value that OTLP writes with its type as a plain one.

    >>> _plain({"kvlistValue": {"values": [{"key": "n", "value": {"intValue": "3"}}]}})
    {'n': 3}
    """
    if not isinstance(value, Mapping) or len(value) != 1:
        return value
    [(kind, inner)] = value.items()
    if kind == "intValue":
        return int(inner)
    if kind == "arrayValue":
        return [_plain(item) for item in _listed(inner.get("values"))]
    if kind == "kvlistValue":
        return {str(pair.get("key")): _plain(pair.get("value")) for pair in _listed(inner.get("values"))}
    return inner


def _first(attributes: Mapping[str, Any], keys: Iterable[str]) -> Any:
    """Return the value of the first key that is there; None where there is none."""
    return next((attributes[key] for key in keys if key in attributes), None)


def _value(value: Any) -> Any:
    """Return a structured attribute, which exporters write as structure or as JSON text; None where it is neither."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return None


def _listed(value: Any) -> list[Any]:
    value = _value(value)
    return value if isinstance(value, list) else []
