"""The files that run inside the sandbox: their text is executed there, and they are never imported on the host."""

from __future__ import annotations

from functools import cache
from importlib import resources

__all__ = ["source_of"]


@cache
def source_of(name: str) -> str:
    """Return the text of one of these files.

    Args:
        name: the name of the file without its ending, such as `harness`.

    >>> "def collect" in source_of("harness")
    True
    """
    return (resources.files(__name__) / f"{name}.py").read_text(encoding="utf-8")
