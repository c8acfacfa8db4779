"""Waits until the programs of a sandbox are at rest."""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from typing import NamedTuple

_LOOK = 0.01
"""The seconds between two looks."""


class _Seen(NamedTuple):
    turns: dict[str, str]
    """How many turns each thread has had on a processor."""

    waited: dict[str, float]
    """How many seconds each has waited for one, while it could have run."""

    runs: bool
    """Whether one runs, or could."""


def rest(quiet: float, wait: float, most: float, own: Collection[int] = ()) -> bool:
    """Wait until nothing has run for a time, and return whether that came to pass.

    What computes, or waits for a processor, is not at rest.

    Args:
        quiet: How many seconds nothing may have run.
        wait: How many seconds are waited at most, without those in which a program had to wait for a processor, so that
            a busy machine shows what an idle one does.
        most: How many seconds are waited in any case.
        own: The numbers of processes that do not count, beside this one and its parent.

    >>> import time; began = time.monotonic()
    >>> rest(0.0, 0.05, 0.1) in (True, False), time.monotonic() - began < 5
    (True, True)
    """
    ignored = {1, os.getpid(), os.getppid(), *own}
    began = still = time.monotonic()
    first = before = _seen(ignored)
    while (now := time.monotonic()) - began < most:
        if now - still >= quiet:
            return True
        starved = max((held - first.waited.get(thread, 0.0) for thread, held in before.waited.items()), default=0.0)
        if now - began - starved > wait:
            return False
        time.sleep(_LOOK)
        after = _seen(ignored)
        if after.runs or after.turns != before.turns:
            still = time.monotonic()
        before = after
    return False


def _seen(ignored: Collection[int]) -> _Seen:
    turns, waited, runs = dict[str, str](), dict[str, float](), False
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
                    runs = runs or file.read().rpartition(b") ")[2][:1] in b"RD"
                with open(f"{place}/schedstat", encoding="ascii") as file:
                    _, delay, turns[thread] = file.read().split()
                    waited[thread] = int(delay) / 1e9
            except (OSError, ValueError):  # It has ended meanwhile.
                continue
    return _Seen(turns, waited, runs)
