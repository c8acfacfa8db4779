"""Python source as a syntax tree, without a look at the host."""

from __future__ import annotations

import ast
import warnings

NO_FILE = "\ud800"
"""A name that no file can have: for a syntax error CPython opens the named file to quote the line from it."""


def tree(source: str) -> ast.Module:
    """The syntax tree of a program. Warnings about it are dropped: to print one, Python would look for its file.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: as `ast.parse` does.

    >>> len(tree("x = 1").body)
    1
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source, NO_FILE)
