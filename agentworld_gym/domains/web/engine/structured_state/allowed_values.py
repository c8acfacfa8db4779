"""Where only some texts can stand in the state of a browser: lists of a page, and columns that refer to other rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentworld_gym.core.domain.view import Choices
from agentworld_gym.domains.web.engine.document import forms
from agentworld_gym.domains.web.engine.document.page import Page
from agentworld_gym.domains.web.engine.sites.site import Site, load_site


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
