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

    def on_object(self, *, obj: griffe.Object, loader: griffe.GriffeLoader, **kwargs: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = SESSION.sub(_fenced, obj.docstring.value)


def _fenced(session: re.Match[str]) -> str:
    """Return a doctest as a block of code at the same indentation."""
    return f"\n{session[1]}```pycon\n{session[0].rstrip()}\n{session[1]}```"
