"""How many processes there are: where there would be too many, those that were least recently used are ended.

A session whose process was ended goes on in another one, where its calls are made again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable

PROCESSES = 64
"""How many processes play one session each, where nobody says another number."""

LOADED = 64
"""How many worlds stay loaded while nobody plays them, where nobody says another number."""

WORLDS = 256
"""How many worlds have processes, played or not, where nobody says another number."""

ENDED = "those of the least recently used ones are ended, and their calls are made again when they go on"
TOLD = (
    f"more than %d sessions of worlds of AWM have a process each: {ENDED}; world_options={{'processes': N}} "
    "allows more, of about 20 MiB each"
)
"""What is logged when a session loses its process because there are too many sessions."""

TOLD_OF_WORLDS = (
    f"sessions of more than %d worlds of AWM have processes: {ENDED}; world_options={{'worlds': N}} "
    "allows more, of about 47 MiB each"
)
"""What is logged when sessions lose their process because there are too many worlds."""

logger = logging.getLogger(__name__)


class ProcessLimit:
    """Ends the processes of the least recently used owner where there would be too many owners.

    Args:
        most: How many owners of processes there may be, at least 1.
        told: What is logged as a warning when a session loses its process for the first time, with `most` in it.

    >>> ended, limit = [], ProcessLimit(2)
    >>> for name in ("a", "b", "a", "c"):
    ...     limit.use(name, lambda name=name: bool(ended.append(name)))
    >>> ended
    ['b']
    """

    def __init__(self, most: int, told: str = "") -> None:
        self.most, self._told = most, told
        self._ends: dict[Hashable, Callable[[], bool]] = {}  # The least recently used owner stands first.

    def use(self, owner: Hashable, end: Callable[[], bool]) -> None:
        """Note that an owner uses its processes, and end those of others where there are too many.

        Args:
            owner: The owner.
            end: A function that ends its processes, and returns whether a session played in one of them.
        """
        self.forget(owner)
        self._ends[owner] = end
        while len(self._ends) > self.most:
            played = self._ends.pop(next(iter(self._ends)))()
            if played and self._told:
                logger.warning(self._told, self.most)
                self._told = ""

    def forget(self, owner: Hashable) -> None:
        """Note that the processes of an owner have ended."""
        self._ends.pop(owner, None)
