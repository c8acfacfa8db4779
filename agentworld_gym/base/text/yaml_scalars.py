"""Keys and values as the YAML of Playwright's snapshots writes them."""

from __future__ import annotations

import re

_QUOTED = re.compile(
    "^[\\s\ufeff]|[\\s\ufeff]$|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|^[-\\[&*\\],?!>|@\"'#%]|[\n:](\\s|$)|\\s#|[\n\r{}`]"
)
_WORDS = frozenset(
    {"", "y", "n", "yes", "no", "true", "false", "on", "off", "null", "~", ".inf", ".nan", "+.inf", "+.nan"}
)
_NUMBER = re.compile(r"[+-]?(Infinity|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)|0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_ESCAPED = re.compile('[\\\\"\x00-\x1f\x7f-\x9f]')


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
