"""Turns a conversation into turns: what the agent did, as its domain writes it, and what the world answered."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from agentworld_gym.core.domain.spec import DomainSpec
from agentworld_gym.core.registration import all_domains
from agentworld_gym.recipe.importers.conversation import (
    ImportedCall,
    ImportedConversation,
    ImportedMessage,
    ImportedResult,
    ImportTally,
)

KEYSTROKES = "bash_command"
COMPLETE = "mark_task_complete"
_SCREEN = re.compile(r"(?:New Terminal Output|Current Terminal Screen):\n")
"""The texts that Terminus writes before a screen."""

_FIRST_SCREEN = re.compile(r"\n*(?:Current terminal state:\n)?Current Terminal Screen:\n(?P<screen>.*)\Z", re.DOTALL)
"""The first screen, at the end of what Terminus asks for."""


@dataclass(frozen=True, slots=True)
class Turns:
    """The turns of a conversation.

    `answer` is what the agent said at last; None where it ended otherwise. `first` is what was shown before the first
    action. `tools` are those that the recording lists; without a list they are inferred from the calls.
    """

    instruction: str
    tools: tuple[dict[str, Any], ...]
    actions: tuple[str, ...]
    observations: tuple[str, ...]
    answer: str | None
    first: str = ""


def domain_of(conversation: ImportedConversation) -> str:
    """Return the domain that is surest that a conversation is a session of its own.

    >>> domain_of(ImportedConversation("a", [ImportedCall("1", "bash", "{}")]))
    'swe'
    >>> domain_of(ImportedConversation("b", []))
    'mcp'
    """
    claims = {name: domain.part("claim_recording") for name, domain in all_domains().items()}
    return max(
        (name for name, claim in claims.items() if claim is not None), key=lambda name: claims[name](conversation)
    )


def has_keystrokes(conversation: ImportedConversation) -> bool:
    """Whether the agent typed keys: in calls of Terminus, or, without any call, in batches that it wrote as JSON."""
    names = conversation.called()
    spoken = (
        event.text for event in conversation.events if isinstance(event, ImportedMessage) and event.role == "agent"
    )
    return KEYSTROKES in names or (not names and any(_commands(text) is not None for text in spoken))


def dialect_of(conversation: ImportedConversation, spec: DomainSpec) -> DomainSpec:
    """Return a spec in the dialect whose tools a conversation calls most; the first one where no dialect is ahead.

    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> dialect_of(ImportedConversation("a", [ImportedCall("1", "Read", "{}")]), load_spec("swe")).dialect
    'claude-code'
    """
    names = [event.name for event in conversation.events if isinstance(event, ImportedCall)]

    def count_known(dialect: DomainSpec) -> int:
        tools = {tool["name"] for tool in dialect.action.tools}
        return sum(name in tools for name in names)

    return max(spec.in_every_dialect(), key=count_known)


def turns_of(conversation: ImportedConversation, spec: DomainSpec, tally: ImportTally) -> Turns:
    """Return the turns of a conversation, and count in the tally what has no place in them."""
    events = conversation.events
    typed = "keystroke_batch" in spec.action.syntax
    pairs = _keystrokes(events, tally) if typed else _calls(events, spec, tally)
    said = [event.text for event in events if isinstance(event, ImportedMessage) and event.role == "user"]
    match = _FIRST_SCREEN.search(said[0]) if typed and said else None
    tally.leave(
        "system message", sum(isinstance(event, ImportedMessage) and event.role == "system" for event in events)
    )
    tally.leave("user message after the first", max(0, len(said) - 1))
    last = events[-1] if events else None
    answer = last.text.strip() if isinstance(last, ImportedMessage) and last.role == "agent" else None
    spoken = sum(isinstance(event, ImportedMessage) and event.role == "agent" for event in events)
    tally.leave("text of the agent beside its calls", spoken - (answer is not None))
    return Turns(
        said[0][: match.start()] if match else said[0] if said else "",
        conversation.tools or inferred_tools(event for event in events if isinstance(event, ImportedCall)),
        tuple(action for action, _ in pairs),
        tuple(observation for _, observation in pairs),
        answer,
        "" if match is None else match["screen"].rstrip().rpartition("\n")[2],
    )


def _calls(events: Sequence[Any], spec: DomainSpec, tally: ImportTally) -> list[tuple[str, str]]:
    """Make one turn of each call, in the order in which the results came."""
    pending: dict[str, ImportedCall] = {}
    pairs = []
    for number, event in enumerate(events):
        if isinstance(event, ImportedCall):
            tally.leave("call that another one replaced", int(event.id in pending))
            pending[event.id or f"#{number}"] = event
        elif isinstance(event, ImportedResult):
            key = event.id if event.id in pending else next(iter(pending), None) if not event.id else None
            if key is None:
                tally.leave("result without a call")
                continue
            pairs.append((_write_action(pending.pop(key), spec, tally), event.text))
    tally.leave("call without a result", len(pending))
    return pairs


def _write_action(call: ImportedCall, spec: DomainSpec, tally: ImportTally) -> str:
    arguments: Any = call.arguments
    try:
        parsed = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        tally.leave("arguments that are no JSON (kept as the agent wrote them)")
        return f'{{"name": {json.dumps(call.name)}, "arguments": {call.arguments}}}'
    if not spec.action.arguments_as_string:
        arguments = parsed
    return json.dumps({"name": call.name, "arguments": arguments}, ensure_ascii=False)


def _keystrokes(events: Sequence[Any], tally: ImportTally) -> list[tuple[str, str]]:
    """Make one turn of each batch: all keys since the last screen, from calls, or from the JSON that the agent
    wrote."""
    pairs: list[tuple[str, str]] = []
    batch: list[dict[str, Any]] = []
    written: list[dict[str, Any]] | None = None
    for event in events:
        if isinstance(event, ImportedMessage) and event.role == "agent":
            written = _commands(event.text)
        elif isinstance(event, ImportedCall):
            keys = _commands(json.dumps({"commands": [_object(event.arguments)]}))
            if event.name == COMPLETE:
                written = written or []
            elif event.name == KEYSTROKES and keys:
                batch += keys
            else:
                tally.leave(f"call of {event.name} in a terminal session")
        elif isinstance(event, ImportedResult):
            keys = batch or written
            if keys is None:
                tally.leave("screen without an action")
            else:
                pairs.append((json.dumps(keys, ensure_ascii=False), _screen(event.text)))
            batch, written = [], None
    tally.leave("keystrokes without a screen", len(batch))
    return pairs


def _screen(text: str) -> str:
    """Return the screen in a result. Terminus begins it with the break before the line on which the last one ended."""
    return _SCREEN.split(text)[-1].lstrip("\n")


def _commands(text: str) -> list[dict[str, Any]] | None:
    """Return the keystrokes of a batch that is written as JSON; None where the text is no batch."""
    commands = _object(text).get("commands")
    if not isinstance(commands, list):
        return None
    keys = [entry for entry in commands if isinstance(entry, dict) and isinstance(entry.get("keystrokes"), str)]
    if len(keys) != len(commands):
        return None
    return [{"keystrokes": entry["keystrokes"], "duration": entry.get("duration", 1.0)} for entry in keys]


def _object(text: str) -> dict[str, Any]:
    """Return the JSON object in a text, also where words stand around it; None where there is none."""
    start, end = text.find("{"), text.rfind("}")
    try:
        value = json.loads(text[start : end + 1]) if start >= 0 else None
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def inferred_tools(calls: Iterable[ImportedCall]) -> tuple[dict[str, Any], ...]:
    """Infer tools from their calls: their names, and the names of their arguments.

    >>> [tool] = inferred_tools([ImportedCall("1", "lend", '{"title": "Emma"}')])
    >>> tool["name"], tool["parameters"]["properties"]
    ('lend', {'title': {}})
    """
    shapes: dict[str, dict[str, Any]] = {}
    for call in calls:
        shapes.setdefault(call.name, {}).update({key: {} for key in _object(call.arguments)})
    return tuple(
        {"name": name, "description": "", "parameters": {"type": "object", "properties": properties}}
        for name, properties in shapes.items()
    )
