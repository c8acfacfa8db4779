"""`sleep` and `date`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from bashkit import BuiltinContext, BuiltinResult

from agentworld_gym.domains.terminal.engine.builtins.common import CommandUsageError, FileTree, hint, options, width_of
from agentworld_gym.domains.terminal.engine.builtins.date_parsing import parsed
from agentworld_gym.domains.terminal.engine.context import ShellContext

_DURATION = re.compile(
    r"\+?(?:(?P<hex>0x[\da-f]+)|(?P<number>(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)|inf(?:inity)?)(?P<unit>[smhd]?)",
    re.IGNORECASE,
)
"""A number of seconds, minutes, hours or days, as C reads it."""
_UNIT = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DIRECTIVE = re.compile(r"%([-_0^#:]*)(\d*)([a-zA-Z%+])")
_KNOWN = frozenset("aAbBcCdDeFgGhHIjklmMnpPrRsStTuUVwWxXyYzZ%Nq+")
_ISO = {"": "%Y-%m-%d", "date": "%Y-%m-%d", "hours": "%Y-%m-%dT%H%:z", "minutes": "%Y-%m-%dT%H:%M%:z"}
LONGEST = 366 * 86400.0
"""The longest interval, in seconds."""


def seconds_of(text: str) -> float | None:
    """Return how long an interval lasts, at most the longest one; None where it is none.

    >>> [seconds_of(text) for text in ("1.5", "2m", "1e3", "0x10", ".5s", "1e", "-1", "")]
    [1.5, 120.0, 1000.0, 16.0, 0.5, None, None, None]
    >>> seconds_of("1e9") == seconds_of("inf") == LONGEST
    True
    """
    match = _DURATION.fullmatch(text)
    if match is None:
        return None
    number = float(int(match["hex"], 16)) if match["hex"] else float(match["number"] or "inf")
    return min(number * _UNIT[match["unit"]], LONGEST)


def sleep(context: ShellContext, call: BuiltinContext) -> str | BuiltinResult:
    """`sleep`: virtual time passes, and nobody waits."""
    total = _asleep(call.argv)
    if isinstance(total, BuiltinResult):
        return total
    context.sleep(total)
    return ""


def _asleep(intervals: Sequence[str]) -> float | BuiltinResult:
    """Return how long `sleep` lasts with some arguments, or what it says of them."""
    if not intervals:
        return hint("sleep", "missing operand").result
    total = 0.0
    for interval in intervals:
        if interval[:1] == "-":
            return hint("sleep", f"invalid option -- '{interval[1:2]}'").result
        seconds = seconds_of(interval)
        if seconds is None:
            return hint("sleep", f"invalid time interval '{interval}'").result
        total += seconds
    return min(total, LONGEST)


def date(context: ShellContext, call: BuiltinContext) -> str | BuiltinResult:
    """`date`, always in UTC."""
    argv = [f"-I{word[2:]}" if word.startswith("-I") else word for word in call.argv]
    iso = next((word[2:] for word in argv if word.startswith("-I")), None)
    try:
        flags, operands = options(
            "date",
            [word for word in argv if not word.startswith("-I")],
            "d:ur:Rs:f:",
            {
                "date=": "d",
                "utc": "u",
                "universal": "u",
                "reference=": "r",
                "rfc-email": "R",
                "iso-8601": "I",
                "iso-8601=": "I",
                "rfc-3339=": "rfc",
                "set=": "s",
            },
        )
    except CommandUsageError as usage:
        return usage.result
    chosen = dict(flags)
    now = datetime.fromtimestamp(context.clock.now, UTC)
    if "s" in chosen:
        return BuiltinResult(
            now.strftime("%a %b %e %H:%M:%S UTC %Y\n"), "date: cannot set date: Operation not permitted\n", 1
        )
    if "d" in chosen:
        moment = parsed(chosen["d"], context.clock.now)
        if moment is None:
            return BuiltinResult("", f"date: invalid date '{chosen['d']}'\n", 1)
        now = moment
    if "r" in chosen:
        tree = FileTree(context, call)
        metadata = tree.target(tree.path(chosen["r"]))
        if metadata is None:
            return BuiltinResult("", f"date: {chosen['r']}: No such file or directory\n", 1)
        now = datetime.fromtimestamp(tree.modified(metadata), UTC)
    form = "%a %b %e %H:%M:%S UTC %Y"
    if "R" in chosen:
        form = "%a, %d %b %Y %H:%M:%S +0000"
    elif iso is not None or "I" in chosen:
        form = _ISO.get(iso or chosen.get("I", ""), "%Y-%m-%dT%H:%M:%S%:z")
    elif "rfc" in chosen:
        form = "%Y-%m-%d" if chosen["rfc"] == "date" else "%Y-%m-%d %H:%M:%S%:z"
    for operand in operands:
        if not operand.startswith("+"):
            return BuiltinResult("", f"date: invalid date '{operand}'\n", 1)
        form = operand[1:]
    try:
        return formatted(now, form) + "\n"
    except CommandUsageError as usage:
        return usage.result


def formatted(moment: datetime, form: str) -> str:
    """Format a moment as `date +FORMAT` does.

    Raises:
        Usage: A field is too wide.

    >>> formatted(datetime(2024, 3, 1, 9, 5, tzinfo=UTC), "%F %-H:%M %j %s %N %Q")
    '2024-03-01 9:05 061 1709283900 000000000 %Q'
    """

    def directive(match: re.Match[str]) -> str:
        flags, digits, letter = match.groups()
        width = width_of("date", digits)
        if letter not in _KNOWN:
            return match.group()
        if letter == "s":
            return str(int(moment.timestamp()))
        if letter == "N":
            nanoseconds = f"{moment.microsecond * 1000:09d}"
            return nanoseconds[:width] if width else nanoseconds
        if letter == "q":
            return str((moment.month - 1) // 3 + 1)
        if letter == "z":
            return "+00:00" if ":" in flags else "+0000"
        text = "UTC" if letter == "Z" else moment.strftime(f"%{flags.replace(':', '')}{letter}")
        return text.rjust(width, "0" if text.isdigit() else " ") if width else text

    return _DIRECTIVE.sub(directive, form)


COMMANDS = {"sleep": sleep, "date": date}
