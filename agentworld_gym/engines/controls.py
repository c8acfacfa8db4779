"""Perturbations of a grounded world: which are in force, and when they strike."""

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
    """In this block no control strikes, in this thread: success is probed in an undisturbed world.

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
    """Perturbations by name with their strengths from 0 to 1, and one seed for their random draws.

    A draw depends on the seed, the control and a key alone, so that a fork needs no copy of a generator's state: an
    engine makes the key of what the draw is about (the number of the call, the name of the tool, the id of the row).

    >>> controls = Controls({"intermittent-errors": 0.5}, seed=3)
    >>> [controls.strikes("intermittent-errors", call) for call in range(6)]
    [False, False, True, False, True, False]
    >>> controls.strikes("pagination", 1), bool(controls), bool(Controls())
    (False, True, False)
    """

    strengths: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0

    def __bool__(self) -> bool:
        return any(self.strength(name) > 0 for name in self.strengths)

    def strength(self, name: str) -> float:
        """The strength of a control; 0 where it is not in force, or suspended."""
        return 0.0 if _SUSPENDED.get() else self.strengths.get(name, 0.0)

    def strikes(self, name: str, *key: object) -> bool:
        """Whether a control strikes at this occasion; its strength is the share of occasions at which it does."""
        strength = self.strength(name)
        return strength > 0 and self.draw(name, *key) < strength

    def draw(self, name: str, *key: object) -> float:
        """A number from 0 to below 1, equal for equal keys."""
        text = "\x1f".join([str(self.seed), name, *map(str, key)])
        return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()) / _SCALE
