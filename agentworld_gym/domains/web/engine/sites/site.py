"""One site, read from its folder and checked: routes, templates, SQL and rows."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from jinja2 import DictLoader, StrictUndefined, Template, TemplateError

from agentworld_gym.base.documents.bounded_templates import BoundedEnvironment
from agentworld_gym.base.documents.data_folder import data_folder
from agentworld_gym.base.documents.strict import read_yaml, validated
from agentworld_gym.base.errors import SpecError
from agentworld_gym.domains.web.engine.sites.pagination import Listing
from agentworld_gym.domains.web.engine.sites.site_schema import FieldSpec, Route, SiteFile
from agentworld_gym.domains.web.engine.sites.template_filters import FILTERS
from agentworld_gym.kit.tables.concerned_rows import named
from agentworld_gym.kit.tables.database import empty_image, keys_of, named_references_of, open_image
from agentworld_gym.kit.tables.insert import Keys
from agentworld_gym.kit.tables.plain_rows import PlainRow, defaults_of, numbers_rows
from agentworld_gym.kit.tables.row_file import RowFile, Size, Words
from agentworld_gym.kit.tables.seeded_rows import fill
from agentworld_gym.kit.tables.statements import counting_columns, inserted_columns, set_columns
from agentworld_gym.kit.tables.word_lists import common_words

PAGE = FieldSpec(type="integer", min=1, max=100_000, default=1)

_HOLE = re.compile(r"\{(\w+)(:int)?\}")


@dataclass(frozen=True)
class SitePage:
    """A route that is ready to answer: its pattern, its template, and its texts as templates."""

    route: Route
    pattern: re.Pattern[str]
    integers: frozenset[str]
    query: Mapping[str, FieldSpec]
    template: Template | None
    texts: Mapping[str, Template]

    def match(self, path: str) -> dict[str, Any] | None:
        """Return the values of the variable parts of the pattern, if it fits the path."""
        match = self.pattern.fullmatch(path)
        if match is None:
            return None
        parts = {name: unquote(part, errors="replace") for name, part in match.groupdict().items()}
        return {name: int(part) if name in self.integers else part for name, part in parts.items()}


@dataclass(frozen=True)
class Site:
    """One site as its files describe it.

    `keys` are the columns and keys of its tables, `references` the columns that refer to rows which a text names, with
    the tables of these, and `static` its files by name.
    """

    name: str
    folder: Path
    about: SiteFile
    rows: RowFile
    words: Words
    empty: bytes
    keys: Keys
    references: Mapping[str, Mapping[str, str]]
    pages: Mapping[str, tuple[SitePage, ...]]
    environment: BoundedEnvironment
    static: Mapping[str, str]

    def generated(self, size: Size, seed: int) -> bytes:
        """Return the site's database with rows generated from a seed.

        Raises:
            SpecError: A recipe in its `rows.yaml` cannot be followed.
        """
        return _generated(self.folder, size, seed)

    def find(self, method: str, path: str) -> tuple[SitePage, dict[str, Any]] | None:
        """Return the page that answers a path, and the values of the variable parts of its pattern."""
        for page in self.pages.get(method, ()):
            values = page.match(path)
            if values is not None:
                return page, values
        return None

    @cached_property
    def counting(self) -> frozenset[tuple[str, str]]:
        """The tables and columns that routes change by an amount and never set, such as a stock."""
        return counting_columns(self._writes) - set_columns(self._writes)

    @cached_property
    def defaults(self) -> Mapping[str, PlainRow]:
        """The constant defaults of the columns that have to hold a value and that no route fills, by table."""
        filled = inserted_columns(self._writes)
        with closing(open_image(self.empty)) as connection:
            found = {table: defaults_of(connection, table) for table in self.keys}
        return {
            table: {column: value for column, value in row.items() if (table, column) not in filled}
            for table, row in found.items()
        }

    @cached_property
    def numbered(self) -> frozenset[str]:
        """The tables whose rows get the next number as their key."""
        with closing(open_image(self.empty)) as connection:
            return frozenset(table for table in self.keys if numbers_rows(connection, table))

    @cached_property
    def _writes(self) -> tuple[str, ...]:
        """The statements of all routes that write."""
        return tuple(sql for route in self.about.routes for _, sql in named(route.run))

    def is_private(self, method: str, path: str) -> bool:
        """Return whether a path requires a visitor who is signed in."""
        match = self.find(method, path)
        return match is not None and match[0].route.login


def site_folder() -> Path:
    """Return the folder that holds one folder for each site."""
    return data_folder("domain_specs") / "scenarios" / "web"


@lru_cache(maxsize=1)
def site_names() -> tuple[str, ...]:
    """Return the names of the shipped sites, sorted."""
    return tuple(sorted(path.parent.name for path in site_folder().glob("*/site.yaml")))


@lru_cache(maxsize=32)
def load_site(name: str) -> Site:
    """Return a shipped site by its name, or any site by the path of its folder.

    Raises:
        SpecError: There is no such site, or one of its files is wrong. The error names file, key, value and what was
            expected.
    """
    folder = Path(name) if "/" in name else site_folder() / name
    if not re.fullmatch(r"[\w-]+", folder.name) or not (folder / "site.yaml").is_file():
        expected = f"one of {', '.join(site_names())}, or the path of a site's folder"
        raise SpecError("task state", "sites", name, expected)
    about = validated(SiteFile, read_yaml(folder / "site.yaml"), folder / "site.yaml")
    rows = validated(RowFile, read_yaml(folder / "rows.yaml"), folder / "rows.yaml")
    try:
        schema = (folder / "schema.sql").read_text(encoding="utf-8")
        empty = empty_image(schema)
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(folder / "schema.sql", "file", type(error).__name__, "a readable UTF-8 file") from error
    except sqlite3.Error as error:
        raise SpecError(folder / "schema.sql", "the whole document", folder.name, f"SQL that runs ({error})") from error
    environment = _environment(folder)
    pages: dict[str, list[SitePage]] = {"GET": [], "POST": []}
    for number, route in enumerate(about.routes):
        page = _page(route, environment, folder / "site.yaml", f"routes.{number} ({route.path})")
        pages["GET" if route.get else "POST"].append(page)
    connection = open_image(empty)
    try:
        keys, references = keys_of(connection), named_references_of(connection)
        _prove(connection, about, folder / "site.yaml")
    finally:
        connection.close()
    words = {**common_words(), **about.words}
    ready = {method: tuple(routes) for method, routes in pages.items()}
    static = _texts(site_folder() / "_static") | _texts(folder / "static")
    return Site(folder.name, folder, about, rows, words, empty, keys, references, ready, environment, static)


def hosts_of(state: Mapping[str, Any]) -> Iterator[str]:
    """Yield the hosts of the sites that a task's state names; one that cannot be loaded fails when the task begins.

    >>> list(hosts_of({"sites": {"shop": None, "chess": None}}))
    ['shop.example']
    """
    sites = state.get("sites")
    for name in sites if isinstance(sites, Mapping) else ():
        try:
            yield load_site(str(name)).about.host
        except SpecError:
            continue


@lru_cache(maxsize=64)
def _generated(folder: Path, size: Size, seed: int) -> bytes:
    site = load_site(str(folder))
    connection = open_image(site.empty)
    try:
        fill(connection, site, size, seed)
        return connection.serialize()
    finally:
        connection.close()


class _Environment(BoundedEnvironment):
    """A sandbox in which `row.name` means the column, even where a mapping has a method of that name."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        if type(obj) is dict and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Return whether a template may read an attribute: plain data, page links of a list, all values of a field."""
        offered = {"all": Mapping, "link": Listing}.get(attr)
        return isinstance(obj, offered) if offered else super().is_safe_attribute(obj, attr, value)


