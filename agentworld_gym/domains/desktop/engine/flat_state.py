"""The state of a desktop as flat fields."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from agentworld_gym.core.engines import Scalar
from agentworld_gym.domains.desktop.engine.desktop import Desktop
from agentworld_gym.domains.desktop.engine.program import Window
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.document import Book, displayed_at, new_document
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.file_formats import read, write_ods
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.formula_syntax import position
from agentworld_gym.kit.gui import flat

MAX_TEXT = 400
"""The number of characters beyond which a digest stands for the content of a file."""


def flat_state(desktop: Desktop) -> dict[str, Scalar]:
    """Return all that actions can change, by paths such as `files/home/user/a.txt` and `windows/3/title`."""
    fields: dict[str, Scalar] = {}
    for path, node in desktop.files.nodes.items():
        name = f"files{path}" if node.content is not None else f"folders{path}"
        fields[name] = True if node.content is None else digest(node.content)
        if node.mode != (0o644 if node.content is not None else 0o755):
            fields[f"{name}#mode"] = f"{node.mode:o}"
    for path, origin in desktop.files.trashed.items():
        fields[f"trash{path}"] = origin
    stack = desktop.stack
    for order, window in enumerate(reversed(stack)):
        fields.update(_window(desktop, window, order))
    model = desktop.model
    fields.update({f"settings/{name}": value for name, value in model["settings"].items()})
    fields.update({f"locked/{name}": True for name in sorted(model["locked"])})
    fields["clipboard"] = desktop.clipboard
    fields["clipboard#cut"] = bool(model["clipboard"]["cut"])
    fields["menu"] = "" if model["popup"] is None else ", ".join(entry.label for entry in model["popup"]["entries"])
    fields["overview"] = None if model["overview"] is None else model["overview"]["query"].value
    fields["pointer"] = "{}, {}".format(*model["pointer"])
    fields["held"] = " ".join(model["held"])
    fields["selected"] = model["selected"]
    fields.update({f"notices/{notice['id']}": notice["title"] for notice in model["notices"]})
    for name, resource in desktop.resources.items():
        fields.update({f"{name}/{path}": value for path, value in resource.state().items()})
    return fields


def compared(state: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """Return flat fields in which a spreadsheet is what its cells show: a formula counts as much as its result.

    >>> one, other = (compared({"files/a.ods": text}) for text in ("2,3,5\\n", "[Sheet1]\\n2,3.0,=A1+B1\\n"))
    >>> one == other
    True
    """
    return {
        name: _shown_by(value) if name.endswith(".ods") and isinstance(value, str) else value
        for name, value in state.items()
    }


@lru_cache(maxsize=256)
def _shown_by(text: str) -> str:
    """Return the text of a spreadsheet file with what is shown instead of what was typed."""
    sheets = read(text, ".ods")
    book = new_document(sheets)
    shown = {
        name: sheet | {"cells": {cell: _displayed(book, cell, name) for cell in sheet["cells"]}}
        for name, sheet in sheets.items()
    }
    return write_ods(shown)


def _displayed(book: Book, cell: str, sheet: str) -> str:
    place = position(cell)
    return "" if place is None else displayed_at(book, place, sheet)


def _window(desktop: Desktop, window: Window, order: int) -> Iterator[tuple[str, Scalar]]:
    start = f"windows/{window['id']}"
    yield f"{start}/program", window["program"]
    yield f"{start}/title", window["title"]
    yield f"{start}/geometry", "maximized" if window["maximized"] else "{}, {}, {}, {}".format(*window["box"])
    yield f"{start}/minimized", window["minimized"]
    yield f"{start}/order", order
    yield f"{start}/focus", window["focus"]
    if desktop.programs[window["program"]].unsaved(desktop, window):
        yield f"unsaved/{window['data'].get('path') or window['title'].strip('*')}", True
    for key, offset in window["scroll"].items():
        yield f"{start}/scroll/{key}", offset
    for dialog in window["dialogs"]:
        name = f"{start}/dialogs/{dialog['id']}"
        yield f"{name}/title", dialog["title"]
        yield f"{name}/focus", dialog["focus"]
        yield from flat({"entries": dialog["entries"], "data": _public_data(dialog["data"])}, name).items()
    yield from ((name, _short(value)) for name, value in flat(_public_data(window["data"]), start).items())


def _public_data(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if not name.startswith("_")}


def _short(value: Scalar) -> Scalar:
    return digest(value) if isinstance(value, str) else value if isinstance(value, int | float | None) else str(value)


def digest(text: str) -> str:
    """Return a text, or a digest in place of a long one.

    >>> digest("short"), digest("x" * 1000)
    ('short', '1000 characters, bc9c81e1')
    """
    if len(text) <= MAX_TEXT:
        return text
    return f"{len(text)} characters, {hashlib.blake2b(text.encode('utf-8', 'replace'), digest_size=4).hexdigest()}"
