"""What of a page its view would do without, as plain JSON data, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentworld_gym.domains.web.engine.document.page import Page
from agentworld_gym.domains.web.engine.http import PageSource
from agentworld_gym.domains.web.engine.structured_state.pages import Plain


def slots(page: Page) -> Plain:
    """Return everything that has changed in a page since it was loaded, as plain JSON data."""
    return {
        "attrs": sorted([index, name, value] for (index, name), value in page.attrs.items()),
        "values": sorted([index, value] for index, value in page.values.items()),
        "checked": sorted([index, value] for index, value in page.checked.items()),
        "chosen": sorted([index, list(value)] for index, value in page.chosen.items()),
        "files": sorted([index, list(value)] for index, value in page.files.items()),
        "focus": page.focus,
        "modals": [list(modal) for modal in page.modals],
        "refs": sorted([index, *ref] for index, ref in page.refs.items()),
        "last_ref": page.last_ref,
        "listed": sorted([ref, index] for ref, index in page.listed.items()),
        "looks": [_plain_look(look) for look in page.looks],
        "start": page.start,
        "selected": page.selected,
        "tail": page.tail,
    }


def _plain_look(look: Sequence[Mapping[Any, Any]]) -> list[Any]:
    attrs, values, checked, chosen = look
    return [
        sorted([index, name, value] for (index, name), value in attrs.items()),
        sorted([index, value] for index, value in values.items()),
        sorted([index, value] for index, value in checked.items()),
        sorted([index, list(value)] for index, value in chosen.items()),
    ]


def set_slots(page: Page, kept: Mapping[str, Any]) -> None:
    """Change a page as `slots` has told it."""
    for name, value in kept.items():
        found: Any = value
        if name == "attrs":
            found = {(index, attribute): text for index, attribute, text in value}
        elif name in ("values", "checked"):
            found = dict(value)
        elif name in ("chosen", "files"):
            found = {index: tuple(parts) for index, parts in value}
        elif name == "modals":
            found = tuple((index, before) for index, before in value)
        elif name == "refs":
            found = {index: (role, label, ref) for index, role, label, ref in value}
        elif name == "listed":
            found = dict(value)
        elif name == "looks":
            found = tuple(
                (
                    {(index, attribute): text for index, attribute, text in attrs},
                    dict(values),
                    dict(checked),
                    {index: tuple(parts) for index, parts in chosen},
                )
                for attrs, values, checked, chosen in value
            )
        setattr(page, name, found)
    page.layout = None


def plain_source(source: PageSource | None) -> list[Any] | None:
    """Return what a page was made from as plain JSON data."""
    if source is None:
        return None
    flash = None if source.flash is None else list(source.flash)
    errors = None if source.errors is None else dict(source.errors)
    return [source.user, flash, errors, source.loading, source.visit]


def source_of(value: Any) -> PageSource | None:
    """Return what a page was made from: the inverse of `plain_source`."""
    if value is None:
        return None
    user, flash, errors, loading, visit = value
    return PageSource(user, None if flash is None else (flash[0], flash[1]), errors, loading, visit)
