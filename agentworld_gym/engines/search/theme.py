"""What a theme is: the tables, pages and questions of a fictional web, one folder of YAML and Jinja."""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from agentworld_gym.documents.data_folder import data_folder
from agentworld_gym.documents.strict import Strict, read_yaml, validated
from agentworld_gym.errors import SpecError

PageKind = Literal["encyclopedia", "news", "official", "forum", "tables"]
Sort = Literal["time-shifted", "long-tail", "private", "realistic"]
"""What makes a theme unlike the web that a model knows: another time, things nobody writes about, pages behind a door,
or only other names."""

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


class Column(Strict):
    """How a value is made; exactly one recipe.

    `text` is a pattern over word lists and earlier columns (`{onset}{coda}`); `pick` a word list or the values
    themselves; `number` a range in steps of `step`; `date` a range of days; `days` a number of days after the date in
    `plus`; `ref` a row of another table (its `id`); `sql` an expression over the filled tables. `plus` names an earlier
    column, or one of a row that is referred to (`yard.founded`), that a number is added to. A `ref` may be bound to
    rows that agree in a column (`same`), and to another row than that of a column (`differs`). `unique` values do not
    come twice; `maybe` is the share of rows that have a value at all.
    """

    text: str | None = None
    pick: str | tuple[Value, ...] | None = None
    number: Range | None = None
    step: float = Field(default=1, gt=0)
    date: tuple[Date, Date] | None = None
    days: Range | None = None
    ref: Name | None = None
    sql: str | None = None
    plus: str | None = None
    same: Name | None = None
    differs: str | None = None
    unique: bool = False
    maybe: float = Field(default=1.0, gt=0, le=1)

    @model_validator(mode="after")
    def _one_recipe(self) -> Column:
        recipes = ("text", "pick", "number", "date", "days", "ref", "sql")
        given = [recipe for recipe in recipes if getattr(self, recipe) is not None]
        if len(given) != 1:
            raise ValueError(f"exactly one of {', '.join(recipes)} (got {given or 'none'})")
        if self.days is not None and self.plus is None:
            raise ValueError("`plus` beside `days`")
        return self


class Table(Strict):
    """One table: `rows` of them, or some for `each` combination of rows of other tables or of given values.

    `one` is the word for a row, `label` the column that names it, `called` how the name stands in a sentence. With
    `each: {home: clubs, away: clubs}` the columns `home` and `away` refer to clubs and never to the same one; with
    `each: {year: [1, 2]}` the column holds the values.
    """

    one: str
    called: str = Field(default="{}", pattern=r"\{\}")
    label: Name = "name"
    rows: int | None = Field(default=None, ge=1)
    each: dict[Name, Name | tuple[Value, ...]] = Field(default_factory=dict)
    count: tuple[int, int] = (1, 1)
    columns: dict[Name, Column] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_size(self) -> Table:
        if (self.rows is None) == (not self.each):
            raise ValueError("exactly one of rows, each")
        return self

    def refs(self) -> dict[str, str]:
        """The columns that refer to rows of other tables, and these tables."""
        found = {column: table for column, table in self.each.items() if isinstance(table, str)}
        return found | {name: column.ref for name, column in self.columns.items() if column.ref is not None}

    def names(self) -> list[str]:
        """All columns but the `id`."""
        return [*self.each, *self.columns]


class Site(Strict):
    """One site of the web: its host, and its name as it stands behind the titles of its pages."""

    host: str = Field(pattern=r"^[a-z0-9.-]+\.example$")
    name: str


class PageRecipe(Strict):
    """Pages of one kind: one for each row of the table `of` that passes `when`, or a single one.

    `url` (the path) and `title` are Jinja texts over the row (`it`); the body is the theme's template
    `<name>.md.j2`. `date` is a Jinja text, too, or a range of days; without it a page has no date.
    """

    kind: PageKind
    site: str | None = None
    of: Name | None = None
    when: str = ""
    url: str
    title: str
    date: tuple[Date, Date] | str | None = None


class Route(Strict):
    """How a thing is told by way of another one: `phrase` is a text with `{}` for the thing that it starts from.

    The column `by` of the table `start` refers to the thing meant; the page `page` of the start says so, and `search`
    (a text with `{}`) finds that page.
    """

    start: Name
    by: Name
    phrase: str = Field(pattern=r"\{\}")
    page: str
    search: str = Field(pattern=r"\{\}")


