"""How close an answer in words comes to the right one.

Numbers have a tolerance, dates are read in several notations, and lists and tables are scored by F1.
"""

from __future__ import annotations

import re
import unicodedata
from calendar import monthrange
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import date
from functools import lru_cache
from typing import Any, TypeVar

from agentworld_gym.base.documents.plain_json import read_unique

_SPACE = re.compile(r"\s+")
_EDGES = " \t\r\n\"'`*_.,;:!?"
_SAME = str.maketrans("−‐‑‒–—―⁃‘’‚‛′´“”„‟″«»‹›", "--------''''''\"\"\"\"\"\"\"''")

# Digits in groups of three, or plain; a number that follows a letter or another number's point is part of a name (m2).
_DIGITS = r"(?<![\w.])[-+]?(?:\d{1,3}(?:[ ,_']\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d+\b)?|(?<![\w.])[-+]?\.\d+"
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "bn": 1e9, "trillion": 1e12}
_NUMBER = re.compile(rf"(?P<digits>{_DIGITS})(?:\s?(?P<scale>{'|'.join(_SCALES)})\b)?", re.IGNORECASE)
_CENTS = re.compile(r"(?<![\w.,])(\d{1,3}(?:[. ']\d{3})+|\d+),(\d{2})(?![\w,]|\.\d)")
# Digits that are neither a number nor part of a name, as the second of 3..5.
_LEFT_OVER = re.compile(r"(?<![\w.-])[.-]+\d")
_WORD = re.compile(r"\w+")
_SMALL = _WORD.findall(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = _WORD.findall("twenty thirty forty fifty sixty seventy eighty ninety")
_WORDS: Mapping[str, int] = {
    **{word: value for value, word in enumerate(_SMALL)},
    **{word: 10 * tens for tens, word in enumerate(_TENS, start=2)},
}
_IN_WORDS = re.compile(
    rf"\b(?:(?P<tens>{'|'.join(_TENS)})(?:[ -](?P<ones>{'|'.join(_SMALL[1:10])}))?|(?P<small>{'|'.join(_SMALL)}))"
    rf"(?:\s(?P<scale>{'|'.join(_SCALES)}))?\b",
    re.IGNORECASE,
)

_MONTHS = _WORD.findall("january february march april may june july august september october november december")
_MONTH = "|".join(f"{name}|{name[:3]}" for name in _MONTHS)
_DATE = re.compile(
    r"\b(?P<iso>\d{4}-\d{2}-\d{2})\b"
    rf"|\b(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?: of)?\s(?P<m1>{_MONTH})\b\.?,?\s(?P<y1>\d{{4}})\b"
    rf"|\b(?P<m2>{_MONTH})\b\.?\s(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?,?\s(?P<y2>\d{{4}})\b",
    re.IGNORECASE,
)
_DAY = re.compile(
    rf"(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<m1>{_MONTH})\.?"
    rf"|(?P<m2>{_MONTH})\.? (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?"
)
_DAY_OF_WEEK = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\.?,? "
_WEEKDAY = re.compile(rf"\A{_DAY_OF_WEEK}(?=\w*\d|\w+ \d)")
_ON = re.compile(rf"\b{_DAY_OF_WEEK}(?=\d{{1,2}}\w* |\d{{4}}-|(?:{_MONTH}) \d)", re.IGNORECASE)
_BETWEEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])| & ")
_TIME = re.compile(r"(\d{1,2}):(\d\d)(?: ?([ap])\.?m\.?)?|(\d{1,2}) ?([ap])\.?m\.?")
_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"})
_BULLET = re.compile(r"(?m)^\s*(?:[-*•]|\d{1,3}[.)])\s+")
_COMMA = re.compile(r",(?!\d{3}\b)|,(?=\s)")
_AND = re.compile(r"(?:^|\s)(?:and|&)\s", re.IGNORECASE)
_UNIT = re.compile(r"[^\W\d_]{1,12}[23²³]?|[%°€$£]|°[CF]")
_CURRENCIES = {
    sign: names[0]
    for names in (("euro", "euros", "eur", "€"), ("dollar", "dollars", "usd", "$"), ("pound", "pounds", "gbp", "£"))
    for sign in names
}
_ARTICLE = re.compile(r"\Aan? ")
_RULE = re.compile(r"[-=: |+]*[-=][-=: |+]*")
_LONGEST_JSON = 100_000
_SHORT = 200
"""The most characters of a text whose normal form is kept."""

T = TypeVar("T", str, tuple[str, ...])


def plain_text(text: str) -> str:
    """Return a text in the characters of a keyboard: typographic ones are replaced, and invisible ones are gone.

    >>> plain_text("Myrkmouth\u2011on\u2011Reach"), plain_text("\u20129\u00a0000\u200b"), plain_text("«Hara»")
    ('Myrkmouth-on-Reach', '-9 000', '"Hara"')
    """
    if text.isascii():
        return text
    folded = unicodedata.normalize("NFKC", text.translate(_SAME)).translate(_SAME)
    return "".join(character for character in folded if unicodedata.category(character) != "Cf")


