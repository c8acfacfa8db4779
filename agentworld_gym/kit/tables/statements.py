"""Checks the SQL statements of data files."""

from __future__ import annotations

import re

_PATTERN = re.compile(r"\b(LIKE|GLOB)\b(?!\s*')", re.IGNORECASE)
CLOCK = (
    r"'now'|\"now\"|\bCURRENT_(?:TIME|DATE|TIMESTAMP)\b"
    r"|\b(?:date|time|datetime|julianday|unixepoch)\s*\(\s*\)|\bstrftime\s*\(\s*'[^']*'\s*\)"
)
"""A pattern of what reads the clock in SQLite: the word itself, and functions of time without an explicit time."""

_CHANGING = re.compile(rf"{CLOCK}|\brandom", re.IGNORECASE)


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