class Step(Strict):
    """One page of the way to an answer, and the query that finds it.

    `row` is an expression of SQL for the `id` of the row that the page is about; `search` a text over the values of the
    question. `shows` are values of the question that stand on the page.
    """

    page: str
    search: str
    row: str = ":id"


class Question(Strict):
    """A pattern of questions about a thing, `{subject}`, a row of `about`, and maybe a second, `{other}`, of `other`.

    `ask` are ways to put it, over `{subject}`, `{other}` and the columns of `values`: one row of SQL over `:id` (and
    `:other`), whose lack of a result means that there is no such question. `answer` is a SELECT; `form` says what its
    result is: one `text`, one `number` (within `tolerance`), a list of `items`, or a table of `rows`. `key` names the
    note that the agent is to keep.
    """

    family: str
    about: Name
    other: Name | None = None
    ask: tuple[str, ...] = Field(min_length=1)
    values: str | None = None
    answer: str
    form: Literal["text", "number", "items", "rows"] = "text"
    tolerance: float = Field(default=0.0, ge=0)
    key: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    steps: tuple[Step, ...] = Field(min_length=1)


class Theme(Strict):
    """One fictional web.

    `now` is the day of every episode in it. `consistent` are queries by what they test; each must find nothing in any
    world of the theme. `sites` are known by the kind of their pages, or by a name that a page recipe gives.
    """

    title: str
    sort: Sort
    now: Date
    sites: dict[str, Site]
    words: dict[Name, tuple[Value, ...]] = Field(default_factory=dict)
    tables: dict[Name, Table]
    consistent: dict[str, str] = Field(default_factory=dict)
    pages: dict[str, PageRecipe]
    routes: tuple[Route, ...] = ()
    questions: tuple[Question, ...] = ()
    path: Path = Path()

    @model_validator(mode="after")
    def _names_are_known(self) -> Theme:
        for name, table in self.tables.items():
            for column, target in table.refs().items():
                _known(target, self.tables, f"tables.{name}.{column}: a table")
            if table.label not in table.names():
                raise ValueError(f"tables.{name}.label: one of its columns, not {table.label!r}")
        for name, recipe in self.pages.items():
            _known(recipe.site or recipe.kind, self.sites, f"pages.{name}: a site")
            if recipe.of is not None:
                _known(recipe.of, self.tables, f"pages.{name}.of: a table")
        for index, route in enumerate(self.routes):
            _known(route.start, self.tables, f"routes.{index}.start: a table")
            _known(route.by, self.tables[route.start].refs(), f"routes.{index}.by: a reference of {route.start}")
            _known(route.page, self.pages, f"routes.{index}.page: a page")
        for index, question in enumerate(self.questions):
            _known(question.about, self.tables, f"questions.{index}.about: a table")
            _known(question.other or question.about, self.tables, f"questions.{index}.other: a table")
            for step in question.steps:
                _known(step.page, self.pages, f"questions.{index}.steps: a page")
        return self

    def target(self, route: Route) -> str:
        """The table that a route leads to."""
        return self.tables[route.start].refs()[route.by]


def _known(name: str, among: Mapping[str, Any], what: str) -> None:
    if name not in among:
        raise ValueError(f"{what} among {', '.join(sorted(among))}, not {name!r}")


def theme_names() -> tuple[str, ...]:
    """The themes that are shipped.

    >>> "harbours" in theme_names()
    True
    """
    return tuple(sorted(path.parent.name for path in _shipped_folder().glob("*/theme.yaml")))


@lru_cache(maxsize=64)
def load_theme(source: str) -> Theme:
    """A shipped theme by its name, or one in a folder by its path.

    >>> load_theme("harbours").sort
    'time-shifted'

    Raises:
        SpecError: names the file, the key, its value and what was expected.
    """
    named = re.fullmatch(r"[a-z][a-z0-9_-]*", source) is not None
    folder = _shipped_folder() / source if named else Path(source)
    if named and not folder.is_dir():
        raise SpecError("search theme", "theme", source, f"one of {', '.join(theme_names())}, or a folder")
    path = folder / "theme.yaml"
    data = read_yaml(path)
    if not isinstance(data, Mapping):
        raise SpecError(path, "the whole document", type(data).__name__, "a mapping")
    return validated(Theme, {**data, "path": folder.resolve()}, path)


def _shipped_folder() -> Path:
    return data_folder("domain_specs") / "scenarios" / "search"
