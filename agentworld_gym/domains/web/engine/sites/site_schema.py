"""The schema of `site.yaml`: what a site is, and how it answers each path."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from agentworld_gym.base.documents.strict import Regex, Strict
from agentworld_gym.kit.tables.statements import statement

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
    """One field of a form, or one parameter of a URL."""

    type: Literal["text", "integer", "number", "email", "date", "flag", "many"] = "text"
    """The type of the value. `flag` is 1 when a checkbox is ticked, else 0; `many` holds all values as a JSON list."""
    label: str = ""
    """The name of the field in error messages."""
    required: bool = False
    """Whether a form without a value is invalid."""
    min: float | None = None
    """The smallest number, or the smallest length of a text."""
    max: float | None = None
    """The largest number, or the largest length of a text."""
    pattern: Regex | None = None
    """A regular expression that the whole text must match."""
    choices: tuple[str | int, ...] = ()
    """The valid values; empty for all."""
    default: str | int | float | None = None
    """The value where none is sent."""
    error: str | None = None
    """The message that replaces every error message about the field."""


class PageQuery(Strict):
    """A query of a page: `one` row, all `rows`, or a single `value`."""

    one: Reading | None = None
    """The SQL of a query for one row. Where there is none the page is a 404, unless the query is `optional`."""
    rows: Reading | None = None
    """The SQL of a query for all rows."""
    value: Reading | None = None
    """The SQL of a query for a single value."""
    optional: bool = False
    """Whether the `one` row may be missing."""
    page: int = Field(default=0, ge=0, le=100)
    """The number of rows on a page, which the parameter `page` of the URL chooses; 0 for all rows."""
    reorder: bool = False
    """Whether the control `reordered-menu` may change the order of the rows."""

    @model_validator(mode="after")
    def _one_kind(self) -> PageQuery:
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
    """A condition that a form must meet."""

    sql: Reading
    """A query whose value is true if the condition is met."""
    error: str
    """The template of the error message."""
    field: str = ""
    """The field that the message belongs to; empty for the whole form."""


class Route(Strict):
    """One route: `get` shows a page; `post` checks a form, writes, and redirects.

    An invalid form is shown again where its path has a page; else the visitor is sent `back` with the message.
    """

    get: Path | None = None
    """The pattern of the paths of a page."""
    post: Path | None = None
    """The pattern of the paths that a form is sent to."""
    login: bool = False
    """Whether the visitor must be signed in."""
    allow: Reading | None = None
    """A query whose value is true if the visitor may use the route."""
    forbidden: str = "You do not have permission to view this page."
    """The message for a visitor who may not."""
    query: dict[str, FieldSpec] = Field(default_factory=dict)
    """The parameters of the URL."""
    data: dict[str, PageQuery] = Field(default_factory=dict)
    """The queries of the route; its form, rules and template can use their results."""
    title: str = ""
    """The template of the page's title."""
    template: str | None = None
    """The file of the page's template."""
    fields: dict[str, FieldSpec] = Field(default_factory=dict)
    """The fields of the form."""
    rules: tuple[Rule, ...] = ()
    """The conditions of the form, or of the page; where one of a page fails, the visitor is sent `back`."""
    run: tuple[Writing | dict[str, Writing], ...] = ()
    """The statements that write. Of a mapping, later statements can use each name: it is the first value that its
    statement returns, or the id of the inserted row. A page may write too, as when it marks a message as read."""
    sign_in: Reading | None = None
    """A query for the key of the account that signs in."""
    sign_out: bool = False
    """Whether the route signs the visitor out."""
    wrong: str = "Wrong user name or password."
    """The message where `sign_in` gives no account."""
    flash: str = ""
    """The template of a message on the next page."""
    redirect: str = "/"
    """The template of the path that the visitor is sent to after a form."""
    back: str = "/"
    """The template of the path that the visitor is sent to where a form or a rule fails."""

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


class SiteMenuEntry(Strict):
    """One entry of a menu."""

    name: str
    """The text of the link."""
    path: str
    """The path that the link leads to."""
    for_: Literal["everyone", "users", "guests"] = Field(default="everyone", alias="for")
    """The visitors who see the entry."""
    role: str | None = None
    """The value that the account's column `role` must have for the entry to be shown."""


class Accounts(Strict):
    """How visitors sign in."""

    user: Reading
    """A query for the account with the key `:user`."""
    path: Path = "/login"
    """The path of the sign-in page."""


class SiteFile(Strict):
    """The document `site.yaml`."""

    title: str = Field(min_length=1)
    """The name of the site."""
    description: str = Field(min_length=1)
    """One sentence about the site."""
    host: str = Field(pattern=r"^[a-z0-9-]+(\.[a-z0-9-]+)+$")
    """The host of its URLs."""
    now: str = Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
    """The time at which a session begins, unless a task states another one."""
    accounts: Accounts
    """How visitors sign in."""
    menus: dict[str, tuple[SiteMenuEntry, ...]] = Field(default_factory=dict)
    """Lists of links by name."""
    page: dict[str, PageQuery] = Field(default_factory=dict)
    """The queries that run for every page."""
    routes: tuple[Route, ...] = Field(min_length=1)
    """The routes; the first one that fits a path answers it."""
    words: dict[str, tuple[Any, ...]] = Field(default_factory=dict)
    """Lists of words for `rows.yaml`."""
