"""Checks the SQL statements of data files."""

from __future__ import annotations

import re

_PATTERN = re.compile(r"\b(LIKE|GLOB)\b(?!\s*')", re.IGNORECASE)
_CHANGING = re.compile(r"'now'|\bCURRENT_(?:TIME|DATE|TIMESTAMP)\b|\brandom", re.IGNORECASE)


def statement(sql: str) -> str:
    """Return one statement of a data file, without the semicolon at its end.

    Raises:
        ValueError: the statement searches with a pattern that is not a literal, or depends on the clock or on chance.
    """
    if _PATTERN.search(sql):
        raise ValueError("no LIKE or GLOB with a pattern that is not a literal; has(text, part) searches a text")
    if match := _CHANGING.search(sql):
        raise ValueError(f"a statement without {match.group()}; there is :now, and token(length)")
    return sql.strip().rstrip(";")
