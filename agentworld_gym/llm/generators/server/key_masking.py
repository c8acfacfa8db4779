"""The masking of an API key in what a server says, in every form from which the key could be read."""

from __future__ import annotations

import base64
import html
import re
from functools import lru_cache

MASK = "***"
PLACEHOLDER = "EMPTY"
"""The word that vLLM's documentation gives as the key of a server that wants none; it hides nothing."""

SHORTEST = 4
"""The number of characters of the shortest key: a mask for less would change texts that do not hold the key."""

_SHORTEST_PART = 6
_MORE_BASE64 = rb"[A-Za-z0-9+/_-]{0,2}={0,2}"


def masked(text: str, key: str) -> str:
    """Return a text in which three asterisks stand for a key; see `masked_bytes`.

    >>> masked("Bearer sk-1234, or c2stMTIzNA==, or sk%2D1234", "sk-1234")
    'Bearer ***, or ***, or ***'
    """
    return masked_bytes(text.encode("utf-8", "surrogatepass"), key).decode("utf-8", "surrogatepass")


def masked_bytes(data: bytes, key: str) -> bytes:
    """Return bytes in which three asterisks stand for a key.

    The key is found as it is, escaped as in JSON, addresses or HTML (any character, nested a few times), in base64 at
    any offset, and in hexadecimal. A key that a server hides in another way is not found.

    >>> masked_bytes(b'{"said": "\\\\u0073k-1234"}', "sk-1234")
    b'{"said": "***"}'
    """
    for pattern in _patterns(key):
        data = pattern.sub(MASK.encode(), data)
    return data


@lru_cache(maxsize=8)
def _patterns(key: str) -> tuple[re.Pattern[bytes], ...]:
    """Return one pattern for each form, because `re` finds a pattern fast if it begins with few characters."""
    if len(key) < SHORTEST or key == PLACEHOLDER:
        return ()
    raw = key.encode()
    patterns = [_spelled(key), b"".join(_digits(f"{byte:02x}") for byte in raw)]
    for offset in range(3):
        whole = base64.b64encode(b"\0" * offset + raw).decode()
        part = whole[-(-8 * offset // 6) : 8 * (offset + len(raw)) // 6]
        if len(part) >= _SHORTEST_PART:
            forms = dict.fromkeys((part, part.replace("+", "-").replace("/", "_")))
            patterns += [_spelled(form) + _MORE_BASE64 for form in forms]
    return tuple(re.compile(pattern) for pattern in patterns)


def _spelled(text: str) -> bytes:
    return b"".join(_character(character) for character in text)


def _character(character: str) -> bytes:
    """Return a pattern for one character in every spelling, with bounded repetitions so that no text makes it slow."""
    plain = re.escape(character.encode())
    code = ord(character)
    escaped = rb"\\\\{0,7}(?:" + plain + rb"|u" + _digits(f"{code:04x}") + rb"|x" + _digits(f"{code:02x}") + rb")"
    percent = b"".join(rb"%(?:25){0,3}" + _digits(f"{byte:02x}") for byte in character.encode())
    named = html.escape(character).encode().removeprefix(b"&") if html.escape(character) != character else rb"#"
    numbered = rb"#(?:0{0,6}%d|[xX]0{0,6}%s);?" % (code, _digits(f"{code:x}"))
    spellings = [plain, escaped, percent, rb"&(?:amp;){0,3}(?:" + numbered + rb"|" + re.escape(named) + rb")"]
    if character == " ":
        spellings.append(rb"\+")
    return rb"(?:" + b"|".join(spellings) + rb")"


def _digits(hexadecimal: str) -> bytes:
    """Return a pattern for hexadecimal digits in small and capital letters."""
    return b"".join(
        b"[%s%s]" % (digit.encode(), digit.upper().encode()) if digit.isalpha() else digit.encode()
        for digit in hexadecimal
    )
