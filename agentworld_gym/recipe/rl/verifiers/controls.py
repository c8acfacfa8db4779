"""Controls in a recorded turn: which of them can be seen to strike, and which nobody can foresee."""

from __future__ import annotations

import re
from collections.abc import Mapping

from agentworld_gym.core.registration import find_domain


def _marks(domain: str) -> Mapping[str, re.Pattern[str]]:
    """Return what an observation bears where a control has struck, by the control."""
    found = find_domain(domain)
    marks = {} if found is None else found.control_marks
    return {control: re.compile(pattern) for control, pattern in marks.items()}  # `re` keeps what it compiled.


def foreseeable(controls: Mapping[str, float], domain: str) -> bool:
    """Whether every control in force either always strikes or leaves a mark where it does.

    >>> foreseeable({"pagination": 0.3}, "mcp"), foreseeable({"stale-data": 0.3}, "mcp"), foreseeable({}, "web")
    (True, False, True)
    """
    marks = _marks(domain)
    return all(strength in (0.0, 1.0) or name in marks for name, strength in controls.items())


def visible_controls(controls: Mapping[str, float], domain: str, observation: str) -> frozenset[str]:
    """Return the controls in force whose mark an observation bears.

    >>> sorted(visible_controls({"pagination": 0.3}, "mcp", '{"rows": [], "next_cursor": "p2"}'))
    ['pagination']
    """
    marks = _marks(domain)
    return frozenset(
        name
        for name, strength in controls.items()
        if strength > 0 and name in marks and marks[name].search(observation)
    )


def any_by_chance(controls: Mapping[str, float], names: frozenset[str]) -> bool:
    """Whether some of these controls strike only at times."""
    return any(controls[name] < 1 for name in names)
