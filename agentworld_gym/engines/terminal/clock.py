"""Virtual time: what `date` tells and what file times mean, whatever the time of the host."""

from __future__ import annotations

from bisect import bisect_right
from time import time


class Clock:
    """Seconds since the epoch, moved by counted work only, with a table from host time stamps to virtual ones.

    The sandbox stamps files with the host's clock. Each time the virtual clock moves, the table notes from which host
    time on that virtual time holds; `virtual` looks a stamp up. Stamps from outside the life of the table were set on
    purpose (`touch -d`) and mean what they say.
    """

    __slots__ = ("_hosts", "_virtuals", "now", "start")

    def __init__(self, now: float, start: float | None = None) -> None:
        self.now = now
        self.start = now if start is None else start
        self._hosts = [time() - 1e-5]
        self._virtuals = [self.start]

    def advance(self, seconds: float) -> None:
        """Move on; files written from here on carry the later time."""
        self.now = round(self.now + seconds, 6)

    def mark(self) -> None:
        """Files written from here on carry the present virtual time."""
        if self._virtuals[-1] != self.now:
            self._hosts.append(time())
            self._virtuals.append(self.now)

    def virtual(self, stamp: float) -> float:
        """The virtual time of a host time stamp, in whole seconds, for the sandbox sets no finer ones.

        >>> clock = Clock(1000.0)
        >>> clock.virtual(time()), clock.virtual(5.0)
        (1000.0, 5.0)
        """
        if stamp < self._hosts[0] or stamp > time() + 1.0:
            return float(int(stamp))
        return float(int(self._virtuals[max(bisect_right(self._hosts, stamp) - 1, 0)]))

    def restarted(self) -> Clock:
        """A clock at the same virtual time for a copy whose files are about to be stamped afresh."""
        return Clock(self.now, self.start)
