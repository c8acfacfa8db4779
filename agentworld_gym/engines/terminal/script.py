"""What is changed in a script before the sandbox runs it, so that it behaves as on a terminal at the virtual time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from agentworld_gym.engines.terminal.builtins.dates import parsed
from agentworld_gym.engines.terminal.builtins.times import formatted
from agentworld_gym.engines.terminal.syntax import Simple

ON_TERMINAL = " -C --quoting-style=shell-escape"
_PRINTF_TIME = re.compile(r"%\(([^)]*)\)T")
_DATE = re.compile(r"(-d|--date)(?:=(.*))?", re.DOTALL)
_CLOCKED = re.compile(r"SECONDS|EPOCH|\bbash\b|\bsh\b|\bsource\b|\./|(?:^|[;&|]\s*)\. ")


def prepared(script: str, commands: Sequence[Simple], now: float) -> str:
    """The script as the sandbox gets it.

    >>> from agentworld_gym.engines.terminal.syntax import parse
    >>> prepared("ls x | wc; touch -d '1 day ago' f", parse("ls x | wc; touch -d '1 day ago' f"), 86400.0)
    "ls x | wc; touch -d '@0' f"
    """
    edits: list[tuple[int, int, str]] = []
    for command in commands:
        name = command.words[0] if command.words else ""
        if name == "ls" and not command.hidden:
            end = command.spans[0][1]
            edits.append((end, end, ON_TERMINAL))
        elif name == "touch":
            edits.extend(_dated(command, now))
    for start, end, text in reversed(edits):
        script = script[:start] + text + script[end:]
    if ")T" in script:
        moment = datetime.fromtimestamp(now, UTC)
        script = _PRINTF_TIME.sub(lambda m: formatted(moment, m.group(1)).replace("%", "%%"), script)
    if "SRANDOM" in script:
        script = script.replace("SRANDOM", "RANDOM")
    return script


def clock_variables(script: str, now: float, start: float) -> str:
    """Assignments for the variables that tell the time, where a script may look at them."""
    if not _CLOCKED.search(script):
        return ""
    return f"EPOCHSECONDS={int(now)}; EPOCHREALTIME={now:.6f}; SECONDS={int(now - start)}\n"


def _dated(command: Simple, now: float) -> list[tuple[int, int, str]]:
    edits = []
    for index, word in enumerate(command.words[1:], 1):
        match = _DATE.fullmatch(word)
        if match is None:
            continue
        position = index if match.group(2) is not None else index + 1
        if position >= len(command.words):
            break
        raw = match.group(2) if position == index else command.words[position]
        text = raw[1:-1] if len(raw) > 1 and raw[0] == raw[-1] and raw[0] in "'\"" else raw
        moment = None if set(text) & set("$`\\'\"") else parsed(text, now)
        if moment is not None:
            stamp = f"'@{int(moment.timestamp())}'"
            start, end = command.spans[position]
            edits.append((start, end, f"--date={stamp}" if position == index else stamp))
    return edits