def normalised(text: str) -> str:
    """Return a text as it is compared with another one.

    Its case is folded, its white space is single, its typographic characters are plain, accents and hyphens between
    words are gone, and so are quotes, stops and a leading article. A number and a date that stand alone have one
    notation each, and so has a time of day.

    >>> normalised(' "The Aldermoor  Glassworks." '), normalised("1,200.0"), normalised("May 3rd, 1868")
    ('aldermoor glassworks', '1200', '1868-05-03')
    >>> normalised("Søren\u2011Ærø & Zoë"), normalised("June 3rd"), normalised("Wednesday, 3 June")
    ('soren aero and zoe', '3 june', '3 june')
    >>> normalised("1 PM"), normalised("9:05"), normalised("9:05 a.m."), normalised("25:00")
    ('13:00', '09:05', '09:05', '25:00')
    """
    return _short_normalised(text) if len(text) <= _SHORT else _normalised(text)


def _normalised(text: str) -> str:
    plain = plain_text(text)
    plain = plain if plain.isascii() else _unaccented(plain)
    plain = _SPACE.sub(" ", plain).lstrip(f"{_EDGES}@#").rstrip(_EDGES).casefold()
    plain = _BETWEEN.sub(_between, plain)
    if match := _DATE.fullmatch(_WEEKDAY.sub("", plain)):
        return _iso(match) or plain
    if match := _DAY.fullmatch(_WEEKDAY.sub("", plain)):
        return _day(match) or plain
    if match := _TIME.fullmatch(plain):
        return _clock(match) or plain
    number = _plain_number(plain)
    return (plain.removeprefix("the ") or plain) if number is None else _format_number(number)


# Every reading of an answer has the same items, and every answer is compared with the same right ones.
_short_normalised = lru_cache(maxsize=4096)(_normalised)


def numbers_in(text: str) -> list[float]:
    """Return every number in a text, first those in digits, then those in words.

    >>> numbers_in("about 1,234.5 m2 in 2 halls"), numbers_in("twenty-one of 1.2 million")
    ([1234.5, 2.0], [1200000.0, 21.0])
    """
    plain = plain_text(text)
    return [_value(match) for match in _NUMBER.finditer(plain)] + [
        _spelled(match) for match in _IN_WORDS.finditer(plain)
    ]


def dates_in(text: str) -> list[str]:
    """Return every full date in a text, in ISO notation.

    >>> dates_in("from 2 November 1868 (or Nov 3, 1868) to 1901-01-31; not 31 February 1900")
    ['1868-11-02', '1868-11-03', '1901-01-31']
    """
    return [day for match in _DATE.finditer(plain_text(text)) if (day := _iso(match))]


def number_in(text: str) -> float | None:
    """Return the only number in a text; None where there is none, or where several differ.

    Numbers in words count where there are none in digits. A comma before the two digits of cents is a point.

    >>> number_in("about 1,234.5 m"), number_in("3 of 4"), number_in("none"), number_in("twelve harbours")
    (1234.5, None, None, 12.0)
    >>> number_in("1.988,30 €"), number_in("3,4")
    (1988.3, None)
    """
    plain = _CENTS.sub(_with_point, plain_text(text))
    if _LEFT_OVER.search(_NUMBER.sub(" ", plain)):
        return None
    numbers = {_value(match) for match in _NUMBER.finditer(plain)}
    numbers = numbers or {_spelled(match) for match in _IN_WORDS.finditer(plain)}
    return numbers.pop() if len(numbers) == 1 else None


def close(text: str, number: float, tolerance: float = 0.0) -> bool:
    """Whether a text holds one number that lies within an absolute `tolerance` of the right one.

    >>> close("42 km", 42), close("41.9", 42, tolerance=0.2), close("41 or 42", 42), close("1.2 million", 1.2e6)
    (True, True, False, True)
    """
    stated = number_in(text)
    return stated is not None and abs(stated - number) <= tolerance + 1e-9 * max(1.0, abs(number))


def items_of(text: str, known: Iterable[str] = ()) -> list[str]:
    """Return the items of a list that is written with commas, semicolons, `and`, lines, bullets, or as JSON.

    A part that is one of the `known` items is never taken apart, and words that introduce a known item are left out.

    >>> items_of("Corrie Ness; Tornsay, Hallan Head and Inverbeck")
    ['corrie ness', 'tornsay', 'hallan head', 'inverbeck']
    >>> items_of("They are: Salt and Stone, Tornsay", known=["Salt and Stone", "Tornsay"])
    ['salt and stone', 'tornsay']
    """
    right = {normalised(item) for item in known}
    listed = _json_list(text)
    if listed is not None:
        return [item for value in listed if (item := normalised(_cell(value)))]
    whole = _DATE.sub(lambda match: _iso(match) or match[0], _ON.sub("", _BULLET.sub("", plain_text(text))))
    return [item for part in re.split(r"[;\n]", whole) for item in _apart(part, right, (_COMMA, _AND))]


