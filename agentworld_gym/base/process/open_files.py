"""The number of files that this process may open: the soft limit is raised as far as the hard limit allows."""

from __future__ import annotations

import os
import sys

from agentworld_gym.base.errors import AgentWorldError

SPARE = 128
"""The number of files that are left to everything else in the process."""


class TooManyFiles(AgentWorldError):
    """The limit of open files is reached, and cannot be raised by this process."""


def allowed_files(wanted: int) -> int:
    """Return how many files may be open, after the soft limit was raised to `wanted` where the hard limit allows it.

    >>> allowed_files(0) > 0
    True
    """
    try:
        import resource
    except ImportError:  # This system has no such module.
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
    except (ValueError, OSError):  # Some systems have a further limit of their own.
        return soft
    return raised


def need_files(count: int, what: str) -> None:
    """Make sure that a number of further files can be opened.

    Args:
        count: The number of files.
        what: The name of what needs them, for the error.

    Raises:
        TooManyFiles: They cannot be opened, even after the soft limit was raised as far as it goes.
    """
    used = _used()
    needed = used + count + SPARE
    allowed = allowed_files(0)
    if allowed < needed:  # The limit is raised far at once, because each shell asks.
        allowed = allowed_files(max(needed, 2 * allowed))
    if allowed < needed:
        raise TooManyFiles(
            f"{what} needs {count} open files, {used} are open, and the limit is {allowed} (ulimit -n): raise the hard "
            "limit, or have fewer at a time"
        )


def _used() -> int:
    """Return about how many files are open: the system hands out the lowest free descriptor."""
    try:
        ends = os.pipe()
    except OSError:
        return allowed_files(0)
    for end in ends:
        os.close(end)
    return min(ends)
