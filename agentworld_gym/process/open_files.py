"""How many files this process may have open: the soft limit is raised where more are needed and the hard one allows."""

from __future__ import annotations

import os
import sys

from agentworld_gym.errors import AgentWorldError

SPARE = 128
"""How many files are left to everything else in the process."""


class TooManyFiles(AgentWorldError):
    """The limit of open files is reached, and cannot be raised by this process."""


def allowed_files(wanted: int) -> int:
    """How many files may be open, after raising the soft limit to `wanted` where the hard one allows that.

    >>> allowed_files(0) > 0
    True
    """
    try:
        import resource
    except ImportError:  # not on this system
        return sys.maxsize
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    if soft == unlimited or wanted <= soft:
        return sys.maxsize if soft == unlimited else soft
    raised = wanted if hard == unlimited else min(wanted, hard)
    if raised <= soft:
        return soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
    except (ValueError, OSError):  # some systems have a further limit of their own
        return soft
    return raised


def need_files(count: int, what: str) -> None:
    """See that so many more files can be opened.

    Args:
        count: how many.
        what: needs them, for the error.

    Raises:
        TooManyFiles: they cannot, even after the soft limit was raised as far as it goes.
    """
    used = _used()
    needed = used + count + SPARE
    allowed = allowed_files(0)
    if allowed < needed:  # far at once, since each shell asks
        allowed = allowed_files(max(needed, 2 * allowed))
    if allowed < needed:
        raise TooManyFiles(
            f"{what} needs {count} open files, {used} are open, and the limit is {allowed} (ulimit -n): raise the hard "
            "limit, or have fewer at a time"
        )


def _used() -> int:
    """About how many files are open: descriptors are given out from the lowest. No file is opened to tell."""
    try:
        ends = os.pipe()
    except OSError:
        return allowed_files(0)
    for end in ends:
        os.close(end)
    return min(ends)