def item_f1(text: str, items: Sequence[str]) -> float:
    """Return the F1 score of the items of a list against the right ones, in any order; repeated items count once.

    >>> item_f1("b, a", ["a", "b"]), round(item_f1("a, c", ["a", "b", "d"]), 2), item_f1("12 m; 7 m", ["7", "12"])
    (1.0, 0.4, 1.0)
    """
    right = Counter(normalised(item) for item in items)
    return _f1(Counter(_like(item, right.keys()) for item in items_of(text, items)), right)


def rows_of(text: str, width: int = 0) -> list[tuple[str, ...]]:
    """Return the rows of a table that is written as lines with bars between the cells, or as JSON.

    Semicolons may replace line breaks. A rule of dashes is no row, and neither is the head above it.
    Where a line has no bars, its cells may stand between tabs, commas or colons, if that gives `width` of them.

    >>> rows_of("| name | lit |\\n| --- | --- |\\n| Tornsay | 1868 |\\nCorrie Ness | 1871")
    [('tornsay', '1868'), ('corrie ness', '1871')]
    >>> rows_of("Tornsay: 1868; Corrie Ness, 1871", width=2)
    [('tornsay', '1868'), ('corrie ness', '1871')]
    """
    listed = _json_list(text)
    if listed is not None:
        return [tuple(normalised(_cell(cell)) for cell in _cells_of(value)) for value in listed]
    rows: list[tuple[str, ...]] = []
    headed = False
    for line in re.split(r"[;\n]", plain_text(text)):
        if not headed and rows and _RULE.fullmatch(line.strip()):
            rows.pop()
            headed = True
        else:
            cells = tuple(normalised(cell) for cell in _split_row(line, width))
            if any(cell.strip("-=: ") for cell in cells):
                rows.append(cells)
    return rows


def row_f1(text: str, rows: Sequence[Sequence[str]]) -> float:
    """Return the F1 score of the rows of a table against the right ones, in any order.

    A row counts where every cell is right.

    >>> row_f1("a | 1\\nb | 2", [["a", "1"], ["b", "3"]])
    0.5
    """
    right = Counter(tuple(normalised(cell) for cell in row) for row in rows)
    columns = [{row[n] for row in right if n < len(row)} for n in range(max(map(len, right), default=0))]
    width = len(rows[0]) if len({len(row) for row in rows}) == 1 else 0
    given = Counter(
        tuple(_like(cell, columns[n]) if n < len(columns) else cell for n, cell in enumerate(row))
        for row in rows_of(text, width)
    )
    return _f1(given, right)


def _f1(given: Counter[T], right: Counter[T]) -> float:
    hits = (given & right).total()
    return 2 * hits / (given.total() + right.total()) if hits else 0.0


def _unaccented(text: str) -> str:
    """Return a text without the accents of its letters."""
    letters = unicodedata.normalize("NFD", text.casefold().translate(_LETTERS))
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).casefold()


def _between(match: re.Match[str]) -> str:
    return " " if match[0] == "-" else " and "


def _day(match: re.Match[str]) -> str | None:
    """Return the day of a year that a match of `_DAY` names; None where no year has it."""
    day, month = int(match["d1"] or match["d2"]), _month(match["m1"] or match["m2"])
    return f"{day} {_MONTHS[month - 1]}" if 0 < day <= monthrange(2024, month)[1] else None


def _clock(match: re.Match[str]) -> str | None:
    """Return the time of day that a match of `_TIME` names, in 24 hours; None where there is no such time."""
    hour, minute, half = int(match[1] or match[4]), match[2] or "00", match[3] or match[5]
    if half is not None:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    return f"{hour:02}:{minute}" if hour < 24 and minute < "60" else None


def _month(name: str) -> int:
    return next(n for n, full in enumerate(_MONTHS, start=1) if full.startswith(name.casefold()))


def _plain_number(text: str) -> float | None:
    match = _NUMBER.fullmatch(text)
    return _value(match) if match else None


def _value(match: re.Match[str]) -> float:
    scale = _SCALES[match["scale"].lower()] if match["scale"] else 1.0
    return float(re.sub(r"[ ,_']", "", match["digits"])) * scale


def _spelled(match: re.Match[str]) -> float:
    scale = _SCALES[match["scale"].lower()] if match["scale"] else 1.0
    return sum(_WORDS[match[part].lower()] for part in ("tens", "ones", "small") if match[part]) * scale


