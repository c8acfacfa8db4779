"""Blank answers of small models, which have no tags: a mark tells an answer that is empty from a completion that holds
none.

An answer of white space and backslashes alone gets a backslash before it; every other one stays as it is.

>>> as_marked(""), as_meant("\\\\"), as_marked("a.txt")
('\\\\', '', 'a.txt')
"""

from __future__ import annotations

MARK = "\\"


def as_marked(answer: str) -> str:
    """Return an answer as a small model writes it, which is never blank."""
    return MARK + answer if _is_markable(answer) else answer


def as_meant(written: str) -> str:
    """Return the answer that a small model means: the inverse of `as_marked`, defined for every text."""
    return written.removeprefix(MARK) if _is_markable(written) else written


def _is_markable(text: str) -> bool:
    return not text.replace(MARK, "").strip()
