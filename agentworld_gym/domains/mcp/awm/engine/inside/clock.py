"""The clock of a session: it starts at a fixed moment and goes on by a second an action, so that runs are equal.

Python's `datetime` cannot be changed, and a class in its place would not be the one that libraries look for. The code
of a world is therefore rewritten: where it takes `now`, `utcnow` or `today` of something, it gets ours if that is a
class of dates.
"""

from __future__ import annotations

import ast
import asyncio
import datetime
import threading
import time
from collections.abc import Callable
from typing import Any

START = 1767258000
"""The moment of the first action where nobody says another one, 2026-01-01T09:00:00Z, in seconds since 1970."""

TICK = 1e-6
"""The seconds from one look at a date to the next."""

NAMES = frozenset({"now", "utcnow", "today"})
HOOK = "__clock_member__"
"""The name under which rewritten code finds `SessionClock.member`."""


class SessionClock:
    """The clock of the session that acts.

    >>> clock = SessionClock()
    >>> clock.set(2)
    >>> clock.member(datetime.datetime, "utcnow")()
    datetime.datetime(2026, 1, 1, 9, 0, 2, 1)
    """

    def __init__(self) -> None:
        self.of_machine, self.wait = time.monotonic, time.sleep
        self.start = START
        """The moment of the first action, in seconds since 1970."""
        self.set(0)

    def set(self, steps: int) -> None:
        """Set the clock to the moment of an action.

        Args:
            steps: How many actions came before.
        """
        self._moment, self._ticks = float(self.start + steps), 0
        self.seen = False
        """Whether a date or a function of SQL looked at the clock since."""

    def seconds(self) -> float:
        """Return the seconds since 1970. Libraries look as often as they like, so that this does not move the clock."""
        return self._moment + self._ticks * TICK

    def look(self) -> float:
        """Return the seconds since 1970, as the code of the world sees them; every look moves the clock by a tick."""
        self.seen = True
        self._ticks += 1
        return self.seconds()

    def sleep(self, seconds: float) -> None:
        """Move the clock on, without waiting. A thread that nobody waits for has to wait: it may sleep without end."""
        if threading.current_thread().daemon:
            self.wait(seconds)
        else:
            self._moment += max(0.0, float(seconds))

    def iso(self) -> str:
        """Return the moment as SQLite reads it."""
        return datetime.datetime.fromtimestamp(self.look(), datetime.UTC).strftime("%Y-%m-%d %H:%M:%S.%f")

    def member(self, owner: Any, name: str) -> Any:
        """Return `owner.name`; for a class of dates that is a function which looks at this clock."""
        if isinstance(owner, type) and issubclass(owner, datetime.date):
            return self._reader(owner, name)
        return getattr(owner, name)

    def _reader(self, owner: Any, name: str) -> Callable[..., Any]:
        if name == "today":
            return lambda: owner.fromtimestamp(self.look())
        if name == "now":
            return lambda tz=None: owner.fromtimestamp(self.look(), tz)
        return lambda: owner.fromtimestamp(self.look(), datetime.UTC).replace(tzinfo=None)

    def install(self) -> None:
        """Let the functions of the module `time`, and `asyncio.sleep`, look at this clock."""
        gmtime, strftime, asctime = time.gmtime, time.strftime, time.asctime
        let_others_run = asyncio.sleep

        async def sleep(delay: float, result: Any = None) -> Any:
            self.sleep(delay)
            return await let_others_run(0, result)

        def broken_down(seconds: float | None = None) -> time.struct_time:
            return gmtime(self.seconds() if seconds is None else seconds)

        functions: dict[str, Any] = {
            "gmtime": broken_down,
            "localtime": broken_down,
            "ctime": lambda seconds=None: asctime(broken_down(seconds)),
            "asctime": lambda moment=None: asctime(broken_down() if moment is None else moment),
            "strftime": lambda format, moment=None: strftime(format, broken_down() if moment is None else moment),
            "sleep": self.sleep,
        }
        for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
            functions |= {name: self.seconds, f"{name}_ns": lambda: int(self.seconds() * 1e9)}
        for name, function in functions.items():
            setattr(time, name, function)
        setattr(asyncio, "sleep", sleep)  # noqa: B010  (mypy takes no assignment)

    def rewritten(self, tree: ast.Module) -> ast.Module:
        """Return code in which dates look at this clock; its namespace needs `HOOK`."""
        changed: ast.Module = _Rewriting().visit(tree)
        return ast.fix_missing_locations(changed)


class _Rewriting(ast.NodeTransformer):
    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if node.attr not in NAMES or not isinstance(node.ctx, ast.Load):
            return node
        hook = ast.Name(HOOK, ast.Load())
        return ast.copy_location(ast.Call(hook, [node.value, ast.Constant(node.attr)], []), node)
