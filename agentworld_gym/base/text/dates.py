"""How a result page writes a day."""

from __future__ import annotations

import re

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_ISO = re.compile(r"(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", re.ASCII)
_SHOWN = re.compile(rf"({'|'.join(_MONTHS)}) ([1-9]|[12]\d|3[01]), (\d{{4}})", re.ASCII)


def month_first(day: str) -> str:
    """Return an ISO date with its month first; any other text stays as it is.

    >>> month_first("2024-06-18"), month_first("2024-06-08"), month_first("N/A")
    ('Jun 18, 2024', 'Jun 8, 2024', 'N/A')
    """
    match = _ISO.fullmatch(day)
    return f"{_MONTHS[int(match[2]) - 1]} {int(match[3])}, {match[1]}" if match else day


def iso(day: str) -> str:
    """Return the ISO date of a day with its month first: the inverse of `month_first`.

    >>> iso("Jun 8, 2024"), iso("N/A")
    ('2024-06-08', 'N/A')
    """
    match = _SHOWN.fullmatch(day)
    return f"{match[3]}-{_MONTHS.index(match[1]) + 1:02}-{int(match[2]):02}" if match else day
