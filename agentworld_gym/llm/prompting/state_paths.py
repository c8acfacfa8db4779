"""The paths of the state form, which name the places of a structured state.

A path names keys and entries, parted by `/`: an entry with an `id` by that, any other by its index. `.` begins a path
at the place where the agent is, and `..` is the list that holds this place. In keys `~1` is a slash, `~0` a tilde, and
`~s` a blank.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Path = tuple[str | int, ...]

DEEPEST = 24
"""The largest number of steps of a path, and of brackets inside each other in a value."""

_ESCAPES = (("~", "~0"), ("/", "~1"), (" ", "~s"))


def at(state: Any, path: Path) -> Any:
    """Return the value at a path.

    Raises:
        LookupError, TypeError, ValueError: There is none.
    """
    for step in path:
        state = state[key_of(state, step)]
    return state


def key_of(holder: Any, step: str | int) -> Any:
    """Return the key or index that a step of a path names in what holds it.

    Raises:
        LookupError, TypeError, ValueError: There is nothing of that name.
    """
    if isinstance(holder, list):
        if holder and are_rows(holder):
            return [str(row["id"]) for row in holder].index(str(step))
        number = int(step)
        if not 0 <= number < len(holder):
            raise LookupError(f"no entry {step}")
        return number
    if not isinstance(holder, dict) or step not in holder:
        raise LookupError(f"nothing at {step!r}")
    return step


def read_path(text: str, place: Path) -> Path:
    """Return the path that a text names.

    Raises:
        ValueError: It has too many steps.
    """
    if text == "..":
        return place[:-1]
    start: Path = ()
    if text.startswith("."):
        start, text = place, text[1:]
    steps = text.split("/") if text else []
    if len(steps) > DEEPEST:
        raise ValueError(f"a path has at most {DEEPEST} steps")
    for plain, sign in reversed(_ESCAPES):
        steps = [step.replace(sign, plain) for step in steps]
    return (*start, *steps)


def escaped(step: str | int) -> str:
    """Return a step of a path as it is written.

    >>> escaped("files/my notes")
    'files~1my~snotes'
    """
    text = str(step)
    for plain, sign in _ESCAPES:
        text = text.replace(plain, sign)
    return text


def joined(path: Path) -> str:
    """Return a path as it is written.

    >>> joined(("tabs", 0, "my notes"))
    'tabs/0/my~snotes'
    """
    return "/".join(map(escaped, path))


def are_rows(entries: Sequence[Any]) -> bool:
    """Whether all entries have ids of their own."""
    ids = [entry.get("id") if isinstance(entry, Mapping) else None for entry in entries]
    return None not in ids and len({str(one) for one in ids}) == len(ids)
