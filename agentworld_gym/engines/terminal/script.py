"""What is changed in a script before the sandbox runs it, so that it behaves as on a terminal at the virtual time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import UUID

from agentworld_gym.engines.terminal.builtins.dates import parsed
from agentworld_gym.engines.terminal.builtins.times import formatted
from agentworld_gym.engines.terminal.context import Context
from agentworld_gym.engines.terminal.syntax import Simple

ON_TERMINAL = " -C --quoting-style=shell-escape"
_PRINTF_TIME = re.compile(r"%\(([^)]*)\)T")
_HOST = re.compile(r"/dev/u?random\b|/proc/uptime\b|/proc/sys/kernel/random/uuid\b")
_DATE = re.compile(r"(-d|--date)(?:=(.*))?", re.DOTALL)
_CLOCKED = re.compile(r"SECONDS|EPOCH|\bbash\b|\bsh\b|\bsource\b|\./|(?:^|[;&|]\s*)\. ")


def prepared(script: str, commands: Sequence[Simple], context: Context) -> str:
    """The script as the sandbox gets it.

    >>> from random import Random
    >>> from agentworld_gym.engines.terminal.clock import Clock
    >>> from agentworld_gym.engines.terminal.syntax import parse
    >>> script = "ls x | wc; touch -d '1 day ago' f"
    >>> prepared(script, parse(script), Context("dev", "box", "/home/dev", Clock(86400.0), Random(0)))
    "ls x | wc; touch -d '@0' f"
    """
    now = context.clock.now
    edits: list[tuple[int, int, str]] = []
    for command in commands:
        name = command.words[0] if command.words else ""
        if name == "ls" and not command.hidden:
            end = command.spans[0][1]
            edits.append((end, end, ON_TERMINAL))
        elif name == "history":
            edits.append((*command.spans[0], "__history"))
        elif name == "trap" and command.words[-1] in ("EXIT", "0") and len(command.words) > 2:
            edits.append((*command.spans[0], ":"))  # the sandbox would run it at the end of every line
        elif name == "touch":
            edits.extend(_dated(command, now))
        elif name in ("awk", "gawk", "mawk", "jq"):
            edits.extend(_clocked(command, now))
    for start, end, text in reversed(edits):
        script = script[:start] + text + script[end:]
    if ")T" in script:
        moment = datetime.fromtimestamp(now, UTC)
        script = _PRINTF_TIME.sub(lambda m: formatted(moment, m.group(1)).replace("%", "%%"), script)
    if "SRANDOM" in script:
        script = script.replace("SRANDOM", "RANDOM")
    if _HOST.search(script):
        script = _HOST.sub(lambda m: _stand_in(m.group(), context), script)
    return script


def _stand_in(path: str, context: Context) -> str:
    """A file with what the sandbox would take from its host: random bytes, the time since the start."""
    name = path.rpartition("/")[2]
    if name == "uptime":
        elapsed = context.clock.now - context.clock.start + 300.0
        data = f"{elapsed:.2f} {elapsed * 4:.2f}\n".encode()
    elif name == "uuid":
        data = f"{UUID(int=context.random.getrandbits(128), version=4)}\n".encode()
    else:
        data = context.random.randbytes(65_536)
    if context.files is not None:
        context.files.mkdir("/usr/share", recursive=True)
        context.files.write_file(f"/usr/share/{name}", data)
    return f"/usr/share/{name}"


def _clocked(command: Simple, now: float) -> list[tuple[int, int, str]]:
    """Programs of awk and jq that ask for the time get it."""
    edits = []
    for word, (start, end) in zip(command.words[1:], command.spans[1:], strict=True):
        changed = word
        if command.words[0] == "jq":
            changed = re.sub(r"(?<![.\w\"$])now\b(?![\"\w(])", f"{now:.6f}", word)
        else:
            for call, text in ((r"srand\(\s*\)", f"srand({int(now)})"), (r"systime\(\s*\)", str(int(now)))):
                changed = re.sub(call, text, changed)
            changed = re.sub(r"strftime\(([^(),]*)\)", rf"strftime(\1, {int(now)})", changed)
        if changed != word:
            edits.append((start, end, changed))
    return edits


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
