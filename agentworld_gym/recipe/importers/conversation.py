"""The events that recordings of other systems have in common: messages, calls of tools, and results."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["system", "user", "agent"]


@dataclass(frozen=True, slots=True)
class ImportedMessage:
    """A message of the system, the user or the agent."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class ImportedCall:
    """A call of a tool; `arguments` is what the agent wrote, which mostly is a JSON object as text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ImportedResult:
    """The result of a call, or of all calls since the last result; then `id` is empty."""

    id: str
    text: str


Event = ImportedMessage | ImportedCall | ImportedResult


@dataclass(frozen=True, slots=True)
class ImportedConversation:
    """One recorded session, in the order in which it happened. `score` is its reward, None where there is none."""

    id: str
    events: Sequence[Event]
    tools: tuple[dict[str, Any], ...] = ()
    score: float | None = None

    def called(self) -> set[str]:
        """Return the names of the tools that the agent called.

        >>> ImportedConversation("a", [ImportedCall("1", "bash", "{}")]).called()
        {'bash'}
        """
        return {event.name for event in self.events if isinstance(event, ImportedCall)}


@dataclass(slots=True)
class ImportTally:
    """What an import did: how many rows and turns it made, and what had no place in a row, by name.

    >>> tally = ImportTally()
    >>> tally.leave("reasoning", 2)
    >>> dict(tally.left)
    {'reasoning': 2}
    """

    records: int = 0
    rows: int = 0
    turns: int = 0
    left: Counter[str] = field(default_factory=Counter)

    def leave(self, what: str, count: int = 1) -> None:
        """Count something that cannot be mapped."""
        if count:
            self.left[what] += count


def text_of(content: Any, tally: ImportTally) -> str:
    """Return the text of a message or result, which may come in parts; parts without text are counted.

    >>> text_of([{"type": "text", "text": "a"}, {"type": "image_url"}], tally := ImportTally()), dict(tally.left)
    ('a', {'content of type image_url': 1})
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return json.dumps(content, ensure_ascii=False)
    texts = []
    for part in content:
        text = part if isinstance(part, str) else part.get("text") if isinstance(part, Mapping) else None
        if isinstance(text, str):
            texts.append(text)
        else:
            kind = part.get("type", "unknown") if isinstance(part, Mapping) else type(part).__name__
            tally.leave(f"content of type {kind}")
    return "\n".join(texts)


def arguments_of(value: Any) -> str:
    """Return the arguments of a call as text."""
    return value if isinstance(value, str) else json.dumps({} if value is None else value, ensure_ascii=False)


def score_of(value: Any) -> float | None:
    """Return a reward as a number; None where it is no number."""
    return float(value) if isinstance(value, int | float) else None


def tool_of(tool: Any, tally: ImportTally) -> dict[str, Any] | None:
    """Return the name, description and parameters of a tool in the flat or nested format; None for tools of other
    kinds.

    >>> tool_of({"type": "function", "function": {"name": "f", "parameters": {}}}, ImportTally())
    {'name': 'f', 'description': '', 'parameters': {}}
    """
    body = tool.get("function", tool) if isinstance(tool, Mapping) else {}
    if not isinstance(body, Mapping) or not isinstance(body.get("name"), str):
        tally.leave("tool that is no function")
        return None
    parameters = body.get("parameters")
    return {
        "name": body["name"],
        "description": body.get("description") or "",
        "parameters": parameters if isinstance(parameters, Mapping) else {},
    }


def tools_of(tools: Any, tally: ImportTally) -> tuple[dict[str, Any], ...]:
    """Return all tools of a record that are functions."""
    functions = [tool_of(tool, tally) for tool in tools or ()] if isinstance(tools, list | None) else []
    return tuple(tool for tool in functions if tool)
