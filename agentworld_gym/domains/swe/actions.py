"""The calls of Claude Code's tools as calls of the CLI's, which an action of the domain `swe` holds, and back.

`canonical` and `in_claude_code` are inverse to each other on every call that Claude Code can write. A call of the CLI
that Claude Code has no tool for becomes a command of its shell.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

from agentworld_gym.core.actions.syntaxes import ActionSyntax, tool_call
from agentworld_gym.core.actions.toolset import Toolset


class _Tool(NamedTuple):
    name: str
    """The name in the CLI."""
    renamed: Mapping[str, str] = {}
    """The names of arguments in the CLI, by those in Claude Code."""


_TOOLS: Mapping[str, _Tool] = {
    "Bash": _Tool("run_shell_command", {"run_in_background": "is_background"}),
    "Edit": _Tool("edit"),
    "Glob": _Tool("glob"),
    "Grep": _Tool("search_file_content", {"glob": "include", "-i": "ignore_case", "-n": "line_numbers"}),
    "Read": _Tool("read_file", {"file_path": "absolute_path"}),
    "TodoWrite": _Tool("todo_write"),
    "Write": _Tool("write_file"),
}
_NAMES = {tool.name: name for name, tool in _TOOLS.items()}
_BACK = {name: {new: old for old, new in tool.renamed.items()} for name, tool in _TOOLS.items()}


def canonical(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call of Claude Code as the CLI would make it; one that the CLI lacks stays as it is.

    >>> canonical({"name": "Read", "arguments": {"file_path": "/repo/a.py", "offset": 41}})
    {'name': 'read_file', 'arguments': {'absolute_path': '/repo/a.py', 'offset': 40}}
    """
    name, arguments = call["name"], call["arguments"]
    tool = _TOOLS.get(name)
    if tool is None:
        return {"name": name, "arguments": arguments}
    arguments = {tool.renamed.get(key, key): value for key, value in arguments.items()}
    if name == "Read" and isinstance(arguments.get("offset"), int):
        arguments["offset"] -= 1  # Claude Code counts lines from 1, and the CLI from 0.
    if name == "Grep" and "output_mode" not in arguments:
        arguments["output_mode"] = None  # The CLI shows lines where nothing is said, and Claude Code names of files.
    return {"name": tool.name, "arguments": arguments}


def in_claude_code(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call of the CLI as Claude Code would make it.

    >>> in_claude_code({"name": "list_directory", "arguments": {"path": "/repo"}})
    {'name': 'Bash', 'arguments': {'command': 'ls /repo'}}
    """
    arguments = dict(call["arguments"])
    match call["name"], arguments:
        case "list_directory", {"path": str(path)}:
            ignored = "".join(f" -I {shlex.quote(str(pattern))}" for pattern in arguments.get("ignore") or ())
            return _bash(f"ls{ignored} {shlex.quote(path)}")
        case "read_many_files", {"paths": [*paths]}:
            return _bash(f"cat {' '.join(map(str, paths))}")
        case "read_file", {"offset": int(offset)}:
            arguments["offset"] = offset + 1
        case "edit", {"expected_replacements": int(count)}:
            del arguments["expected_replacements"]
            arguments |= {"replace_all": True} if count > 1 else {}
        case "run_shell_command", {"command": str(command), "directory": str(directory)}:
            del arguments["directory"]
            arguments["command"] = f"cd {shlex.quote(directory)} && {command}"
        case "search_file_content", {"output_mode": None}:
            del arguments["output_mode"]
        case "search_file_content", _ if "output_mode" not in arguments:
            arguments |= {"output_mode": "content", "line_numbers": True}
        case "todo_write", {"todos": [*todos]}:
            arguments["todos"] = [_todo(todo) if isinstance(todo, dict) else todo for todo in todos]
    name = _NAMES.get(call["name"], call["name"])
    back = _BACK.get(name, {})
    return {"name": name, "arguments": {back.get(key, key): value for key, value in arguments.items()}}


def _bash(command: str) -> dict[str, Any]:
    return {"name": "Bash", "arguments": {"command": command}}


def _todo(todo: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry of the to-do list as Claude Code writes it; one that it wrote itself stays as it is."""
    if "id" not in todo or "activeForm" in todo:
        return dict(todo)
    return {"content": todo.get("content"), "status": todo.get("status"), "activeForm": todo.get("content")}


def read(text: str, tools: Toolset) -> dict[str, Any] | None:
    """Read a call of a tool of Claude Code as the call of the CLI that it stands for."""
    call = tool_call(text, tools)
    return None if call is None else canonical(call)


SYNTAX = ActionSyntax(read, 'a tool call {"name": ..., "arguments": {...}}', show_call=in_claude_code, calls_tools=True)
"""The syntax `claude_code_call`."""
