"""What worker processes do in tests; they import this module and nothing else of the tests."""

from __future__ import annotations

import os
import signal
import time

from agentworld_gym.base.errors import SpecError


def killed(numbers: list[int]) -> list[int]:
    """End as if the machine had no memory left."""
    os.kill(os.getpid(), signal.SIGKILL)
    return numbers


def refusing(numbers: list[int]) -> list[int]:
    """Find a mistake."""
    raise SpecError("one.yaml", "key", numbers, "fewer")


def pids(numbers: list[int]) -> list[int]:
    """Tell who works."""
    return [os.getpid()]


def slow_when_even(numbers: list[int]) -> list[int]:
    """Let others overtake."""
    time.sleep(0.05 * (1 - numbers[0] % 2))
    return numbers
