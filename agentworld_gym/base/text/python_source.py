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


def single_call(source: str) -> ast.Call | None:
    """Return the call that a program consists of; None where it is something else, or no Python.

    >>> ast.unparse(single_call("pyautogui.click(1, 2)").func)
    'pyautogui.click'
    >>> single_call("pyautogui.click(1, 2); pyautogui.press('a')")
    """
    try:
        body = tree(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    match body:
        case [ast.Expr(value=ast.Call() as call)]:
            return call
    return None
