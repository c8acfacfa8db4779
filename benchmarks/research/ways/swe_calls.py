"""The tool calls of a coding assistant, and what they show."""

from __future__ import annotations

import json
from typing import Any


def call(name: str, **arguments: Any) -> str:
    """Return a tool call."""
    return json.dumps({"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}, ensure_ascii=False)


def shell(command: str) -> str:
    """Return the call that runs a command."""
    return call("run_shell_command", command=command)


def text_of(observation: str) -> str:
    """Return the text of a file that was read."""
    return observation


def output_of(observation: str) -> str:
    """Return what a command printed."""
    return observation.partition("\nOutput: ")[2].partition("\nError: ")[0]
