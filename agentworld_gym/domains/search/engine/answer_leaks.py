"""Finds texts that give the answer away, however the answer is written, to keep them out of search results."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from agentworld_gym.core.domain.answer_scoring import dates_in, numbers_in

_WORD = re.compile(r"[^\W_]+")
_SEPARATORS = dict.fromkeys(map(ord, " ,._'\u00a0\u202f"))
_SPELLED = (
    "one",
    "two",
    "thr",
    "fo",
    "fi",
    "six",
    "sev",
    "eight",
    "ni",
    "te",
    "el",
    "twe",
    "hundred",
    "thousand",
    "zero",
)
_PADDED = re.compile(r"(?<![\d.,])0\d+")  # the 05 of a date is not the number 5
_NAMED = re.compile(r"[^\W\d_]-\d")
_NOT_SECRET = {"yes", "no", "true", "false"}
_SHORT = 4

Test = Callable[[str], bool]


class LeakDetector:
    """Tells which texts give an answer away.

    A text does so if it holds every part of one of the groups in `secrets`: a number in digits, with separators or in
    words; a date in any form; other text in any case and with any marks between its words.

    >>> guard = LeakDetector([["Aldermoor Glassworks"], ["1,928"], ["Tornsay", "2 November 1868"]])
    >>> [guard.leaks(text) for text in ("**Aldermoor** glassworks", "the 1928 lens", "Tornsay, lit in 1868")]
    [True, True, False]
    >>> guard.leaks("Tornsay was lit on 1868-11-02")
    True
    """

    def __init__(self, secrets: Sequence[Sequence[str]]) -> None:
        groups = ([_test(text) for text in group if text.strip().casefold() not in _NOT_SECRET] for group in secrets)
        self._groups = [group for group in groups if group]

    def leaks(self, text: str) -> bool:
        """Return whether the text gives an answer away."""
        return any(all(test(text) for test in group) for group in self._groups)

    def cut(self, text: str) -> str:
        """Return the longest start of a text, in whole words, that gives nothing away."""
        words = text.split(" ")
        low, high = 0, len(words)
        while low < high:
            middle = (low + high + 1) // 2
            if self.leaks(" ".join(words[:middle])):
                high = middle - 1
            else:
                low = middle
        return " ".join(words[:low])


def _test(secret: str) -> Test:
    days = dates_in(secret)
    if len(days) == 1:
        return lambda text: days[0][:4] in text and days[0] in dates_in(text)
    number = quantity(secret)
    if number is not None:
        return _number_test(number)
    plain = " ".join(secret.casefold().split())
    plain = plain.removeprefix("the ") or plain
    words = _WORD.findall(plain)
    phrase = f" {' '.join(words)} "

    def gives_away(text: str) -> bool:
        folded = text.casefold()
        if len(plain) >= _SHORT and plain in folded:
            return True
        return bool(words) and words[0] in folded and phrase in f" {' '.join(_WORD.findall(folded))} "

    return gives_away


def _number_test(number: float) -> Test:
    # All ways to write a number in digits share these, so that most texts need no closer look.
    digits = f"{abs(number):.12f}".replace(".", "").strip("0") or "0"
    spelled = number in range(100) or (number >= 100 and number % 100 == 0)

    def gives_away(text: str) -> bool:
        near = digits in text.translate(_SEPARATORS) or (spelled and any(word in text.casefold() for word in _SPELLED))
        return near and number in numbers_in(_PADDED.sub("_", text))

    return gives_away


def quantity(text: str) -> float | None:
    """Return the number that a text is, alone or with one word or sign beside it, or `None` for any other text.

    >>> quantity("27 metres"), quantity("€1,200"), quantity("Pier 9 Trading Company"), quantity("FT-104")
    (27.0, 1200.0, None, None)
    """
    if _NAMED.search(text):
        return None
    numbers = numbers_in(text)
    words = [word for word in _WORD.findall(text) if not any(character.isdigit() for character in word)]
    return numbers[0] if len(numbers) == 1 and len(words) <= 1 else None
