"""Gives every program in a sandbox the same moment, the same random numbers, and sleep that takes no time.

CPython executes this file inside, before the program; it is never imported on the host. The clock begins at the same
moment in every run. It moves by the time that the program sleeps, and by a microsecond whenever it is read, so that a
duration is never zero and a loop that waits for a moment ends. Modules that are imported later (`random`, `datetime`,
`asyncio`, `uuid`) are changed through the modules on which they are built.
"""

from __future__ import annotations

import _datetime  # type: ignore[import-not-found]
import _random
import _thread
import itertools
import os
import select
import sys
import time

# Importing `typing` is slow, and most programs do without it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BEGIN = 1772442000 * 10**9
"""2026-03-02 09:00 UTC, in nanoseconds."""
TICK = 1000
TIMED_FOR_REAL = frozenset({"threading", "queue", "concurrent.futures._base", "timeit"})
"""Modules that wait for threads or measure by the host's clock; a clock that stands still would make them hang."""
WALLS = frozenset({time.CLOCK_REALTIME, *(getattr(time, name, 0) for name in ("CLOCK_TAI", "CLOCK_REALTIME_COARSE"))})

real: dict[str, Any] = {
    **vars(time),
    "datetime": _datetime.datetime,
    "Random": _random.Random,
    "epoll": getattr(select, "epoll", None),
}


class _Clock:
    """The functions of `time`, as bound methods, because a plain function in a class body would become a method."""

    def __init__(self) -> None:
        self.now = BEGIN

    def time_ns(self) -> int:
        self.now += TICK
        return self.now - TICK

    def time(self) -> float:
        return self.time_ns() / 1e9

    def monotonic_ns(self) -> int:
        frame = sys._getframe(1)
        if frame.f_globals is globals():
            frame = frame.f_back or frame
        if getattr(frame.f_globals.get("__spec__"), "name", "") in TIMED_FOR_REAL:
            return int(real["monotonic_ns"]())
        return self.time_ns() - BEGIN

    def monotonic(self) -> float:
        return self.monotonic_ns() / 1e9

    def clock_gettime_ns(self, which: int) -> int:
        real["clock_gettime_ns"](which)
        return self.time_ns() if which in WALLS else self.time_ns() - BEGIN

    def clock_gettime(self, which: int) -> float:
        return self.clock_gettime_ns(which) / 1e9

    def sleep(self, seconds: Any, /) -> None:
        # Threads are put in order by how long they sleep.
        usual = isinstance(seconds, (int, float)) and 0 < seconds < 1e9
        wake = self.now + int(seconds * 1e9) if usual else self.now
        real["sleep"](0 if usual and not _thread._count() else seconds)
        self.now = max(self.now, wake)

    def gmtime(self, seconds: float | None = None, /) -> Any:
        return real["gmtime"](self.time() if seconds is None else seconds)

    def localtime(self, seconds: float | None = None, /) -> Any:
        return real["localtime"](self.time() if seconds is None else seconds)

    def ctime(self, seconds: float | None = None, /) -> str:
        return str(real["ctime"](self.time() if seconds is None else seconds))

    def asctime(self, *moment: Any) -> str:
        return str(real["asctime"](*moment or [self.localtime()]))

    def strftime(self, form: str, *moment: Any) -> str:
        return str(real["strftime"](form, *moment or [self.localtime()]))


class _Named(type):
    """The type of `datetime`, whose own name is the dotted one that the messages of the interpreter show."""

    __name__ = property(lambda cls: type.__dict__["__name__"].__get__(cls).rpartition(".")[2])


class _Epoll:
    """The poller of `asyncio`: without threads nothing can arrive while it waits, so the clock moves instead."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self.real = real["epoll"](*args, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def poll(self, timeout: float | None = None, maxevents: int = -1) -> Any:
        waits = timeout is not None and timeout > 0
        ready = self.real.poll(0 if waits and not _thread._count() else timeout, maxevents)
        if waits and not ready:
            clock.now += int((timeout or 0) * 1e9)
        return ready


class _Seeded(_random.Random):
    """The base of `random.Random`: the first instance without a seed is that of `random` itself and has the seed 0."""

    seeds = itertools.count()

    def seed(self, a: Any = None, /) -> None:
        super().seed(next(_Seeded.seeds) if a is None else a)


class _Entropy:
    """A source of bytes in place of the kernel's."""

    def __init__(self) -> None:
        self.source = real["Random"](0)

    def urandom(self, size: int, /) -> bytes:
        return bytes(self.source.getrandbits(8 * size).to_bytes(size, "little"))

    def getrandom(self, size: int, flags: int = 0) -> bytes:
        return self.urandom(size)


clock = _Clock()


def install() -> None:
    """Install the clock, the random numbers and the poller."""
    for method in vars(_Clock):
        if method in real and not method.startswith("_"):
            setattr(time, method, getattr(clock, method))
    for method in ("perf_counter", "process_time", "thread_time"):
        setattr(time, method, clock.monotonic)
        setattr(time, f"{method}_ns", clock.monotonic_ns)
    entropy = _Entropy()
    os.urandom, os.getrandom = entropy.urandom, entropy.getrandom
    _random.Random = _Seeded  # type: ignore[misc]
    if real["epoll"]:
        select.epoll = _Epoll  # type: ignore[assignment,misc]
    # The C library's `uuid1` reads the host's clock.
    sys.modules["_uuid"] = None  # type: ignore[assignment]
    body = {
        "__module__": "datetime",
        "__qualname__": "datetime",
        "__doc__": real["datetime"].__doc__,
        "__slots__": (),
        "now": classmethod(lambda cls, tz=None: cls.fromtimestamp(clock.time(), tz)),
        "utcnow": classmethod(lambda cls: cls.utcfromtimestamp(clock.time())),
    }
    moment: Any = _Named("datetime.datetime", (real["datetime"],), body)
    moment.min, moment.max = moment(1, 1, 1), moment(9999, 12, 31, 23, 59, 59, 999999)
    _datetime.datetime = moment


if __name__ == "sitecustomize":
    install()
