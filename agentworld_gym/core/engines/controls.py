"""The faults that are in force in a grounded world, and when each of them strikes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

_SCALE = 2**64
_SUSPENDED: ContextVar[bool] = ContextVar("agentworld_gym_controls_suspended", default=False)


@contextmanager
def suspended() -> Iterator[None]:
    """Let no control strike inside this block, in this thread, so that success is probed in an undisturbed world.

    >>> with suspended():
    ...     Controls({"pagination": 1.0}).strikes("pagination", 1)
    False
    """
    token = _SUSPENDED.set(True)
    try:
        yield
    finally:
        _SUSPENDED.reset(token)


@dataclass(frozen=True)
class Controls:
    """Faults by name, each with a strength from 0 to 1, and one seed for their random draws.

    A draw depends on the seed, the control and a key alone. A fork therefore needs no copy of a generator's state. An
    engine makes the key from what the draw is about: the number of the call, the name of the tool, the id of the row.

    >>> controls = Controls({"intermittent-errors": 0.5}, seed=3)
    >>> [controls.strikes("intermittent-errors", call) for call in range(6)]
    [False, False, True, False, True, False]
    >>> controls.strikes("pagination", 1), bool(controls), bool(Controls())
    (False, True, False)
    """

    strengths: Mapping[str, float] = field(default_factory=dict)
    """The strength of each control, from 0 to 1, by its name."""
    seed: int = 0
    """The seed of all draws."""

    def __bool__(self) -> bool:
        return any(self.strength(name) > 0 for name in self.strengths)

    def strength(self, name: str) -> float:
        """Return the strength of a control; it is 0 where the control is not in force or all controls are suspended."""
        return 0.0 if _SUSPENDED.get() else self.strengths.get(name, 0.0)

    def strikes(self, name: str, *key: object) -> bool:
        """Return whether a control strikes on this occasion; its strength is the share of those on which it does."""
        strength = self.strength(name)
        return strength > 0 and self.draw(name, *key) < strength

    def draw(self, name: str, *key: object) -> float:
        """Draw a number from 0 to below 1; equal keys give equal numbers."""
        text = "\x1f".join([str(self.seed), name, *map(str, key)])
        return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()) / _SCALE
