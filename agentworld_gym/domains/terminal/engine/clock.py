"""A virtual clock: the time that `date` prints and that files carry, whatever the time of the host is."""

from __future__ import annotations

from bisect import bisect_right
from time import time


class VirtualClock:
    """Virtual time in seconds since the epoch, which only counted work moves.

    The sandbox stamps files with the host's clock. Each time the virtual clock moves, a table notes from which host
    time on the virtual time holds, and `virtual` looks a stamp up in it. Stamps from outside the life of the table were
    set on purpose (`touch -d`) and are returned unchanged.
    """

    __slots__ = ("_hosts", "_virtuals", "now", "start")

    def __init__(self, now: float, start: float | None = None) -> None:
        self.now = now
        self.start = now if start is None else start
        self._hosts = [time() - 1e-5]
        self._virtuals = [self.start]

    def advance(self, seconds: float) -> None:
        """Move the clock on; files that are written afterwards carry the later time."""
        self.now = round(self.now + seconds, 6)

    def mark(self) -> None:
        """Note the host's time, so that files written from this moment on carry the present virtual time."""
        if self._virtuals[-1] != self.now:
            self._hosts.append(time())
            self._virtuals.append(self.now)

    def virtual(self, stamp: float) -> float:
        """Return the virtual time of a host time stamp, in whole seconds, because the sandbox sets no finer times.

        >>> clock = VirtualClock(1000.0)
        >>> clock.virtual(time()), clock.virtual(5.0)
        (1000.0, 5.0)
        """
        if stamp < self._hosts[0] or stamp > time() + 1.0:
            return float(int(stamp))
        return float(int(self._virtuals[max(bisect_right(self._hosts, stamp) - 1, 0)]))

    def restarted(self) -> VirtualClock:
        """Return a clock at the same virtual time, for a copy whose files are about to be stamped afresh."""
        return VirtualClock(self.now, self.start)
