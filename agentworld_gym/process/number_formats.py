"""Which number format this machine multiplies matrices in faster, and how fast that is."""

from __future__ import annotations

import math
import time
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    import torch

NumberFormat = Literal["float32", "bfloat16"]

SIDE = 512
"""Rows and columns of the matrices that are multiplied on a CPU."""

SIDE_BESIDES = 4096
"""And on any other device, which smaller ones would not fill."""

SECONDS = 0.1
"""How long each format is measured; at least one product is."""

CLEARLY = 1.2
"""A format is called faster than another from this factor on: a busy machine must not change the choice."""


class Speeds(NamedTuple):
    """Floating-point operations a second in products of matrices, by number format.

    >>> emulated, native = Speeds(36e9, 0.9e9), Speeds(165e9, 1240e9)
    >>> emulated.best, native.best
    ('float32', 'bfloat16')
    >>> Speeds(100e9, 110e9).best, Speeds(100e9, 110e9).prefers("float32")
    ('float32', False)
    """

    float32: float
    bfloat16: float

    def prefers(self, name: NumberFormat) -> bool:
        """Whether a format is clearly the faster one."""
        other = self.bfloat16 if name == "float32" else self.float32
        return bool(getattr(self, name) >= CLEARLY * other)

    @property
    def best(self) -> NumberFormat:
        """The format to compute in: `bfloat16`, of half the digits, only where it is clearly faster."""
        return "bfloat16" if self.prefers("bfloat16") else "float32"

    def __str__(self) -> str:
        return f"{self.float32 / 1e9:,.1f} GFLOPS in float32, {self.bfloat16 / 1e9:,.1f} in bfloat16"


def speeds(device: str) -> Speeds:
    """How fast a device multiplies matrices with as many threads as torch has; a process measures that once.

    Args:
        device: as torch names it, such as `cpu` or `cuda:0`.

    >>> found = speeds("cpu")
    >>> found.float32 > 0 and found.bfloat16 > 0
    True
    """
    import torch

    return _measured(device, torch.get_num_threads())


@cache
def _measured(device: str, threads: int) -> Speeds:
    """The speeds of a device; those of a CPU depend on the number of threads."""
    import torch

    return Speeds(_speed(torch.device(device), torch.float32), _speed(torch.device(device), torch.bfloat16))


def _speed(device: torch.device, kind: torch.dtype) -> float:
    """The speed of the fastest of several products, which what else the machine does has slowed down least."""
    import torch

    side = SIDE if device.type == "cpu" else SIDE_BESIDES
    factor = torch.ones(side, side, device=device, dtype=kind)
    result = factor @ factor  # the first product also loads what the others use
    best, begun = math.inf, time.perf_counter()
    while best == math.inf or time.perf_counter() - begun < SECONDS:
        instant = time.perf_counter()
        torch.mm(factor, factor, out=result)
        if device.type != "cpu":
            torch.accelerator.synchronize(device)
        best = min(best, time.perf_counter() - instant)
    return 2.0 * side**3 / best
