"""Strings: white space as JavaScript sees it, and quoting as JSON and JavaScript do it."""

from __future__ import annotations

import json
import re
from typing import Any

_UNUSUAL = re.compile("[\x1c-\x1f\x85\u200b\xad\ufeff]")
_DROPPED = str.maketrans("", "", "\u200b\xad")
_SPACE = re.compile("[\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+")


def words(text: str) -> frozenset[str]:
    """Return the words of a text as a set.

    >>> sorted(words("tab link"))
    ['link', 'tab']
    """
    return frozenset(text.split())


def tidy(text: str) -> str:
    r"""Return a text with single spaces between its words and none at its ends.

    >>> tidy("  a \n\u00a0 b\u200b ")
    'a b'
    """
    if _UNUSUAL.search(text) is None:
        return " ".join(text.split())
    return _SPACE.sub(" ", text.translate(_DROPPED)).strip(" ")


def encodable(value: Any, depth: int = 8) -> Any:
    r"""Return data whose texts can be written as UTF-8, without what nests deeper than a number of levels.

    >>> encodable({"text": "a\ud800", "n": 1})
    {'text': 'a?', 'n': 1}
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {str(key): encodable(item, depth - 1) for key, item in value.items()} if depth else {}
    if isinstance(value, list | tuple):
        return [encodable(item, depth - 1) for item in value] if depth else []
    return value


def quoted(text: str) -> str:
    r"""Return a string as JSON writes it.

    >>> print(quoted('say "hi"'))
    "say \"hi\""
    """
    return json.dumps(text, ensure_ascii=False)


def single_quoted(text: str) -> str:
    r"""Return a string as JavaScript code writes it between single quotes.

    >>> print(single_quoted("it's"))
    'it\'s'
    """
    inner = json.dumps(text, ensure_ascii=False)[1:-1].replace('\\"', '"')
    return "'" + inner.replace("'", "\\'") + "'"
