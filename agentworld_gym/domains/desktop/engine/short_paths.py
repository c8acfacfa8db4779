"""Paths and texts in few words, as a structured state writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentworld_gym.domains.desktop.engine.filesystem import HOME


def short(path: str) -> str:
    """Return a path with `~` for the home folder.

    >>> short("/home/user/Documents/a.txt"), short("/etc"), short("/home/users")
    ('~/Documents/a.txt', '/etc', '/home/users')
    """
    return "~" + path[len(HOME) :] if path == HOME or path.startswith(HOME + "/") else path


def full(path: str) -> str:
    """Return a path that was shortened: the inverse of `short`.

    >>> full("~/Documents/a.txt"), full("~"), full("/etc")
    ('/home/user/Documents/a.txt', '/home/user', '/etc')
    """
    return HOME + path[1:] if path == "~" or path.startswith("~/") else path


def within(folder: str, path: str) -> str:
    """Return the name of a path in a folder; of one elsewhere the shortened path.

    >>> within("/home/user", "/home/user/a.txt"), within("/home/user", "/tmp/a.txt")
    ('a.txt', '/tmp/a.txt')
    """
    holder, _, name = path.rpartition("/")
    return name if (holder or "/") == folder and name and not name.startswith("~") else short(path)


def joined(folder: str, name: str) -> str:
    """Return the path of a name in a folder: the inverse of `within`.

    >>> joined("/", "tmp"), joined("/home/user", "/tmp/a.txt"), joined("/home/user", "a.txt")
    ('/tmp', '/tmp/a.txt', '/home/user/a.txt')
    """
    return full(name) if name.startswith(("/", "~")) else f"{folder.rstrip('/')}/{name}"


def replacement(before: str, after: str) -> dict[str, Any]:
    r"""Return the lines that make one text of another: those from `at` on, in place of `drop` lines.

    >>> replacement("a\nb\nc", "a\nB\nb2\nc")
    {'at': 1, 'drop': 1, 'lines': ['B', 'b2']}
    """
    old, new = before.split("\n"), after.split("\n")
    most = min(len(old), len(new))
    start = next((place for place in range(most) if old[place] != new[place]), most)
    most -= start
    end = next((place for place in range(most) if old[-1 - place] != new[-1 - place]), most)
    return {"at": start, "drop": len(old) - start - end, "lines": new[start : len(new) - end]}


def replaced(before: str, change: Mapping[str, Any]) -> str:
    r"""Return the other text: the inverse of `replacement`.

    >>> replaced("a\nb\nc", {"at": 1, "drop": 1, "lines": []})
    'a\nc'
    """
    lines = before.split("\n")
    start, stop = int(change["at"]), int(change["at"]) + int(change["drop"])
    if not 0 <= start <= stop <= len(lines):
        raise ValueError(f"no lines from {start} to {stop}")
    return "\n".join([*lines[:start], *map(str, change["lines"]), *lines[stop:]])
