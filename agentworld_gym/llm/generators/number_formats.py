"""The speed at which this machine multiplies matrices, by number format."""

from __future__ import annotations

import math
import time
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    import torch

NumberFormat = Literal["float32", "bfloat16"]

SIDE = 512
"""The number of rows and columns of the matrices that are multiplied on a CPU."""

SIDE_BESIDES = 4096
"""The number of rows and columns on any other device, which smaller matrices would not keep busy."""

SECONDS = 0.1
"""How long each format is measured, in seconds; at least one product is measured."""

CLEARLY = 1.2
"""The factor from which a format counts as faster than another, so that a busy machine does not change the choice."""


class Speeds(NamedTuple):
    """The floating-point operations a second in products of matrices, by number format.

    >>> emulated, native = Speeds(36e9, 0.9e9), Speeds(165e9, 1240e9)
    >>> emulated.best, native.best
    ('float32', 'bfloat16')
    >>> Speeds(100e9, 110e9).best, Speeds(100e9, 110e9).prefers("float32")
    ('float32', False)
    """

    float32: float
    """The operations a second in `float32`."""

    bfloat16: float
    """The operations a second in `bfloat16`."""

    def prefers(self, name: NumberFormat) -> bool:
        """Return whether a format is clearly the faster one."""
        other = self.bfloat16 if name == "float32" else self.float32
        return bool(getattr(self, name) >= CLEARLY * other)

    @property
    def best(self) -> NumberFormat:
        """The format to compute in: `bfloat16` only where it is clearly faster, for it has half the digits."""
        return "bfloat16" if self.prefers("bfloat16") else "float32"

    def __str__(self) -> str:
        return f"{self.float32 / 1e9:,.1f} GFLOPS in float32, {self.bfloat16 / 1e9:,.1f} in bfloat16"


def speeds(device: str) -> Speeds:
    """Measure how fast a device multiplies matrices with as many threads as torch has; a process measures it once.

    Args:
        device: The device as torch names it, such as `cpu` or `cuda:0`.

    >>> measured = speeds("cpu")
    >>> measured.float32 > 0 and measured.bfloat16 > 0
    True
    """
    import torch

    return _measured(device, torch.get_num_threads())


@cache
def _measured(device: str, threads: int) -> Speeds:
    """Return the speeds of a device; those of a CPU depend on the number of threads."""
    import torch

    return Speeds(_speed(torch.device(device), torch.float32), _speed(torch.device(device), torch.bfloat16))


def _speed(device: torch.device, kind: torch.dtype) -> float:
    """Return the speed of the fastest of several products: the other work of the machine slowed it down least."""
    import torch

    side = SIDE if device.type == "cpu" else SIDE_BESIDES
    factor = torch.ones(side, side, device=device, dtype=kind)
    result = factor @ factor  # The first product also loads what the others use.
    best, begun = math.inf, time.perf_counter()
    while best == math.inf or time.perf_counter() - begun < SECONDS:
        instant = time.perf_counter()
        torch.mm(factor, factor, out=result)
        if device.type != "cpu":
            torch.accelerator.synchronize(device)
        best = min(best, time.perf_counter() - instant)
    return 2.0 * side**3 / best
