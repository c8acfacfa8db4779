"""Tests of answers to web tasks, which may be said in several ways."""

from __future__ import annotations

import re

from agentworld_gym.core.domain.task import Expect

_UNITS = {"year": "years?", "cm": "(?:cm|centimet(?:re|er)s?)"}


def expect_answer(answer: str) -> Expect:
    """Return a test that accepts the ways to say an answer: amounts without their unit, and answers within a sentence.

    An answer that names two different numbers does not pass.

    >>> sums = ("44.9", "44.90 EUR", "The total is €44.90.", "€44.80", "€44.90 or €40.00")
    >>> [expect_answer("€44.90").holds(text) for text in sums]
    [True, True, True, False, False]
    >>> [expect_answer("#258").holds(text) for text in ("258", "Issue #258", "#25", "#258, #259")]
    [True, True, False, False]
    >>> [expect_answer("9 cm").holds(text) for text in ("9", "They grow 9cm apart.", "9 mm", "19 cm")]
    [True, True, False, False]
    >>> [expect_answer("the mill").holds(text) for text in ("Mill.", "at the mill", "the mill or the school")]
    [True, True, False]
    """
    if match := re.fullmatch(r"€([\d,]+\.\d\d)", answer):
        return Expect(number=float(match[1].replace(",", "")), tolerance=0.001)
    if match := re.fullmatch(r"#?(\d+)", answer):
        return Expect(number=int(match[1]))
    if match := re.fullmatch(rf"(\d+) ({'|'.join(_UNITS)})s?", answer):
        pattern = rf"(?i)\A[^\d]*{match[1]}(?:[ -]?{_UNITS[match[2]]}\b[^\d]*|\W*)\Z"
        return Expect(number=int(match[1]), matches=pattern)
    inner = re.escape(answer.removeprefix("the "))
    return Expect(matches=rf"(?i)\A\W*(?:(?:at|by|in|on) )?(?:the |an? )?{inner}\W*\Z")
