"""Parses the dates that `date -d` understands, on the virtual clock."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

_UNITS = {
    "sec": 1,
    "second": 1,
    "min": 60,
    "minute": 60,
    "hour": 3600,
    "day": 86400,
    "week": 604800,
    "fortnight": 1209600,
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WORDS = {"now": 0, "today": 0, "yesterday": -1, "tomorrow": 1}
_NUMBERS = {"next": 1, "last": -1, "this": 0, "a": 1, "an": 1}
_TOKEN = re.compile(
    r"\s*(?:"
    r"(?P<epoch>@-?\d+(?:\.\d+)?)"
    r"|(?P<date>\d{4}-\d{1,2}-\d{1,2}|\d{4}/\d{1,2}/\d{1,2}|\d{1,2}/\d{1,2}/\d{4}|\d{8})(?:[T ]?(?=\D|$))"
    r"|(?P<time>\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?)\s*(?P<half>[ap]m)?"
    r"|(?P<zone>Z|UTC|GMT|[+-]\d{2}:?\d{2}(?!\d|\s*[a-z]))"
    r"|(?P<amount>[+-]?\s*\d+)\s*(?P<unit>[a-z]+)"
    r"|(?P<word>[a-z]+)\.?,?"
    r"|(?P<number>\d+),?"
    r")",
    re.IGNORECASE,
)


def parsed(text: str, now: float) -> datetime | None:
    """Return the moment that a text names, in UTC, or `None` if it names none.

    >>> parsed("2024-03-01 -1 day", 0).isoformat(), parsed("nonsense", 0)
    ('2024-02-29T00:00:00+00:00', None)
    """
    try:
        return _Reading(datetime.fromtimestamp(now, UTC)).read(text)
    except (ValueError, OverflowError, OSError):
        return None


class _Reading:
    def __init__(self, now: datetime) -> None:
        self.moment = now
        self.seconds = 0.0
        self.months = 0
        self.time_given = False

    def read(self, text: str) -> datetime:
        position, text = 0, text.strip()
        if not text:
            return self.moment.replace(hour=0, minute=0, second=0, microsecond=0)
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None or match.end() == position:
                raise ValueError(text)
            position = self._take(text, match)
        total = self.moment.year * 12 + self.moment.month - 1 + self.months
        first = self.moment.replace(year=total // 12, month=total % 12 + 1, day=1)
        return first + timedelta(days=self.moment.day - 1, seconds=self.seconds)

    def _take(self, text: str, match: re.Match[str]) -> int:
        end = match.end()
        if match["epoch"]:
            self.moment = datetime.fromtimestamp(float(match["epoch"][1:]), UTC)
        elif match["date"]:
            self._date(match["date"])
        elif match["time"]:
            self._time(match["time"], (match["half"] or "").lower())
        elif match["zone"]:
            zone = match["zone"]
            if zone[0] in "+-":
                digits = zone[1:].replace(":", "")
                offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
                self.moment = self.moment.replace(tzinfo=timezone(offset if zone[0] == "+" else -offset)).astimezone(
                    UTC
                )
        elif match["amount"]:
            return self._amount(text, int(match["amount"].replace(" ", "")), match["unit"].lower(), end)
        elif match["word"]:
            return self._word(text, match["word"].lower(), end)
        else:
            raise ValueError(text)
        return end

    def _midnight(self) -> None:
        if not self.time_given:
            self.moment = self.moment.replace(hour=0, minute=0, second=0, microsecond=0)

    def _date(self, text: str) -> None:
        if "/" in text and not text[:4].isdigit():
            month, day, year = (int(part) for part in text.split("/"))
        elif text.isdigit():
            year, month, day = int(text[:4]), int(text[4:6]), int(text[6:])
        else:
            year, month, day = (int(part) for part in re.split(r"[-/]", text))
        self.moment = self.moment.replace(year=year, month=month, day=day)
        self._midnight()

    def _time(self, text: str, half: str) -> None:
        hour, minute, *rest = text.split(":")
        hours = int(hour) % 12 + (12 if half == "pm" else 0) if half else int(hour)
        second = float(rest[0]) if rest else 0.0
        micro = round(second % 1 * 1_000_000)
        self.moment = self.moment.replace(hour=hours, minute=int(minute), second=int(second), microsecond=micro)
        self.time_given = True

    def _amount(self, text: str, amount: int, unit: str, end: int) -> int:
        if unit.startswith(_MONTHS) and unit[:3] in _MONTHS and unit.rstrip("s") not in ("month",):
            return self._day_month(text, amount, unit, end)
        following = re.compile(r"\s*ago\b", re.IGNORECASE).match(text, end)
        self._shift(-amount if following else amount, unit)
        return following.end() if following else end

    def _day_month(self, text: str, day: int, month: str, end: int) -> int:
        year = re.compile(r"\s*,?\s*(\d{4})(?![:\d])").match(text, end)
        self.moment = self.moment.replace(
            day=1, month=_MONTHS.index(month[:3]) + 1, year=int(year.group(1)) if year else self.moment.year
        ).replace(day=day)
        self._midnight()
        return year.end() if year else end

    def _shift(self, amount: int, unit: str) -> None:
        unit = unit.removesuffix("s") if unit != "s" else "sec"
        if unit in ("month", "year"):
            self.months += amount * (12 if unit == "year" else 1)
        elif unit in _UNITS:
            self.seconds += amount * _UNITS[unit]
        else:
            raise ValueError(unit)

    def _word(self, text: str, word: str, end: int) -> int:
        if word in _WORDS:
            self.seconds += 86400 * _WORDS[word]
            return end
        if word == "midnight":
            self._midnight()
            return end
        if word == "noon":
            self._time("12:00", "")
            return end
        if word[:3] in _MONTHS and word.startswith(_MONTHS):
            day = re.compile(r"\s*(\d{1,2})(?![:\d]),?").match(text, end)
            if day is None:
                raise ValueError(text)
            return self._day_month(text, int(day.group(1)), word, day.end())
        if word[:3] in _DAYS:
            self._midnight()
            self.seconds += 86400 * ((_DAYS.index(word[:3]) - self.moment.weekday()) % 7)
            return end
        if word in _NUMBERS:
            following = re.compile(r"\s*([a-z]+)", re.IGNORECASE).match(text, end)
            if following is None:
                raise ValueError(text)
            unit = following.group(1).lower()
            if unit[:3] in _DAYS and unit not in ("second", "seconds"):
                self._midnight()
                days = (_DAYS.index(unit[:3]) - self.moment.weekday()) % 7
                shift = {"next": days or 7, "last": days - 7, "this": days}.get(word, days)
                self.seconds += 86400 * shift
            else:
                self._shift(_NUMBERS[word], unit)
            return following.end()
        if word in ("utc", "gmt", "z", "at", "on", "t"):
            return end
        raise ValueError(word)
