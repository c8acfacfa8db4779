"""An extension of Griffe that shows the doctests of docstrings as code, wherever they stand.

Griffe knows doctests in a section `Example:` only. In this package they also follow the text directly, and Markdown
would take their `>>>` for quotations.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

SESSION = re.compile(r"^([ \t]*)>>>.*?(?=\n[ \t]*\n(?![ \t]*>>>)|\Z)", re.MULTILINE | re.DOTALL)
"""A doctest: everything from a prompt to the next blank line that no other prompt follows."""


class Doctests(griffe.Extension):
    """Put doctests into fences before a docstring is parsed."""

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **kwargs: Any) -> None:
        """Rewrite the docstring of the package itself, for which no other event comes."""
        _fence(pkg)

    def on_object(self, *, obj: griffe.Object, loader: griffe.GriffeLoader, **kwargs: Any) -> None:
        """Rewrite the docstring of one object in the package."""
        _fence(obj)


def _fence(obj: griffe.Object) -> None:
    """Put the doctests of an object's docstring into fences, unless they are there already."""
    if obj.docstring is not None and "````pycon" not in obj.docstring.value:
        obj.docstring.value = SESSION.sub(_fenced, obj.docstring.value)


def _fenced(session: re.Match[str]) -> str:
    """Return a doctest as a block of code at the same indentation; the doctest may show a shorter fence itself."""
    return f"\n{session[1]}````pycon\n{session[0].rstrip()}\n{session[1]}````"
