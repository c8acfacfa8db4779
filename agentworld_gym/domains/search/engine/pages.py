"""The pages of a fictional world, rendered from its rows by the theme's templates, and the addresses of pages."""

from __future__ import annotations

import datetime
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from jinja2 import FileSystemLoader, StrictUndefined, Template, TemplateError

from agentworld_gym.base.documents.bounded_templates import BoundedEnvironment
from agentworld_gym.base.errors import SpecError
from agentworld_gym.domains.search.engine.theme import PageRecipe, Theme, load_theme
from agentworld_gym.domains.search.engine.world_database import Tables

LONGEST = 2_000
"""The number of characters of the longest address."""


class Address(NamedTuple):
    """The address of a page, equal for all ways of writing it."""

    host: str
    path: str
    query: str


def address_of(url: str) -> Address | None:
    """Parse an address; the result is `None` if the text is not an address.

    Scheme, case of the host, `www.`, port, fragment and a slash at the end make no difference.

    >>> address_of("HTTP://www.Lake.example:80/a/b/#top") == address_of("https://lake.example/a/b")
    True
    >>> address_of("lake.example") is address_of("ftp://lake.example/") is None
    True
    """
    if len(url) > LONGEST:
        return None
    try:
        parts = urlsplit(url.strip())
        host = (parts.hostname or "").removeprefix("www.").rstrip(".")
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not host:
        return None
    return Address(host, unquote(parts.path).rstrip("/"), parts.query)


@dataclass(frozen=True, slots=True)
class WebPage:
    """One page of the web.

    >>> WebPage("https://a.example/x", "X", None, "news", "# X").key
    ''
    """

    url: str
    """The address of the page."""
    title: str
    """The title of the page."""
    date: str | None
    """A day in ISO form, if the page has a date."""
    kind: str
    """The kind of the page."""
    body: str
    """The text of the page in markdown."""
    key: str = ""
    """The recipe and the row from which the page is made, if it is made from them."""


class TemplateRow(SimpleNamespace):
    """A row in a template: a column that refers to a row is that row, and the rows that refer to it are lists.

    Such a list has the name of the table that refers, or `<table>_by_<column>` from its second reference to the same
    table on. Rows can refer to each other in circles, so a row is printed and compared without those it refers to.
    """

    __eq__ = object.__eq__
    __hash__ = object.__hash__  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Row({getattr(self, 'id', '')})"


def render_pages(theme: Theme, source: str, seed: int, tables: Tables) -> tuple[WebPage, ...]:
    """Render all pages of a world, by address.

    Raises:
        SpecError: a template is missing or broken, or two pages have the same address.
    """
    recipes = _compiled(source)
    linked = _linked(theme, tables)
    pages: dict[str, WebPage] = {}
    for name, recipe in theme.pages.items():
        for it in linked[recipe.of] if recipe.of else [None]:
            page = _rendered(theme, name, recipe, recipes[name], it, linked, seed)
            if page is None:
                continue
            if page.url in pages:
                raise SpecError(theme.path / "theme.yaml", f"pages.{name}.url", page.url, "an address of its own")
            pages[page.url] = page
    return tuple(pages[url] for url in sorted(pages))


@dataclass(frozen=True, slots=True)
class _Texts:
    """The templates of a page recipe."""

    url: Template
    title: Template
    body: Template
    when: Template | None
    date: Template | None


