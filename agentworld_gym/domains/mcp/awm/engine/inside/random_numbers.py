"""Where random numbers come from: a sequence of the session's seed and its count of actions."""

from __future__ import annotations

import os
import random
import uuid
from typing import Any


class RandomNumbers:
    """The source of every random number in this process.

    >>> chance = RandomNumbers()
    >>> chance.set(7, 3)
    >>> one = chance.bytes(4)
    >>> chance.set(7, 3)
    >>> chance.bytes(4) == one
    True
    """

    def __init__(self) -> None:
        self._random = random.Random(0)
        self.drawn_by_module = True
        """Whether somebody may draw from the module `random`, so that it has to be set for each action."""
        self.set(0, 0)

    def set(self, seed: int, steps: int) -> None:
        """Begin the sequence of an action.

        Args:
            seed: The seed of the session.
            steps: How many actions came before.
        """
        self._sequence: str | None = f"{seed}/{steps}"
        if self.drawn_by_module:
            random.seed(self._bits(64))
        self.seen = False
        """Whether anything was drawn from here since."""
        setattr(uuid, "_last_timestamp", None)  # noqa: B010  (the stubs do not know it)

    def _bits(self, count: int) -> int:
        if self._sequence is not None:  # To begin a sequence takes longer than most actions take to draw nothing.
            self._random.seed(self._sequence)
            self._sequence = None
        return self._random.getrandbits(count)

    def bytes(self, count: int) -> bytes:
        """Return some random bytes."""
        self.seen = True
        return self._bits(8 * count).to_bytes(count, "little") if count else b""

    def integer(self) -> int:
        """Return a random integer of SQLite."""
        self.seen = True
        return self._bits(64) - 2**63

    def install(self) -> None:
        """Let `os.urandom`, and with it `uuid` and `secrets`, draw from here."""
        modules: dict[str, Any] = {"os": os, "random": random, "uuid": uuid}
        for module, name, value in (
            ("os", "urandom", self.bytes),
            ("random", "_urandom", self.bytes),
            ("uuid", "_generate_time_safe", None),
            ("uuid", "_node", 0x020000000001),
        ):
            setattr(modules[module], name, value)
