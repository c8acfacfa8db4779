"""Makes wrong texts from right ones: pages before a correction, and misleading copies on other sites."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

from agentworld_gym.core.engines import Controls
from agentworld_gym.domains.search.engine.answer_leaks import quantity
from agentworld_gym.domains.search.engine.index import exact
from agentworld_gym.domains.search.engine.pages import WebPage
from agentworld_gym.domains.search.engine.state import Hidden

_SITES = (
    ("www.quickfacts.example", "QuickFacts"),
    ("answers.factnest.example", "FactNest"),
    ("www.infomirror.example", "InfoMirror"),
    ("archive.oldcopies.example", "Old Copies"),
    ("www.allthethings.example", "All The Things"),
)
_KEEP = r"\]\([^()\s]*\)|https?://\S+"
_MONTH = r"\s+(?:of\s+)?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b"
_VALUE = re.compile(
    rf"(?P<keep>{_KEEP})|(?P<day>(?<![\w.,-])\d{{1,2}}(?={_MONTH}))"
    r"|(?P<year>(?<![\w.,-])[12]\d{3}(?!\w|[.,]\d))|(?P<number>(?<![\w.,:/-])[1-9]\d*(?:,\d{3})*(?:\.\d+)?(?![\w:/]))"
)
_NAME = re.compile(r"[A-Z][\w'-]+(?: (?:[A-Z][\w'-]+|of|the|and)){0,3} [A-Z][\w'-]+|[A-Z][\w'-]{3,}")

Draw = Callable[[object], float]


def revised(text: str, draw: Draw, instead: Mapping[float, str] = MappingProxyType({})) -> str:
    """Return a text with other numbers: years a little earlier, and figures a little off.

    Args:
        text: the right text.
        draw: a function that draws a number from 0 to below 1 for a key.
        instead: replacements for some of the numbers.

    >>> revised("Lit on 2 November 1868; 27 m, 1,200 lamps, Fl(2)", lambda key: 0.5, {27.0: "19"})
    'Lit on 16 November 1863; 19 m, 1,380 lamps, Fl(3)'
    """

    def other(match: re.Match[str]) -> str:
        kind, old = match.lastgroup, match[0]
        if kind == "keep":
            return old
        if wrong := instead.get(_value(old)):
            return wrong if "," not in old or not wrong.isdecimal() else f"{int(wrong):,}"
        chance = draw(old)
        for step in range(12):
            figure = _changed(str(kind), old, chance, step)
            if figure != old and _value(figure) not in instead:
                return figure
        return old

    return _VALUE.sub(other, text)


def _value(number: str) -> float:
    return float(number.replace(",", ""))


def _changed(kind: str, old: str, chance: float, step: int) -> str:
    if kind == "day":
        return str((int(old) + int(chance * 26) + step) % 28 + 1)
    if kind == "year":
        return str(int(old) - 1 - int(chance * 9) - step)
    whole, _, decimals = old.replace(",", "").partition(".")
    share = max(0.08, 0.05 + 0.2 * chance) * (1 if chance * 1000 % 2 < 1 else -1)
    value = float(f"{whole}.{decimals or 0}")
    change = value * share
    if not decimals and abs(change) < 1:
        change = 1.0 if change > 0 or value < 3 else -1.0
    value = max(0.1 if decimals else 1.0, value + change + (step if share > 0 else -step if value > step + 2 else step))
    return f"{value:{',' if ',' in old else ''}.{len(decimals)}f}"


@dataclass(frozen=True, slots=True)
class Forger:
    """Makes wrong texts from right ones: other figures, and wrong answers instead of the hidden answer.

    `names` are the names on the pages of the task, for answers to which the task gives no wrong ones.
    """

    hidden: Hidden
    names: tuple[str, ...]
    controls: Controls

    @classmethod
    def of(cls, hidden: Hidden, pages: Sequence[WebPage], controls: Controls) -> Forger:
        """Return the forger of a task with these pages."""
        spoken = f"{hidden.question} {' '.join(text for group in hidden.secrets for text in group)}".casefold()
        names = {name for page in pages for name in _NAME.findall(page.body) if name.casefold() not in spoken}
        return cls(hidden, tuple(sorted(names)), controls)

    def forged(self, text: str, key: str) -> str:
        """Return a wrong text instead of a right one; equal keys give equal texts."""

        def draw(about: object) -> float:
            return self.controls.draw("forged", key, about)

        parts = tuple(dict.fromkeys(part for group in self.hidden.secrets for part in group))
        alone = len(parts) == 1
        instead: dict[float, str] = {}
        for part in parts:
            number = quantity(part)
            wrong = self._wrong(part, alone)
            chosen = wrong[int(draw(part) * len(wrong))] if wrong else ""
            if number is not None:
                other = quantity(chosen)
                instead[number] = "" if other is None else f"{other:.12g}"
            elif chosen and (found := exact(part)):
                text = found.sub(lambda match, chosen=chosen: chosen, text)  # type: ignore[misc]
        return revised(text, draw, instead)

    def _wrong(self, part: str, alone: bool) -> Sequence[str]:
        """Return wrong answers instead of a right one.

        They are those that the task gives, or else other names of as many words.
        """
        if alone and self.hidden.wrong:
            return self.hidden.wrong
        if quantity(part) is not None:
            return ()
        return [name for name in self.names if len(name.split()) == len(part.split())] or self.names

    def copy(self, page: WebPage, newest: str | None) -> WebPage:
        """Return a misleading site's copy of a page: the same words, an older date, and other figures and answers."""

        def draw(about: object) -> float:
            return self.controls.draw("copy", page.url, about)

        host, site = _SITES[int(draw("site") * len(_SITES))]
        subject = page.title.rpartition(" - ")[0] or page.title
        slug = re.sub(r"[^a-z0-9]+", "-", subject.lower()).strip("-")[:60]
        return WebPage(
            f"https://{host}/{slug}-{int(draw('number') * 90_000) + 10_000}",
            f"{subject} - {site}",
            _years_before(page.date or newest, 2 + int(draw("age") * 6)),
            "forum",
            self.forged(page.body, f"copy/{page.url}"),
        )


def corrected(page: WebPage) -> str:
    """Return a page whose figures have been corrected, and that says so."""
    return f"{page.body}\n*Corrected: earlier versions of this page gave other figures.*\n"


def _years_before(day: str | None, years: int) -> str | None:
    try:
        then = date.fromisoformat(day or "")
        return then.replace(year=then.year - years, day=min(then.day, 28)).isoformat()
    except ValueError:
        return None
