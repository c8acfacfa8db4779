"""The cores that this process may be bound to."""

from __future__ import annotations

import os


def bindable_cores() -> list[int]:
    """Return the numbers of the cores; there are none where the system, such as macOS, binds no process to a core."""
    try:
        return sorted(os.sched_getaffinity(0))
    except AttributeError:
        return []
