"""How episodes in worlds of AWM begin: at which time, and with which rows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from agentworld_gym.domains.mcp.awm.engine.inside.clock import START


class Beginning(NamedTuple):
    """How episodes begin.

    >>> Beginning().now
    '2026-01-01T09:00:00Z'
    """

    moment: int = START
    """The time of the first action, in seconds since 1970."""

    as_in_awm: bool = False
    """Whether the database is made as AWM's own reset makes it, and verifiers compare with how it was before the server
    started. Otherwise statements are run one by one, those with a quote escaped as in other languages too, and what the
    code writes when it is loaded was there from the start."""

    @property
    def now(self) -> str:
        """The time of the first action as a text."""
        return datetime.fromtimestamp(self.moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def moment_of(text: str) -> int:
    """Return the seconds since 1970 of a time that is written with its zone.

    >>> moment_of("2026-01-01T10:00:00+01:00") == START
    True

    Raises:
        ValueError: It is no such time.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text} has no time zone")
    return int(moment.timestamp())
