"""A theme: the tables, pages and questions of a fictional web, in one folder of YAML and Jinja files."""

from __future__ import annotations

import datetime
import random
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from agentworld_gym.base.documents.data_folder import data_folder
from agentworld_gym.base.documents.strict import Strict, read_yaml, validated
from agentworld_gym.base.errors import SpecError
from agentworld_gym.kit.tables.varied_words import WordRecipe, all_varied

PageKind = Literal["encyclopedia", "news", "official", "forum", "tables"]
Sort = Literal["time-shifted", "long-tail", "private", "realistic"]
"""What makes a theme unlike the web that a model knows.

`time-shifted`: it plays at another time. `long-tail`: nobody writes about its things. `private`: its pages are not
public. `realistic`: only the names differ.
"""

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]


def _pair(pair: tuple[float, float]) -> tuple[float, float]:
    if pair[0] > pair[1]:
        raise ValueError("two numbers, the smaller one first")
    return pair


def _date(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime.date) else value


Range = Annotated[tuple[float, float], AfterValidator(_pair)]
Date = Annotated[str, BeforeValidator(_date), Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
Value = str | int | float


class ThemeColumn(Strict):
    """How the values of a column are made; exactly one recipe is given."""

    text: str | None = None
    """A recipe: a pattern over word lists and earlier columns, such as `{onset}{coda}`."""
    pick: str | tuple[Value, ...] | None = None
    """A recipe: an entry of a word list, or one of these values."""
    number: Range | None = None
    """A recipe: a number of this range, in steps of `step`."""
    step: float = Field(default=1, gt=0)
    """The step of `number`."""
    date: tuple[Date, Date] | None = None
    """A recipe: a day between these two."""
    days: Range | None = None
    """A recipe: the date in `plus` and a number of days in this range after it."""
    ref: Name | None = None
    """A recipe: the `id` of a row of this table."""
    sql: str | None = None
    """A recipe: an expression over the filled tables."""
    plus: str | None = None
    """An earlier column, or a column of a row that is referred to (`yard.founded`), to which a number is added."""
    same: Name | None = None
    """The column in which the row of `ref` agrees with this row."""
    differs: str | None = None
    """The column whose row the row of `ref` must not be."""
    unique: bool = False
    """Whether no value comes twice."""
    maybe: float = Field(default=1.0, gt=0, le=1)
    """The share of rows that have a value."""

    @model_validator(mode="after")
    def _one_recipe(self) -> ThemeColumn:
        recipes = ("text", "pick", "number", "date", "days", "ref", "sql")
        present = [recipe for recipe in recipes if getattr(self, recipe) is not None]
        if len(present) != 1:
            raise ValueError(f"exactly one of {', '.join(recipes)} (got {present or 'none'})")
        if self.days is not None and self.plus is None:
            raise ValueError("`plus` beside `days`")
        return self


class ThemeTable(Strict):
    """One table: `rows` of them, or some rows for `each` combination of rows of other tables or of values."""

    one: str
    """The word for a row."""
    called: str = Field(default="{}", pattern=r"\{\}")
    """How the name of a row stands in a sentence, with `{}` for the name."""
    label: Name = "name"
    """The column that names a row."""
    rows: int | None = Field(default=None, ge=1)
    """The number of rows."""
    each: dict[Name, Name | tuple[Value, ...]] = Field(default_factory=dict)
    """The columns that take each combination of rows or values. With `{home: clubs, away: clubs}` both refer to clubs
    and never to the same one; with `{year: [1, 2]}` the column holds the values."""
    count: tuple[int, int] = (1, 1)
    """The least and the greatest number of rows for each combination."""
    columns: dict[Name, ThemeColumn] = Field(default_factory=dict)
    """The recipes of the other columns."""

    @model_validator(mode="after")
    def _one_size(self) -> ThemeTable:
        if (self.rows is None) == (not self.each):
            raise ValueError("exactly one of rows, each")
        return self

    def refs(self) -> dict[str, str]:
        """The columns that refer to rows of other tables, and these tables."""
        tables = {column: table for column, table in self.each.items() if isinstance(table, str)}
        return tables | {name: column.ref for name, column in self.columns.items() if column.ref is not None}

    def names(self) -> list[str]:
        """The names of all columns but the `id`."""
        return [*self.each, *self.columns]


class ThemeSite(Strict):
    """One site of the web."""

    host: str = Field(pattern=r"^[a-z0-9.-]+\.example$")
    """The host of the site."""
    name: str
    """The name of the site, which stands behind the titles of its pages."""


class PageRecipe(Strict):
    """Pages of one kind: one page for each row of the table `of` that passes `when`, or a single page.

    The body is the theme's template `<name>.md.j2`. All templates see the row as `it`.
    """

    kind: PageKind
    """The kind of the pages."""
    site: str | None = None
    """The site of the pages; by default the one that the theme gives for their kind."""
    of: Name | None = None
    """The table whose rows have pages."""
    when: str = ""
    """An expression that a row must pass."""
    url: str
    """The path of a page, as a Jinja text."""
    title: str
    """The title of a page, as a Jinja text."""
    date: tuple[Date, Date] | str | None = None
    """The date of a page: a Jinja text or a range of days; without it a page has no date."""


class ReferenceRoute(Strict):
    """A way to refer to a thing by another one: the column `by` of the table `start` refers to the thing."""

    start: Name
    """The table of the things that the route starts from."""
    by: Name
    """The column that refers to the thing meant."""
    phrase: str = Field(pattern=r"\{\}")
    """The words for the thing meant, with `{}` for the thing that the route starts from."""
    page: str
    """The page recipe whose page says which thing is meant."""
    search: str = Field(pattern=r"\{\}")
    """The query that finds that page, with `{}` for the thing that the route starts from."""


class PathStep(Strict):
    """One page on the way to an answer, and the query that finds it."""

    page: str
    """The page recipe of the page."""
    search: str
    """The query that finds the page, as a text over the values of the question."""
    row: str = ":id"
    """The SQL expression for the `id` of the row that the page is about."""


class QuestionPattern(Strict):
    """A pattern of questions about a thing `{subject}`, and maybe about a second thing `{other}`."""

    family: str
    """The family of tasks that asks it."""
    about: Name
    """The table of the thing."""
    other: Name | None = None
    """The table of the second thing, if there is one."""
    ask: tuple[str, ...] = Field(min_length=1)
    """Wordings of the question, over `{subject}`, `{other}` and the columns of `values`."""
    values: str | None = None
    """A SELECT of one row over `:id` and `:other`; without a result there is no such question."""
    answer: str
    """A SELECT that gives the answer."""
    form: Literal["text", "number", "items", "rows"] = "text"
    """The form of the answer: a text, a number, a list of items, or rows of a table."""
    tolerance: float = Field(default=0.0, ge=0)
    """The tolerance of an answer that is a number."""
    key: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    """The name of the note that the agent should keep."""
    steps: tuple[PathStep, ...] = Field(min_length=1)
    """The pages on the way to the answer."""


class Theme(Strict):
    """One fictional web."""

    title: str
    """The title of the theme."""
    sort: Sort
    """What makes the theme unlike the web that a model knows."""
    now: Date
    """The day of every episode."""
    sites: dict[str, ThemeSite]
    """The sites by the kind of their pages, or by a name that page recipes give."""
    words: dict[Name, tuple[Value, ...]] = Field(default_factory=dict)
    """The word lists."""
    tables: dict[Name, ThemeTable]
    """The tables in the order in which they are filled."""
    consistent: dict[str, str] = Field(default_factory=dict)
    """Queries by what they test; each must find nothing in any world of the theme."""
    pages: dict[str, PageRecipe]
    """The page recipes by name."""
    routes: tuple[ReferenceRoute, ...] = ()
    """The ways to refer to a thing by another one."""
    questions: tuple[QuestionPattern, ...] = ()
    """The patterns of questions."""
    path: Path = Path()
    """The folder of the theme."""

    @model_validator(mode="after")
    def _names_are_known(self) -> Theme:
        for name, table in self.tables.items():
            for column, target in table.refs().items():
                _require_known(target, self.tables, f"tables.{name}.{column}: a table")
            if table.label not in table.names():
                raise ValueError(f"tables.{name}.label: one of its columns, not {table.label!r}")
        for name, recipe in self.pages.items():
            _require_known(recipe.site or recipe.kind, self.sites, f"pages.{name}: a site")
            if recipe.of is not None:
                _require_known(recipe.of, self.tables, f"pages.{name}.of: a table")
        for index, route in enumerate(self.routes):
            _require_known(route.start, self.tables, f"routes.{index}.start: a table")
            _require_known(
                route.by, self.tables[route.start].refs(), f"routes.{index}.by: a reference of {route.start}"
            )
            _require_known(route.page, self.pages, f"routes.{index}.page: a page")
        for index, question in enumerate(self.questions):
            _require_known(question.about, self.tables, f"questions.{index}.about: a table")
            _require_known(question.other or question.about, self.tables, f"questions.{index}.other: a table")
            for step in question.steps:
                _require_known(step.page, self.pages, f"questions.{index}.steps: a page")
        return self

    def target(self, route: ReferenceRoute) -> str:
        """Return the table to which a route leads."""
        return self.tables[route.start].refs()[route.by]


def _require_known(name: str, among: Mapping[str, Any], what: str) -> None:
    if name not in among:
        raise ValueError(f"{what} among {', '.join(sorted(among))}, not {name!r}")


def theme_names() -> tuple[str, ...]:
    """Return the names of the themes that are shipped.

    >>> "harbours" in theme_names()
    True
    """
    return tuple(sorted(path.parent.name for path in _shipped_folder().glob("*/theme.yaml")))


@lru_cache(maxsize=64)
def load_theme(source: str) -> Theme:
    """Load a shipped theme by its name, or a theme in a folder by the path of the folder.

    Behind the name of a shipped theme may stand a plus and that of an edition, in which things bear other names.

    >>> load_theme("harbours").sort
    'time-shifted'
    >>> set(load_theme("harbours").words["family"]) & set(load_theme("harbours+test").words["family"])
    set()

    Raises:
        SpecError: the theme is wrong; the error names the file, the key, its value and what was expected.
    """
    edition = re.fullmatch(r"([a-z][a-z0-9_-]*)\+[a-z]+", source)
    if edition is not None:
        theme = load_theme(edition[1])
        return theme.model_copy(update={"words": {**theme.words, **_coined_names(theme.words, source)}})
    named = re.fullmatch(r"[a-z][a-z0-9_-]*", source) is not None
    folder = _shipped_folder() / source if named else Path(source)
    if named and not folder.is_dir():
        raise SpecError("search theme", "theme", source, f"one of {', '.join(theme_names())}, or a folder")
    path = folder / "theme.yaml"
    data = read_yaml(path)
    if not isinstance(data, Mapping):
        raise SpecError(path, "the whole document", type(data).__name__, "a mapping")
    return validated(Theme, {**data, "path": folder.resolve()}, path)


_COINED = WordRecipe(text="{coined}")
_NAMES = {
    **dict.fromkeys(("onset", "place", "dale", "region"), _COINED),
    **dict.fromkeys(("given", "family", "founder_word", "bell_second"), _COINED),
    **dict.fromkeys(("nursery_word", "line_word", "yard_word", "guild_word"), _COINED),
    **dict.fromkeys(("operator_word", "stadium_word", "show_word"), _COINED),
    **dict.fromkeys(("fruit_first", "fruit_second", "ship_first", "ship_second"), _COINED),
    **dict.fromkeys(("hull_first", "hull_second", "code_second"), _COINED),
    "maker": WordRecipe(text="{coined} {last}"),
}
"""How the word lists that hold names of places, people, firms and things are coined, by what the themes call them."""


def _coined_names(words: Mapping[str, Sequence[str | int | float]], edition: str) -> dict[str, tuple[str, ...]]:
    """Return the word lists of a theme that hold names, coined from the text of an edition.

    What a thing is stays: kinds, colours, crops and other common words.
    """
    recipes = {name: recipe for name, recipe in _NAMES.items() if name in words}
    varied = all_varied(words, recipes, {}, random.Random(edition))
    return {name: tuple(entries) for name, entries in varied.items()}


def _shipped_folder() -> Path:
    return data_folder("domain_specs") / "scenarios" / "search"
