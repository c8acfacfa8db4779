"""Strings: white space as JavaScript sees it, and quoting as JSON, JavaScript and YAML do it."""

from __future__ import annotations

import json
import re
from typing import Any

_UNUSUAL = re.compile("[\x1c-\x1f\x85\u200b\xad\ufeff]")
_DROPPED = str.maketrans("", "", "\u200b\xad")
_SPACE = re.compile("[\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+")
_QUOTED = re.compile(
    "^[\\s\ufeff]|[\\s\ufeff]$|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|^[-\\[&*\\],?!>|@\"'#%]|[\n:](\\s|$)|\\s#|[\n\r{}`]"
)
_WORDS = frozenset(
    {"", "y", "n", "yes", "no", "true", "false", "on", "off", "null", "~", ".inf", ".nan", "+.inf", "+.nan"}
)
_NUMBER = re.compile(r"[+-]?(Infinity|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)|0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPED = re.compile('[\\\\"\x00-\x1f\x7f-\x9f]')


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


def needs_quotes(text: str) -> bool:
    """Return whether YAML would read a plain text as something else.

    >>> [needs_quotes(text) for text in ("Cart (2)", "12", "Total: 3", "ends:", "no")]
    [False, True, True, True, True]
    """
    if _QUOTED.search(text) is not None or text.lower() in _WORDS:
        return True
    return (text[:1] in "0123456789.+-I") and _NUMBER.fullmatch(text) is not None


def yaml_key(text: str) -> str:
    """Return the key of a mapping as YAML writes it."""
    return "'" + text.replace("'", "''") + "'" if needs_quotes(text) else text


def yaml_value(text: str) -> str:
    """Return the value of a mapping as YAML writes it."""
    if not needs_quotes(text):
        return text
    return '"' + _ESCAPED.sub(lambda match: _ESCAPES.get(match[0]) or f"\\x{ord(match[0]):02x}", text) + '"'
