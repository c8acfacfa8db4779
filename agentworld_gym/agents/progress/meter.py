"""How far some work is that counts for itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Meter:
    """What `TerminalProgress` shows of work that counts for itself.

    >>> meter = Meter(total=200, unit="sessions")
    >>> meter.reached(50)
    >>> meter.share, meter.place
    (0.25, '50 of 200 sessions')
    """

    total: int = 0
    """How much there is to do."""

    unit: str = ""
    """The word for what is counted."""

    share: float = 0.0
    """How much is done, from 0 to 1."""

    place: str = ""
    """Where the work is, in a few words."""

    figures: str = ""
    """What it came to so far, in a line."""

    def reached(self, done: int) -> None:
        """Take over a count."""
        self.share = done / self.total if self.total else 1.0
        self.place = f"{done:,} of {self.total:,} {self.unit}"
