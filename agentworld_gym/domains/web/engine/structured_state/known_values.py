"""What a world model need not copy or cannot make up: values with names, and places where only some texts can stand."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from agentworld_gym.core.domain.view import Choices
from agentworld_gym.domains.web.engine import addresses
from agentworld_gym.domains.web.engine.browser.browser import Browser
from agentworld_gym.domains.web.engine.document import forms
from agentworld_gym.domains.web.engine.document.page import Page
from agentworld_gym.domains.web.engine.sites import Sites
from agentworld_gym.domains.web.engine.sites.site import Site, load_site
from agentworld_gym.domains.web.engine.structured_state.action_context import ActionTargets
from agentworld_gym.domains.web.engine.tools.call import read_call
from agentworld_gym.kit.tables.concerned_rows import ConcernedRow

Values = Mapping[str, Any]
_UNNAMED = frozenset({"element", "function", "type", "name"})
"""The arguments that say in words what is meant, and code."""
_BRACES = re.compile("[{}]")


def known_values(
    users: Mapping[str, Any], browser: Browser, sites: Sites, action: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the values of an action and those of the rows that it concerns, by name.

    An action gives what the turn tells of its aim: the element that takes the `focus`, the one at which a box opens
    (`modal`), or the one that is `refused`; what a field will hold, by the name of the field; the `url` of a request
    and what is `sent`, the fields of its form, the parts of its path, and the next number of a table by the name of its
    key, such as `order_id`. Its arguments have their own names. `user` is signed in, and it is `now`, and `today`.

    `products/price` is a column of the only described row of a table, and `products/109/price` of one of several.
    Words that the statements of the route say themselves have no names.

    Args:
        users: Who is signed in, by the name of the site.
        browser: The browser.
        sites: The sites.
        action: The action as its parser read it; None where there is none that can be read.
    """
    name = sites.name_of(addresses.host_of(browser.tab.url))
    aims = ActionTargets(browser, sites, users.get(name))
    call = read_call(action)
    if call is not None:
        with suppress(LookupError, TypeError, ValueError, AttributeError):  # An action may have any arguments.
            for _ in aims.of(*call):
                pass
    now = sites.now(name)
    given = dict(aims.given)
    arguments = () if call is None else _arguments("", call[1])
    further = {"user": aims.user, "now": now, "today": now[:10]}
    for key, value in (*aims.concerned.values.items(), *arguments, *further.items()):
        given.setdefault(key, value)
    said = aims.concerned.said
    return _named(given, said), _named(dict(_columns(aims.concerned.rows)), said)


def _named(values: Values, said: frozenset[str]) -> dict[str, Any]:
    return {
        name: value
        for name, value in values.items()
        if value not in (None, "") and not _BRACES.search(name) and not (isinstance(value, str) and value in said)
    }


def _arguments(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the arguments of a call, and what lists and objects among them hold, by path."""
    if isinstance(value, str | int | float):
        yield path, value
    elif isinstance(value, list | dict):
        for key, item in enumerate(value) if isinstance(value, list) else value.items():
            if key not in _UNNAMED:
                yield from _arguments(f"{path}/{key}" if path else str(key), item)


def _columns(rows: tuple[ConcernedRow, ...]) -> Iterator[tuple[str, Any]]:
    """Yield the columns of the described rows."""
    told = [(row.path.split("/", 2), row.content) for row in rows if isinstance(row.content, Mapping)]
    several = Counter(table for (_, table, _), _ in told)
    for (_, table, key), content in told:
        for column, value in content.items():
            yield f"{table}/{key}/{column}" if several[table] > 1 else f"{table}/{column}", value


def site_called(shown: Mapping[str, Any], name: str) -> Site:
    """Return a site of a state by its name.

    Raises:
        LookupError, TypeError, SpecError: There is no such site.
    """
    try:
        return load_site(next(folder for folder in shown["web"]["sites"] if folder.rpartition("/")[2] == name))
    except StopIteration:
        raise LookupError(f"no site is called {name!r}") from None


def field_choices(page: Page, name: str) -> Choices | None:
    """Return the values of the options of a list by the name of its field; None for another field."""
    nodes = forms.named_fields(page.document).get(name, ())
    options = [
        page.option_value(option) for node in nodes if node.tag == "select" for option in page.document.options(node)
    ]
    return (frozenset(options),) if options else None


def column_choices(shown: Mapping[str, Any], name: str, table: str, column: str) -> Choices | None:
    """Return the keys of the rows that a column refers to; None for a column that refers to none by a text.

    The column `id` is the key of a row, in which several columns are joined by commas.

    Raises:
        LookupError, TypeError, SpecError: There is no such site or table.
    """
    site = site_called(shown, name)
    columns, key = site.keys[table]
    parts = [columns[place] for place in key] if column == "id" else [column]
    others = [site.references.get(table, {}).get(part) for part in parts]
    if not any(others):
        return None
    return tuple(
        None if other is None else frozenset(str(row["id"]) for row in shown["data"][name][other]) for other in others
    )
