"""Writes parsed actions in the syntaxes of dialects, as a world model sees them: the inverse of the readers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from math import isfinite
from typing import Any

from agentworld_gym.core.actions.agent_calls import agent_code
from agentworld_gym.core.actions.browser_calls import browsergym_text, call_text
from agentworld_gym.core.domain.action_spec import Syntax


def with_json_arguments(call: Mapping[str, Any], raw: str) -> dict[str, Any]:
    """Return a call whose arguments are a JSON text.

    It is the text that the agent wrote, blanks and escapes included, where that says the same.

    Args:
        call: The call as the dialect writes it, with its arguments as an object.
        raw: What the agent wrote.

    >>> call = {"name": "glob", "arguments": {"pattern": "*.py"}}
    >>> with_json_arguments(call, json.dumps({"name": "glob", "arguments": '{"pattern":"*.py"}'}))
    {'name': 'glob', 'arguments': '{"pattern":"*.py"}'}
    >>> with_json_arguments(call, json.dumps(call))
    {'name': 'glob', 'arguments': '{"pattern": "*.py"}'}
    """
    arguments = call["arguments"]
    try:
        written = json.loads(raw)["arguments"]
        kept = isinstance(written, str) and json.loads(written) == arguments
    except (ValueError, RecursionError, KeyError, TypeError):
        kept = False
    return {**call, "arguments": written if kept else json.dumps(arguments, ensure_ascii=False)}


def keystroke_text(batch: Sequence[Mapping[str, Any]]) -> str:
    """Return a batch of keystrokes as JSON with an indent of 2, whose durations are decimals with a point.

    >>> print(keystroke_text([{"keystrokes": "", "duration": 1e-07}]))
    [
      {
        "keystrokes": "",
        "duration": 0.0000001
      }
    ]
    """
    entries = ["  {\n" + ",\n".join([_field(*item) for item in entry.items()]) + "\n  }" for entry in batch]
    return "[\n" + ",\n".join(entries) + "\n]" if entries else "[]"


def _field(key: str, value: Any) -> str:
    """Return a field of an entry of a batch. The encoder of an indented JSON text takes several times as long."""
    if type(value) is str:
        text = _encoded(value)
    elif key == "duration" and type(value) is float and isfinite(value):
        text = repr(value)
        if "e" in text:
            text = f"{Decimal(text):f}"
            text += "" if "." in text else ".0"
    else:
        text = json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n    ")
    return f"    {_encoded(key)}: {text}"


_encoded = json.JSONEncoder(ensure_ascii=False).encode

WRITERS: Mapping[Syntax, Callable[[Any], str]] = {
    "agent_code": agent_code,
    "keystroke_batch": keystroke_text,
    "playwright_call": call_text,
    "browsergym_call": browsergym_text,
}
"""The writer of each syntax that needs one, beside those of `DomainSyntax`. An action of any other syntax is shown as
JSON or as it was written."""
