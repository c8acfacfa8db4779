"""How many processes play one session each: where there would be too many, the least recently used one is ended."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable

PROCESSES = 64
"""How many processes play one session each, where nobody says another number."""

logger = logging.getLogger(__name__)


class ProcessLimit:
    """Ends the least recently used process where there would be too many.

    Args:
        most: How many processes there may be, at least 1.

    >>> ended, limit = [], ProcessLimit(2)
    >>> for name in ("a", "b", "a", "c"):
    ...     limit.use(name, lambda name=name: ended.append(name))
    >>> ended
    ['b']
    """

    def __init__(self, most: int = PROCESSES) -> None:
        self.most = most
        self._ends: dict[Hashable, Callable[[], object]] = {}  # The least recently used process stands first.
        self._warned = False

    def use(self, process: Hashable, end: Callable[[], object]) -> None:
        """Note that a process is used, and end others where there are too many.

        Args:
            process: The process.
            end: A function that ends it.
        """
        self.forget(process)
        self._ends[process] = end
        while len(self._ends) > self.most:
            oldest = next(iter(self._ends))
            self._ends.pop(oldest)()
            self._warn()

    def forget(self, process: Hashable) -> None:
        """Note that a process has ended."""
        self._ends.pop(process, None)

    def _warn(self) -> None:
        if not self._warned:
            logger.warning(
                "more than %d sessions of worlds of AWM have a process each: the least recently used ones are ended, "
                "and make their calls again when they go on; awm={'processes': N} allows more, of about 20 MiB each",
                self.most,
            )
        self._warned = True
