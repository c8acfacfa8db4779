"""What a request gives, and the rows that it reads or writes: what a world model has to know to foresee its effects."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from agentworld_gym.domains.web.engine.sites.form_validation import validated_form
from agentworld_gym.domains.web.engine.sites.request_handler import Visit, grouped, values_of
from agentworld_gym.domains.web.engine.sites.site import Site
from agentworld_gym.domains.web.engine.sites.site_schema import Route
from agentworld_gym.kit.tables.concerned_rows import Concern, ConcernedRow, Named, concerned_rows, named

_WORD = re.compile(r"'((?:[^']|'')*)'")


@dataclass(frozen=True, slots=True)
class Concerned:
    """What a request gives and reads."""

    rows: tuple[ConcernedRow, ...] = ()
    """The rows that the rules and the statements of its route name by its values, with the name of the site first."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """What it gives, by name: the fields of its form, the parts of its path, and the address that comes `next` where
    somebody has to sign in first; the next numbers of tables by the names of their keys, and the keys of told rows.
    """
    said: frozenset[str] = frozenset()
    """The words that the statements of the route say themselves."""


def concerned_by(visit: Visit) -> Concerned:
    """Return what a request gives and reads; nothing of it is done."""
    match = visit.site.find(visit.method, visit.path)
    if match is None:
        return Concerned()
    page, holes = match
    statements = list(_statements(page.route))
    rows: tuple[ConcernedRow, ...] = ()
    lists = grouped(visit.form)
    if statements:
        values = values_of(visit, page, holes)
        values |= {name: text for name, text in visit.form if name not in values}
        concern = Concern(statements, values, lists, f"{visit.site.name}/")
        rows = tuple(concerned_rows(visit.store, visit.site.keys, concern))
    read, _ = validated_form(page.route.fields, lists)
    sent = {name: _sent(texts, read.get(name)) for name, texts in lists.items()}
    words = frozenset(word for _, sql in statements for word in _WORD.findall(sql))
    to = str(sent.get("next") or (quote(visit.address, safe="/") if visit.user is None else ""))
    own = {**sent, **holes, "next": to.removeprefix("/")}
    following = {name: number for name, number in _next_numbers(visit.site, rows) if name not in own}
    values = {**following, **own, **dict(_numbers(visit.site, rows))}
    return Concerned(rows, values, words)


def _sent(texts: Sequence[str], read: Any) -> Any:
    """Return what a field sends, as a row would store it: all texts where there are several."""
    return list(texts) if len(texts) > 1 else read if type(read) in (int, float) else texts[0]


def _next_numbers(site: Site, rows: Iterable[ConcernedRow]) -> Iterator[tuple[str, int]]:
    """Yield the next numbers of tables by the names of their keys, such as `order_id`."""
    for row in rows:
        if isinstance(row.content, int):
            columns, key = site.keys[row.path.partition("/")[2]]
            yield columns[key[0]], row.content


def _numbers(site: Site, rows: Iterable[ConcernedRow]) -> Iterator[tuple[str, int]]:
    """Yield the number of each row that alone of its table is described, by table and key, such as `pages/page_id`."""
    told = [row.path.split("/", 2)[1:] for row in rows if isinstance(row.content, Mapping)]
    several = Counter(table for table, _ in told)
    for table, number in told:
        columns, key = site.keys.get(table, ((), ()))
        if several[table] == len(key) == 1 and number.isdecimal():
            yield f"{table}/{columns[key[0]]}", int(number)


def _statements(route: Route) -> Iterator[Named]:
    """Yield the statements of a route that decide what happens, and the names of their results."""
    yield from (Named("", rule.sql) for rule in route.rules)
    if route.sign_in is not None:
        yield Named("", route.sign_in)
    yield from named(route.run)
