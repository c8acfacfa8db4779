"""SQLite's functions of dates and times without the clock and the time zone of the machine that runs them."""

from __future__ import annotations

import sqlite3
from functools import lru_cache, partial

from agentworld_gym.core.engines import Scalar

MOST_CHARS = 100
"""The number of characters that an argument of a function of time may have."""

_CLOCK = frozenset(("now", "subsec", "subsecond"))
"""The times for which SQLite reads the clock of the machine; as modifiers the last two only ask for fractions."""

_ZONE = frozenset(("localtime", "utc"))
"""The modifiers for which SQLite asks for the time zone of the machine."""

_FEWEST = {"date": 1, "time": 1, "datetime": 1, "julianday": 1, "unixepoch": 1, "strftime": 2}
"""The functions, with the number of arguments below which they read the clock."""


@lru_cache(maxsize=4096, typed=True)
def time_value(function: str, *arguments: Scalar) -> Scalar:
    """Return what a function of time returns in SQLite, where that follows from its arguments alone.

    It is None where SQLite returns NULL, because an argument is no time or modifier, and also where SQLite would ask
    the machine, or where an argument is longer than `MOST_CHARS`.

    >>> time_value("date", "2026-01-31T09:00:00Z", "+1 day"), time_value("strftime", "%d.%m.", "2026-01-31")
    ('2026-02-01', '31.01.')
    >>> time_value("date", "now"), time_value("date"), time_value("strftime", "%s"), time_value("time", 0, "localtime")
    (None, None, None, None)
    """
    place = _FEWEST[function] - 1
    if place >= len(arguments) or _word(arguments[place]) in _CLOCK or not all(map(_is_told, arguments)):
        return None
    marks = ", ".join("?" * len(arguments))
    value: Scalar = _calculator().execute(f"SELECT {function}({marks})", arguments).fetchone()[0]
    return value


def register_time_functions(connection: sqlite3.Connection) -> None:
    """Let the statements of a connection use `time_value` in place of SQLite's own functions of time."""
    for name in _FEWEST:
        connection.create_function(name, -1, partial(time_value, name), deterministic=True)


def _is_told(argument: object) -> bool:
    """Whether an argument says all that it stands for. SQLite reads bytes as texts."""
    if isinstance(argument, str):
        return len(argument) <= MOST_CHARS and _word(argument) not in _ZONE
    return not isinstance(argument, bytes)


def _word(argument: object) -> str:
    """Return the word that SQLite reads in an argument: a text to its first NUL."""
    return argument.partition("\0")[0].lower() if isinstance(argument, str) else ""


@lru_cache(maxsize=1)
def _calculator() -> sqlite3.Connection:
    """Return a connection to nothing, whose functions of time are SQLite's own; all threads may use it."""
    return sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
