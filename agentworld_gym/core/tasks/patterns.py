"""Pieces of the regular expressions in the checks of generated tasks."""

from __future__ import annotations

import re


def literal(text: str) -> str:
    r"""Return a regular expression that matches a text literally; spaces and hyphens stay readable.

    >>> literal("A-4 (copy)")
    'A-4 \\(copy\\)'
    """
    return re.escape(text).replace(r"\ ", " ").replace(r"\-", "-")
