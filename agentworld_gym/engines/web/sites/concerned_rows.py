"""The rows that a request reads or writes: what a world model has to know to foresee what a site makes of it."""

from __future__ import annotations

from collections.abc import Iterator

from agentworld_gym.engines.tables.concerned_rows import Concern, Named, concerned_rows, named
from agentworld_gym.engines.web.sites.request_handler import Visit, values_of
from agentworld_gym.engines.web.sites.site_schema import Route


def rows_of_request(visit: Visit) -> Iterator[str]:
    """Yield a line for each row that the rules and the statements of a route name by the values of a request."""
    match = visit.site.find(visit.method, visit.path)
    if match is None:
        return
    page, holes = match
    statements = list(_statements(page.route))
    if not statements:
        return
    values = values_of(visit, page, holes)
    values |= {name: text for name, text in visit.form if name not in values}
    lists: dict[str, list[str]] = {}
    for name, text in visit.form:
        lists.setdefault(name, []).append(text)
    concern = Concern(statements, values, lists, f"{visit.site.name}/")
    yield from (row.line for row in concerned_rows(visit.store, visit.site.keys, concern))


def _statements(route: Route) -> Iterator[Named]:
    """Yield the statements of a route that decide what happens, and the names of their results."""
    yield from (Named("", rule.sql) for rule in route.rules)
    if route.sign_in is not None:
        yield Named("", route.sign_in)
    yield from named(route.run)
