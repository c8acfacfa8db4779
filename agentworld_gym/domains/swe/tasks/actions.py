"""The tool calls of a coding assistant as its tasks write them."""

from __future__ import annotations

import json
from typing import Any

from agentworld_gym.domains.swe.tasks.repository import ROOT, Mutation


def call(name: str, **arguments: Any) -> str:
    """Return a tool call.

    >>> call("list_directory", path="/repo")
    '{"name": "list_directory", "arguments": "{\\\\"path\\\\": \\\\"/repo\\\\"}"}'
    """
    return json.dumps({"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}, ensure_ascii=False)


def shell(command: str) -> str:
    """Return the call that runs a command."""
    return call("run_shell_command", command=command)


def read(path: str) -> str:
    """Return the call that reads a file."""
    return call("read_file", absolute_path=path)


def edit(path: str, old: str, new: str) -> str:
    """Return the call that replaces a piece of a file."""
    return call("edit", file_path=path, old_string=old, new_string=new)


def fix(bug: Mutation) -> str:
    """Return the call that repairs a bug."""
    return edit(f"{ROOT}/{bug.file}", bug.broken, bug.right)
