"""Controls in a recorded turn: which of them can be seen to strike, and which nobody can foresee."""

from __future__ import annotations

import re
from collections.abc import Mapping

_MARKS: Mapping[str, Mapping[str, re.Pattern[str]]] = {
    domain: {control: re.compile(pattern) for control, pattern in marks.items()}
    for domain, marks in {
        "terminal": {
            "intermittent-errors": r"bash: fork: Resource temporarily unavailable",
            "partial-failure": r"write error: Resource temporarily unavailable",
        },
        "mcp": {
            "intermittent-errors": r'"code": ?503, "message": "Service Unavailable: upstream timeout',
            "pagination": r'"next_cursor"',
            "partial-failure": r'"errors": \[',
            "permission-denied": r'"code": ?403',
            "slow-service": r'"status": "pending", "job_id"',
        },
        "search": {
            "intermittent-errors": r"HTTP 403|HTTP 429|timed out",
            "pagination": r"Part \d+ of \d+\.",
            "truncated-output": r"\[content truncated\]",
            "slow-service": r"timed out after 30 seconds",
        },
        "swe": {
            "intermittent-errors": r"Could not resolve host",
            "partial-failure": r"test_sum_is_quick",
        },
        "web": {"intermittent-errors": r"ERR_CONNECTION_RESET|502 Bad Gateway"},
        "desktop": {"intermittent-errors": r"[Cc]onnection .*refused"},
        "android": {"intermittent-errors": r"isn't responding"},
    }.items()
}


def foreseeable(controls: Mapping[str, float], domain: str) -> bool:
    """Whether every control in force either always strikes or leaves a mark where it does.

    >>> foreseeable({"pagination": 0.3}, "mcp"), foreseeable({"stale-data": 0.3}, "mcp"), foreseeable({}, "web")
    (True, False, True)
    """
    marks = _MARKS.get(domain, {})
    return all(strength in (0.0, 1.0) or name in marks for name, strength in controls.items())


def visible_controls(controls: Mapping[str, float], domain: str, observation: str) -> frozenset[str]:
    """Return the controls in force whose mark an observation bears.

    >>> sorted(visible_controls({"pagination": 0.3}, "mcp", '{"rows": [], "next_cursor": "p2"}'))
    ['pagination']
    """
    marks = _MARKS.get(domain, {})
    return frozenset(
        name
        for name, strength in controls.items()
        if strength > 0 and name in marks and marks[name].search(observation)
    )


def any_by_chance(controls: Mapping[str, float], names: frozenset[str]) -> bool:
    """Whether some of these controls strike only at times."""
    return any(controls[name] < 1 for name in names)
