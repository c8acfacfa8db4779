"""Words that leave an answer open or take it back: `not 4`, `4 or none` and `maybe 4` do not answer 4."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_ESCAPE = re.compile(r"\\.")

_HEDGES = frozenset(
    _WORD.findall(
        "or nor either neither not cannot never but maybe perhaps possibly probably between versus vs alternatively "
        "unless instead unknown unclear unsure might could seems none"
    )
)

_EMPTY = frozenset(_WORD.findall("be been is are was were have has a an the to it"))
"""Words that do not say what is denied or offered."""


def is_hedge(word: str) -> bool:
    """Whether a word offers a choice, denies or doubts. `may` does only in lower case: `May` is a month.

    >>> [is_hedge(word) for word in ("or", "Not", "isn't", "may", "May", "four")]
    [True, True, True, True, False, False]
    """
    small = word.casefold()
    return small in _HEDGES or small.endswith("n't") or word == "may"


def is_hedged(text: str, question: str = "", test: str = "") -> bool:
    r"""Whether a text leaves open or denies what it says.

    Words of the test itself do not count, and neither does a choice or denial of the question that the text repeats.
    All texts are in plain characters.

    Args:
        text: The answer.
        question: The instruction.
        test: The regular expression that describes the answer, or no text.

    >>> question = "How many items are not ticked?"
    >>> [is_hedged(said, question) for said in ("4 items aren't ticked", "not 4", "4 or none", "3 may, at noon")]
    [False, True, True, False]
    >>> is_hedged("Salt or Stone", test=r"(?i)\bsalt\b \bor stone")
    False
    """
    own = {word.casefold() for word in _WORD.findall(_ESCAPE.sub(" ", test))}
    repeated = {following for _, following in _hedges(question)} - {""}
    return any(hedge not in own and following not in repeated for hedge, following in _hedges(text))


def _hedges(text: str) -> list[tuple[str, str]]:
    """Return each hedge of a text with the first word behind it that says what it is about."""
    words = _WORD.findall(text)
    found = []
    for place, word in enumerate(words):
        beside = words[max(0, place - 1) : place] + words[place + 1 : place + 2]
        if is_hedge(word) and not (word == "may" and any(other[0].isdigit() for other in beside)):
            behind = (other.casefold() for other in words[place + 1 :])
            found.append((word.casefold(), next((other for other in behind if other not in _EMPTY), "")))
    return found
