"""Whether content that cannot be known could stand where other content stands: by its form and order of size."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from agentworld_gym.base.text.dates import iso, month_first

if TYPE_CHECKING:
    from agentworld_gym.core.engines import Kind

_MONTHS = re.findall(r"\w+", "january february march april may june july august september october november december")
_DAYS = re.findall(r"\w+", "monday tuesday wednesday thursday friday saturday sunday")
_NAMES = tuple([*names, *(name[:3] for name in names)] for names in (_MONTHS, _DAYS))
_PART = re.compile(
    r"(?P<uuid>\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b)"
    r"|(?P<hex>(?<![0-9A-Za-z])(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{6,}(?![0-9A-Za-z]))"
    r"|(?P<date>(?<!\d)\d{4}-\d\d-\d\d(?!\d))"
    r"|(?P<day>(?<!\w)[A-Z][a-z]{2} \d{1,2}, \d{4}(?!\d))"
    r"|(?P<time>(?<!\d)\d\d:\d\d(?::\d\d)?(?!\d))"
    r"|(?P<number>\d+(?:\.\d+)?)"
    r"|(?P<word>[^\W\d_]+)"
    r"|(?P<space>\s+)"
    r"|(?P<sign>.)",
    re.DOTALL,
)
_LABEL = re.compile(r"(?m)^[A-Z][\w -]{0,24}: ")
_URL = re.compile(r"https?://\S+")
_NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")
LONGEST_METADATA = 2_000
SIZE_FACTOR, SIZE_ROOM = 100.0, 1_000.0
"""A number may be this many times as large as the true one, or as large as this."""
LENGTH_FACTOR, LENGTH_ROOM = 4, 80


def plausible(kind: Kind, given: str, truth: str) -> bool:
    """Whether some content could replace another of the same kind.

    Metadata has the same form: dates, times and ids stay what they are, numbers keep their decimals and an order of
    size, names of months and days stay such names, signs and line breaks are the same. Pre-existing content has as many
    lines (half to twice as many where there are more than three) and the same labels, addresses stay addresses and
    numbers numbers, and it is not much longer.

    >>> plausible("metadata", "0.03s", "0.41s"), plausible("metadata", "soon", "0.41s")
    (True, False)
    >>> plausible("metadata", "2021-13-01", "2021-02-01"), plausible("metadata", "9ce01fb", "45fcc4c")
    (False, True)
    >>> plausible("metadata", "Nov 3, 2023", "Jun 18, 2024"), plausible("metadata", "Nov 33, 2023", "Jun 18, 2024")
    (True, False)
    >>> plausible("pre-existing", "Old harbour", "Bright morning"), plausible("pre-existing", "", "Bright morning")
    (True, False)
    """
    if given == truth:
        return True
    if kind == "deterministic":
        return False
    return _like_metadata(given, truth) if kind == "metadata" else _like_content(given, truth)


def same_lines(given: str, truth: str) -> bool:
    """Whether the number of lines fits: the same, or half to twice as many where there are more than three.

    >>> same_lines("a", "b"), same_lines("a\\nb", "c")
    (True, False)
    """
    mine, theirs = given.count("\n") + 1, truth.count("\n") + 1
    return mine == theirs or (theirs > 3 and theirs <= 2 * mine and mine <= 2 * theirs)


def _like_metadata(given: str, truth: str) -> bool:
    if max(len(given), len(truth)) > LONGEST_METADATA:
        return same_lines(given, truth) and len(given) <= LENGTH_FACTOR * len(truth)
    match = _form(truth).fullmatch(given)
    if match is None:
        return False
    sizes = [float(number) for number in _numbers(truth)]
    return all(
        _in_range(name, value) if name[0] in "dt" else _in_size(value, sizes[int(name[1:])])
        for name, value in match.groupdict().items()
    )


@lru_cache(maxsize=4096)
def _form(truth: str) -> re.Pattern[str]:
    """A pattern of the texts that have the form of one; dates and times are named groups, and so are numbers."""
    pieces, numbers = [], 0
    for place, part in enumerate(_PART.finditer(truth)):
        text = part[0]
        if part.lastgroup == "uuid":
            pieces.append("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
        elif part.lastgroup == "hex":
            pieces.append(f"[0-9a-f]{{{len(text)}}}")
        elif part.lastgroup == "date":
            pieces.append(rf"(?P<d{place}>\d{{4}}-\d\d-\d\d)")
        elif part.lastgroup == "day":
            pieces.append(rf"(?P<d{place}>[A-Z][a-z]{{2}} \d{{1,2}}, \d{{4}})")
        elif part.lastgroup == "time":
            pieces.append(rf"(?P<t{place}>\d\d{':[0-9]{2}' * text.count(':')})")
        elif part.lastgroup == "number":
            decimals = rf"\.\d{{{len(text.partition('.')[2])}}}" if "." in text else ""
            pieces.append(rf"(?P<n{numbers}>\d{{1,15}}{decimals})")
            numbers += 1
        elif part.lastgroup == "word":
            pieces.append(_word(text))
        elif part.lastgroup == "space":
            pieces.append(re.escape(text) if "\n" in text else r"[^\S\n]+")
        else:
            pieces.append(re.escape(text))
    return re.compile("".join(pieces))


def _numbers(truth: str) -> list[str]:
    return [part[0] for part in _PART.finditer(truth) if part.lastgroup == "number"]


def _word(text: str) -> str:
    """A pattern of the words that may stand for one: names of months and days are replaced by such names."""
    names = next((names for names in _NAMES if text.lower() in names), None)
    return rf"(?i:{'|'.join(names)})" if names else r"[^\W\d_]+"


def _in_range(name: str, value: str) -> bool:
    """Whether a date or a time can be one."""
    if name[0] == "d":
        return month_first(iso(value)) != iso(value)
    hour, *rest = map(int, value.split(":"))
    return hour < 24 and all(part < 60 for part in rest)


def _in_size(value: str, truth: float) -> bool:
    return float(value) <= max(SIZE_ROOM, SIZE_FACTOR * truth)


def _like_content(given: str, truth: str) -> bool:
    if not given.strip() and truth.strip():
        return False
    if not same_lines(given, truth) or len(given) > LENGTH_FACTOR * len(truth) + LENGTH_ROOM:
        return False
    if _LABEL.findall(given) != _LABEL.findall(truth) and "\n" in truth:
        return False
    for form in (_URL, _NUMBER):
        if form.fullmatch(truth.strip()):
            return form.fullmatch(given.strip()) is not None
    starts = _URL.match(truth)
    return starts is None or _URL.match(given) is not None