@lru_cache(maxsize=64)
def _compiled(source: str) -> dict[str, _Texts]:
    theme = load_theme(source)
    environment = BoundedEnvironment(
        loader=FileSystemLoader(theme.path),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    environment.add_filters({"slug": slug, "comma": comma, "long_date": long_date, "listed": listed, "dec": dec})
    compiled = {}
    for name, recipe in theme.pages.items():
        try:
            compiled[name] = _Texts(
                url=environment.from_string(recipe.url),
                title=environment.from_string(recipe.title),
                body=environment.get_template(f"{name}.md.j2"),
                when=environment.from_string("{{ " + recipe.when + " }}") if recipe.when else None,
                date=environment.from_string(recipe.date) if isinstance(recipe.date, str) else None,
            )
        except TemplateError as error:
            raise _broken(theme, name, error) from error
    return compiled


def _rendered(
    theme: Theme,
    name: str,
    recipe: PageRecipe,
    texts: _Texts,
    it: TemplateRow | None,
    linked: dict[str, list[TemplateRow]],
    seed: int,
) -> WebPage | None:
    key = f"{name}/{it.id}" if it is not None else name
    site = theme.sites[recipe.site or recipe.kind]
    chance = _Chance(f"{seed}/{key}")
    values = {"it": it, "all": linked, "one": chance.one, "now": theme.now, "site": site}
    try:
        if texts.when is not None and texts.when.render(values) != "True":
            return None
        title = texts.title.render(values)
        url = f"https://{site.host}/{texts.url.render(values)}"
        date = texts.date.render(values) if texts.date else None
        body = texts.body.render({**values, "title": title})
    except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as error:
        raise _broken(theme, name, error) from error
    if isinstance(recipe.date, tuple):
        date = chance.day(*recipe.date)
    return WebPage(url, f"{title} - {site.name}", date, recipe.kind, _tidy(body), key)


def _broken(theme: Theme, name: str, error: Exception) -> SpecError:
    message = f"{type(error).__name__}: {error}"
    return SpecError(theme.path / f"{name}.md.j2", f"pages.{name}", message, "templates that render for every row")


def _linked(theme: Theme, tables: Tables) -> dict[str, list[TemplateRow]]:
    """Return the rows of all tables with the rows they refer to, and with lists of the rows that refer to them."""
    linked = {name: [TemplateRow(**cells) for cells in rows] for name, rows in tables.items()}
    for name, table in theme.tables.items():
        seen: set[str] = set()
        for column, target in table.refs().items():
            back = name if target not in seen else f"{name}_by_{column}"
            seen.add(target)
            for other in linked[target]:
                setattr(other, back, [])
            for row in linked[name]:
                number = getattr(row, column)
                if number is not None:
                    other = linked[target][number - 1]
                    setattr(row, column, other)
                    getattr(other, back).append(row)
    return linked


class _Chance:
    """Random choices for one page, each a function of the page and of the number of choices before."""

    def __init__(self, key: str) -> None:
        self._digits = self._endless(key)

    @staticmethod
    def _endless(key: str) -> Iterator[int]:
        block = key.encode()
        while True:
            block = hashlib.blake2b(block, digest_size=32).digest()
            yield from (int.from_bytes(block[i : i + 4]) for i in range(0, 32, 4))

    def one(self, *options: Any) -> Any:
        return options[next(self._digits) % len(options)]

    def day(self, first: str, last: str) -> str:
        start, end = datetime.date.fromisoformat(first).toordinal(), datetime.date.fromisoformat(last).toordinal()
        return datetime.date.fromordinal(start + next(self._digits) % (end - start + 1)).isoformat()


def slug(text: object) -> str:
    """Return a name in the form in which it stands in an address.

    >>> slug("St. Orwen's Bell (II)")
    'st-orwens-bell-ii'
    """
    return re.sub(r"[^a-z0-9]+", "-", str(text).lower().replace("'", "")).strip("-")


def comma(number: float) -> str:
    """Format a number with commas between its thousands.

    >>> comma(12400), comma(7.5)
    ('12,400', '7.5')
    """
    return f"{number:,}"


def dec(number: float, digits: int = 1) -> str:
    """Format a number with the given number of decimals.

    >>> dec(3), dec(2.345, 2)
    ('3.0', '2.35')
    """
    return f"{number:.{digits}f}"


def long_date(day: str) -> str:
    """Format a day in words.

    >>> long_date("2061-04-03")
    '3 April 2061'
    """
    date = datetime.date.fromisoformat(day)
    return f"{date.day} {_MONTHS[date.month - 1]} {date.year}"


def listed(items: Sequence[object]) -> str:
    """Join several things to a list in a sentence.

    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    *most, last = [str(item) for item in items] or ["none"]
    return f"{', '.join(most)} and {last}" if most else last


def _tidy(body: str) -> str:
    return re.sub(r"\n{3,}", "\n\n", body).strip() + "\n"


_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
