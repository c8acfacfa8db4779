"""Parses Python source without reading any file of the host."""

from __future__ import annotations

import ast
import warnings

NO_FILE = "\ud800"
"""A name that no file can have. CPython would open a file of the given name to quote the line of a syntax error."""


def tree(source: str) -> ast.Module:
    """Return the syntax tree of a program.

    Warnings about the program are dropped, because Python would look for its file to print one.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: `ast.parse` raises it.

    >>> len(tree("x = 1").body)
    1
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source, NO_FILE)
