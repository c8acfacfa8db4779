"""Writes parsed actions as a world model sees them, where several domains write them so."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from math import isfinite
from typing import Any


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
