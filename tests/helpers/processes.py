"""Programs that run beside a test."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def background(command: list[str], env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """A process in a group of its own."""
    return subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_until(reached: Callable[[], bool], seconds: float = 60) -> None:
    """Wait for something, and fail if it takes too long."""
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end
        time.sleep(0.05)


def lives(group: int) -> bool:
    """Whether any process of a group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