def _with_point(match: re.Match[str]) -> str:
    return re.sub(r"[. ']", "", match[1]) + "." + match[2]


def _format_number(number: float) -> str:
    return f"{number:.12g}"


def _iso(match: re.Match[str]) -> str | None:
    """Return the day that a match of `_DATE` names; None where there is no such day."""
    try:
        if match["iso"]:
            return date.fromisoformat(match["iso"]).isoformat()
        day, month, year = (match[f"{part}1"] or match[f"{part}2"] for part in "dmy")
        return date(int(year), _month(month), int(day)).isoformat()
    except ValueError:
        return None


def _apart(part: str, right: Set[str], separators: Sequence[re.Pattern[str]]) -> list[str]:
    """Split a part of a list by one separator after the other until a piece is a right item."""
    item = normalised(part)
    if not item:
        return []
    after = normalised(part.rpartition(": ")[2]) if ": " in part else item
    if item in right or after in right:
        return [item if item in right else after]
    if bare := _without_article(item, right):
        return [bare]
    if not separators:
        return [item]
    pieces = separators[0].split(part)
    return [item for piece in pieces for item in _apart(piece, right, separators[1:])]


def _like(item: str, right: Set[str]) -> str:
    """Return the right item that a given one stands for: itself, without an article, its number where only a unit or a
    percent sign differs, the same sum of money, or its day without the year."""
    if item in right or len(item) >= 60:
        return item
    if bare := _without_article(item, right):
        return bare
    if match := _DATE.fullmatch(item):
        day = _day_of(match["iso"])
        return day if day in right else item
    match = _NUMBER.match(item) or _NUMBER.search(item)
    if match is None:
        return item
    rest = (item[: match.start()] + item[match.end() :]).strip()
    number = _format_number(_value(match))
    if number in right and _UNIT.fullmatch(rest) and not is_hedge(rest):
        return number
    if money := _CURRENCIES.get(rest):
        return next((one for one in right if _money(one) == (number, money)), item)
    return item


def _without_article(item: str, right: Set[str]) -> str | None:
    """Return the right item that is the given one but for an article; None where there is none."""
    bare = _ARTICLE.sub("", item)
    return next((one for one in right if _ARTICLE.sub("", one) == bare), None)


def _money(item: str) -> tuple[str, str] | None:
    """Return the number and the currency of a sum of money."""
    match = _NUMBER.match(item) or _NUMBER.search(item)
    if match is None:
        return None
    currency = _CURRENCIES.get((item[: match.start()] + item[match.end() :]).strip())
    return (_format_number(_value(match)), currency) if currency else None


def _day_of(iso: str) -> str:
    """Return the day and the month of a date in ISO notation."""
    return f"{int(iso[8:])} {_MONTHS[int(iso[5:7]) - 1]}"


def _split_row(line: str, width: int) -> list[str]:
    line = _BULLET.sub("", line.strip())
    if "|" in line or width < 2:
        return line.strip("|").split("|")
    for separator in (r"\t", _COMMA, r":\s", r"\s-\s"):
        cells = re.split(separator, line)
        if len(cells) == width:
            return cells
    return [line]


def _json_list(text: str) -> list[Any] | None:
    stripped = text.strip()
    if not stripped.startswith("[") or len(stripped) > _LONGEST_JSON:
        return None
    try:
        value = read_unique(stripped)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, list) else None


def _cells_of(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else [value]


def _cell(value: Any) -> str:
    """Return a cell of JSON as text; a value that is neither text nor number cannot be right."""
    return value if isinstance(value, str) else str(value) if isinstance(value, int | float) else ""


_HEDGE_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_ESCAPE = re.compile(r"\\.")

_HEDGES = frozenset(
    _HEDGE_WORD.findall(
        "or nor either neither not cannot never but maybe perhaps possibly probably between versus vs alternatively "
        "unless instead unknown unclear unsure might could seems none"
    )
)

_EMPTY = frozenset(_HEDGE_WORD.findall("be been is are was were have has a an the to it"))
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
    own = {word.casefold() for word in _HEDGE_WORD.findall(_ESCAPE.sub(" ", test))}
    repeated = {following for _, following in _hedges(question)} - {""}
    return any(hedge not in own and following not in repeated for hedge, following in _hedges(text))


def _hedges(text: str) -> list[tuple[str, str]]:
    """Return each hedge of a text with the first word behind it that says what it is about."""
    words = _HEDGE_WORD.findall(text)
    found = []
    for place, word in enumerate(words):
        beside = words[max(0, place - 1) : place] + words[place + 1 : place + 2]
        if is_hedge(word) and not (word == "may" and any(other[0].isdigit() for other in beside)):
            behind = (other.casefold() for other in words[place + 1 :])
            found.append((word.casefold(), next((other for other in behind if other not in _EMPTY), "")))
    return found
