"""The first process of a bubblewrap sandbox, and the filters of system calls that it sets.

This folder is laid into sandboxes whole, so its modules import the standard library alone.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

__all__ = ["launcher_source"]


@cache
def launcher_source() -> str:
    """Return the program of the first process, for `python -c`.

    >>> "def main" in launcher_source()
    True
    """
    return (resources.files(__name__) / "launcher.py").read_text(encoding="utf-8")
