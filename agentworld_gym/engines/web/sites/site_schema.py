"""The schema of `site.yaml`: what a site is, and how it answers each path."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from agentworld_gym.documents.strict import Strict
from agentworld_gym.engines.tables.statements import statement

_READS = re.compile(r"\s*(SELECT|WITH|VALUES)\b", re.IGNORECASE)
_TOKEN = re.compile(r"\btoken\s*\(", re.IGNORECASE)
_PATH = re.compile(r"/(?:[\w.-]+|\{\w+(?::int)?\})?(?:/(?:[\w.-]+|\{\w+(?::int)?\}))*")
KNOWN = ("now", "today", "user")
"""The names that all SQL can use: the time, its date, and the key of the account that is signed in."""

RESERVED = frozenset((*KNOWN, "site", "menu", "path", "address", "title", "errors", "values", "flash", "refresh"))
"""The names that a parameter or a query may not have, since they mean something else to a page."""


def _writes(sql: str) -> str:
    if _TOKEN.search(sql):
        raise ValueError("a statement without token(): its count is not kept by a fork")
    return statement(sql)


def _reads(sql: str) -> str:
    if not _READS.match(sql):
        raise ValueError("SQL that begins with SELECT, WITH or VALUES")
    return _writes(sql)


def _path(path: str) -> str:
    if not _PATH.fullmatch(path):
        raise ValueError("a path such as /orders or /orders/{order_id:int}")
    return path


Reading = Annotated[str, AfterValidator(_reads)]
Writing = Annotated[str, AfterValidator(_writes)]
Path = Annotated[str, AfterValidator(_path)]


class FieldSpec(Strict):
    """One field of a form, or one parameter of a URL.

    `min` and `max` bound a number, or the length of a text. `flag` is 1 when a checkbox is ticked, else 0. `many` holds
    all values of a name as a JSON list, for `json_each`. `error` replaces every error message about the field.
    """

    type: Literal["text", "integer", "number", "email", "date", "flag", "many"] = "text"
    label: str = ""
    required: bool = False
    min: float | None = None
    max: float | None = None
    pattern: str | None = None
    choices: tuple[str | int, ...] = ()
    default: str | int | float | None = None
    error: str | None = None

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"a regular expression ({error})") from error
        return pattern


class Query(Strict):
    """A query of a page: `one` row, all `rows`, or a single `value`.

    Without the `one` row the page is a 404, unless the query is `optional`. `page` is the number of rows on a page; the
    parameter `page` of the URL chooses one. `reorder` lets the control of that name change the order of rows.
    """

    one: Reading | None = None
    rows: Reading | None = None
    value: Reading | None = None
    optional: bool = False
    page: int = Field(default=0, ge=0, le=100)
    reorder: bool = False

    @model_validator(mode="after")
    def _one_kind(self) -> Query:
        kinds = [kind for kind in ("one", "rows", "value") if getattr(self, kind) is not None]
        if len(kinds) != 1:
            raise ValueError(f"exactly one of one, rows, value (got {kinds or 'none'})")
        if (self.page or self.reorder) and self.rows is None:
            raise ValueError("`page` and `reorder` with `rows` only")
        return self

    @property
    def sql(self) -> str:
        """The SQL statement."""
        return self.one or self.rows or self.value or ""


class Rule(Strict):
    """A condition that a form must meet: `sql` gives a true value, or else the template `error` is shown."""

    sql: Reading
    error: str
    field: str = ""


class Route(Strict):
    """One route: `get` shows a page; `post` checks a form, writes, and redirects.

    `query` are the parameters of the URL. `data` is looked up first. `login` requires a visitor who is signed in.
    `allow` gives a true value, or else the page is forbidden. `fields` and `rules` check the form; where a rule of a
    page fails, the visitor is sent `back` with its message.

    `run` writes: it is a statement, or a mapping from a name to a statement, whose first value (or inserted row id)
    later statements can use. A page may write too, before its data is looked up, as when it marks a message as read. An
    invalid form is shown again where its path has a page, and else the visitor is sent `back` with the message.
    `sign_in` finds the key of an account.
    """

    get: Path | None = None
    post: Path | None = None
    login: bool = False
    allow: Reading | None = None
    forbidden: str = "You do not have permission to view this page."
    query: dict[str, FieldSpec] = Field(default_factory=dict)
    data: dict[str, Query] = Field(default_factory=dict)
    title: str = ""
    template: str | None = None
    fields: dict[str, FieldSpec] = Field(default_factory=dict)
    rules: tuple[Rule, ...] = ()
    run: tuple[Writing | dict[str, Writing], ...] = ()
    sign_in: Reading | None = None
    sign_out: bool = False
    wrong: str = "Wrong user name or password."
    flash: str = ""
    redirect: str = "/"
    back: str = "/"

    @model_validator(mode="after")
    def _whole(self) -> Route:
        if (self.get is None) == (self.post is None):
            raise ValueError("exactly one of get, post")
        if self.get is not None:
            if self.template is None:
                raise ValueError("a `template` with `get`")
            if self.fields or self.sign_in or self.sign_out:
                raise ValueError("fields, sign_in and sign_out with `post` only")
        elif self.template is not None:
            raise ValueError("no `template` with `post`: it redirects")
        for name in (*self.query, *self.data):
            if name in RESERVED:
                raise ValueError(f"another name than {name}, which every page has")
        for name in self.fields:
            if name in KNOWN:
                raise ValueError(f"another name than {name}, which all SQL can use")
        return self

    @property
    def path(self) -> str:
        """The pattern of its paths."""
        return self.get or self.post or "/"


class Entry(Strict):
    """One entry of a menu. `role` is the value that the account's column `role` must have."""

    name: str
    path: str
    for_: Literal["everyone", "users", "guests"] = Field(default="everyone", alias="for")
    role: str | None = None


class Accounts(Strict):
    """How visitors sign in: `user` finds an account by its key `:user`, and `path` is the sign-in page."""

    user: Reading
    path: Path = "/login"


class SiteFile(Strict):
    """The document `site.yaml`.

    The queries of `page` run for every page. `menus` are lists of links by name, and `words` are lists for `rows.yaml`.
    """

    title: str = Field(min_length=1)
    description: str = Field(min_length=1)
    host: str = Field(pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+)+$")
    now: str = Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
    accounts: Accounts
    menus: dict[str, tuple[Entry, ...]] = Field(default_factory=dict)
    page: dict[str, Query] = Field(default_factory=dict)
    routes: tuple[Route, ...] = Field(min_length=1)
    words: dict[str, tuple[Any, ...]] = Field(default_factory=dict)
