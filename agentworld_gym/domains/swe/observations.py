"""How the reports of a coding agent's tools are compared, also those that Claude Code shows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agentworld_gym.base.text.envelope import Envelope
from agentworld_gym.core.screens.observations import Observations, Translation

_ENVELOPE = re.compile(
    r"(?m)^(?:Command|Directory|Output|Stdout|Stderr|Error|Exit Code|Signal|Background PIDs|Process Group PGID):"
)
_LABELS = 8
"""How many labels a report of a command has."""

_NUMBERED = re.compile(r"(?m)^ *\d+[\t→]")


class CodeObservations(Observations):
    """Reports of commands, which have an envelope of labels, and files, whose lines are numbered."""

    def is_whole(self, text: str, first: str, asks: bool) -> bool:
        """Whether a report of a command has all of its labels."""
        return not text.startswith("Command:") or len(set(_ENVELOPE.findall(text))) >= _LABELS

    def has_form(self, predicted: str, truth: str, before: str) -> bool:
        """Whether the labels of the envelope are the same, or lines are numbered where they are due.

        >>> has_form = CodeObservations().has_form
        >>> has_form("     1\\ta", "     1\\tb", ""), has_form("a", "     1\\tb", "")
        (True, False)
        """
        if truth.startswith("Command:"):
            return predicted.startswith("Command:") and _ENVELOPE.findall(predicted) == _ENVELOPE.findall(truth)
        return _NUMBERED.search(predicted) is not None or _NUMBERED.match(truth) is None


_EXIT = re.compile(r"Exit code (\d{1,3})(?:\n|\Z)")
_LEFT = re.compile(r"(?<![&>])&(?![&>])")
"""The sign that leaves a command in the background."""

_SIGNALS = 128
"""From this exit status on, Claude Code does not tell a signal from a status."""


def as_report(shown: str, call: Any) -> str:
    r"""Write the answer to a shell command as the CLI reports it; what does not tell as much stays as it is.

    Claude Code leaves out the folder, a signal and the processes in the background. A command that names a folder, may
    have been ended by a signal or is left in the background is therefore unknown, and so is that of any other tool.

    >>> call = {"name": "run_shell_command", "arguments": {"command": "make"}}
    >>> print(as_report("Exit code 2\nNo rule.", call).partition("\nSignal")[0])
    Command: make
    Directory: (root)
    Output: No rule.
    Error: (none)
    Exit Code: 2
    """
    command = _command(call)
    if command is None or shown.startswith((_head(command), "<tool_use_error>")):
        return shown
    ended = _EXIT.match(shown)
    code, output = (int(ended[1]), shown[ended.end() :]) if ended else (0, shown)
    return shown if code >= _SIGNALS else Envelope(command, output=output, exit_code=code).text


def is_report(shown: str, call: Any) -> bool:
    """Whether a text is the report of a shell command as the CLI prints it."""
    command = _command(call)
    return command is not None and shown.startswith(_head(command))


def _command(call: Any) -> str | None:
    """Return the command of a call that Claude Code tells all of; None for any other call."""
    match call:
        case {"name": "run_shell_command", "arguments": {"command": str(command)} as arguments}:
            told = not (arguments.get("directory") or arguments.get("is_background")) and not _LEFT.search(command)
            return command if told else None
    return None


def _head(command: str) -> str:
    return f"Command: {command}\nDirectory: "


def _readings(translated: str, call: Any) -> tuple[str, ...]:
    return (translated,) if is_report(translated, call) else ()


CLAUDE_CODE = Translation(as_report, re.compile(r"(?!)"), _readings)
"""The dialect of Claude Code."""


READING_TOOLS = frozenset(("read_file", "read_many_files", "list_directory", "glob", "search_file_content"))
"""The tools that only read."""


def asks(action: Any, tools: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a call only reads.

    >>> asks({"name": "glob"}, ()), asks({"name": "run_shell_command"}, ())
    (True, False)
    """
    return isinstance(action, Mapping) and action.get("name") in READING_TOOLS