def _texts(folder: Path) -> dict[str, str]:
    """Return the files of a folder by their names. All are read at once, so that no action of an agent reads a file.

    Raises:
        SpecError: A file cannot be read.
    """
    texts = {}
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        try:
            if path.is_file():
                texts[path.relative_to(folder).as_posix()] = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise SpecError(path, "file", type(error).__name__, "a readable UTF-8 file") from error
    return texts


def _environment(folder: Path) -> BoundedEnvironment:
    environment = _Environment(
        loader=DictLoader(_texts(folder.parent / "_common") | _texts(folder / "templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        cache_size=-1,
    )
    environment.add_filters(FILTERS)
    return environment


def _page(route: Route, environment: BoundedEnvironment, file: Path, key: str) -> SitePage:
    """Return a route with its templates compiled.

    Raises:
        SpecError: A template is missing, or cannot be compiled.
    """
    texts: dict[str, Template] = {}
    named = {"title": route.title, "flash": route.flash, "redirect": route.redirect, "back": route.back}
    named |= {f"rules.{number}.error": rule.error for number, rule in enumerate(route.rules)}
    shown: Any = None
    try:
        for name, shown in named.items():
            # Only texts that go into HTML are escaped, and that happens where they are shown.
            texts[name] = environment.from_string("{% autoescape false %}" + shown + "{% endautoescape %}")
        shown = route.template
        template = environment.get_template(shown) if shown else None
    except TemplateError as error:
        expected = f"a Jinja template that can be read ({type(error).__name__}: {error})"
        raise SpecError(file, key, shown, expected) from error
    integers = frozenset(name for name, integer in _HOLE.findall(route.path) if integer)
    expression = ""
    at = 0
    for hole in _HOLE.finditer(route.path):
        expression += re.escape(route.path[at : hole.start()])
        expression += rf"(?P<{hole[1]}>\d{{1,9}})" if hole[2] else rf"(?P<{hole[1]}>[^/]{{1,300}})"
        at = hole.end()
    query = dict(route.query)
    if any(data.page for data in route.data.values()):
        query["page"] = PAGE
    pattern = re.compile(expression + re.escape(route.path[at:]), re.ASCII)
    return SitePage(route, pattern, integers, query, template, texts)


def _prove(connection: sqlite3.Connection, about: SiteFile, file: Path) -> None:
    """Prepare every statement on the empty database.

    Raises:
        SpecError: A statement is wrong, or names a parameter that does not exist.
    """
    parameters: dict[str, Any] = {"user": None, "now": about.now, "today": about.now[:10]}
    for key, sql, names in _statements(about):
        try:
            connection.execute(f"EXPLAIN {sql}", {**parameters, **dict.fromkeys(names)})
        except sqlite3.Error as error:
            raise SpecError(file, key, sql, f"SQL that can be prepared ({error})") from error


def _statements(about: SiteFile) -> Iterator[tuple[str, str, set[str]]]:
    """Yield every statement: where it stands, its SQL, and the parameters it may use beside those of every page."""
    yield "accounts.user", about.accounts.user, set()
    for name, query in about.page.items():
        yield f"page.{name}", query.sql, set()
    for number, route in enumerate(about.routes):
        key = f"routes.{number} ({route.path})"
        names = {name for name, _ in _HOLE.findall(route.path)} | set(route.query)
        if route.allow:
            yield f"{key}.allow", route.allow, names
        for name, query in route.data.items():
            yield f"{key}.data.{name}", query.sql, names
        names |= set(route.fields)
        for index, rule in enumerate(route.rules):
            yield f"{key}.rules.{index}", rule.sql, names
        for index, step in enumerate(route.run):
            for name, sql in [("", step)] if isinstance(step, str) else step.items():
                yield f"{key}.run.{index}", sql, names
                names = names | {name}
        if route.sign_in:
            yield f"{key}.sign_in", route.sign_in, names
