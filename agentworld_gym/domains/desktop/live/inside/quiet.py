"""Waits until the programs of a sandbox are at rest."""

from __future__ import annotations

import os
import time
from collections.abc import Collection

_LOOK = 0.01
"""The seconds between two looks."""


def rest(quiet: float, most: float, own: Collection[int] = ()) -> bool:
    """Wait until nothing has run for a time, and return whether that came to pass.

    What computes, or waits for a processor, is not at rest: a busy machine makes the wait longer, and shows the same.

    Args:
        quiet: How many seconds nothing may have run.
        most: How many seconds are waited at most.
        own: The numbers of processes that do not count, beside this one and its parent.

    >>> import time; began = time.monotonic()
    >>> rest(0.0, 0.05) in (True, False), time.monotonic() - began < 5
    (True, True)
    """
    ignored = {1, os.getpid(), os.getppid(), *own}
    began = still = time.monotonic()
    before = _turns(ignored)
    while (now := time.monotonic()) - began < most:
        if now - still >= quiet:
            return True
        time.sleep(_LOOK)
        after = _turns(ignored)
        if after is None or after != before:
            still, before = time.monotonic(), after
    return False


def _turns(ignored: Collection[int]) -> dict[str, str] | None:
    """Return how many turns each thread has had on a processor; None while one runs or waits for its turn."""
    turns = {}
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) in ignored:
            continue
        try:
            threads = os.listdir(f"/proc/{name}/task")
        except OSError:
            continue
        for thread in threads:
            place = f"/proc/{name}/task/{thread}"
            try:
                with open(f"{place}/stat", "rb") as file:
                    if file.read().rpartition(b") ")[2][:1] in b"RD":
                        return None
                with open(f"{place}/schedstat", encoding="ascii") as file:
                    turns[thread] = file.read()
            except OSError:  # It has ended meanwhile.
                continue
    return turns
