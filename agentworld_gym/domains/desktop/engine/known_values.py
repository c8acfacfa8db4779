"""The values to which the change of a desktop can refer by a name, so that a world model need not copy them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from agentworld_gym.core.domain.view import StructuredState
from agentworld_gym.domains.desktop.engine.action_targets import PASTES, ActionTarget, calls, pointed_at
from agentworld_gym.domains.desktop.engine.desktop import Desktop
from agentworld_gym.domains.desktop.engine.filesystem import HOME, TRASH
from agentworld_gym.domains.desktop.engine.programs.spreadsheet import document
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.editing import selected_text
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.structured_state import (
    is_spreadsheet,
    saved_sheets,
    sheets_told,
)
from agentworld_gym.domains.desktop.engine.short_paths import full, joined, short
from agentworld_gym.domains.desktop.engine.structured_state.disk import TENTHS, place
from agentworld_gym.kit.gui import Field

MOST = 40
"""The largest number of lines or cells of one text that have names."""
FEWEST = 3
"""The smallest number of steps of a place that has a name: the home folder has none."""
_NO_FILES = re.compile(
    "(?:at|menu|focus|search|location|find|replace|address|display|panel|sheet|back|forward|lines|[A-Z]+[0-9]+)(?:/|$)"
)
"""The names of values that are no files, though they may read like one."""
_WRITES = frozenset(("write", "typewrite"))
_PARTS = re.compile(r"[\n\t]")
_DOCUMENTS = frozenset(("editor", "spreadsheet"))
_COPIES = re.compile(r"['\"][cx]['\"]|copy|cut")
_EDITS = re.compile(r"['\"]f2['\"]|edit|Input line")
_SAVES = re.compile(r"['\"]s['\"]|save", re.IGNORECASE)
"""What code, or the message at a point, says where something is copied, edited or saved."""
_PATH = re.compile(r"/[^/]")
_UNNAMED = frozenset(("id", "focus", "title", "view", "sort", "editing", "found", "chooser"))
"""The keys of a window and a dialog that hold nothing which stands elsewhere afterwards."""
_BRACES = re.compile("[{}]")
Named = Iterator[tuple[str, Any]]


def given_values(shown: StructuredState, desktop: Desktop, front: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Return what code and the window in front give, by name.

    The text that code types is `typed`, the next one `typed/1`, and the paths in it are `file` and `file/1`. Arguments
    of helper objects have their own names. `aim` is what the message behind a point says last, `label` the name of a
    file or a cell there, `focus` the key of a text field, and `menu` and `at` the menu that opens and its place. The
    text that is pasted is `clipboard`, and its cells are `clipboard/0`, `clipboard/1`. What is copied is `selection`.
    The texts of the dialog and the window in front have the names of their keys, and a path gives `folder` and `name`,
    too. In an editor `line+typed` is the line with the text at its end, and `column+typed` where the cursor is then.

    Args:
        shown: The structured state.
        desktop: The desktop that is restored from it.
        front: The window in front as the state has it; empty where there is none.
        source: The code of the action.
    """
    aims = pointed_at(desktop, source)
    values = _named(
        (
            *_code(desktop, aims, source),
            *(pair for number, aim in enumerate(aims) for pair in _aim(aim, f"/{number}" if number else "")),
            *(_pasted(desktop, aims) if _does(PASTES, source, aims) else ()),
            *_selected(desktop, aims, source),
            *_front(front),
            *_saved(desktop, front, aims, source),
            ("selected", shown.get("selected")),
        )
    )
    aim, folder = values.get("aim", ""), values.get("folder", "")
    if folder and aim.startswith(f"{folder}/"):
        values["aim-folder"] = aim.removeprefix(folder)
    return values


def found_values(desktop: Desktop, source: str) -> dict[str, Any]:
    """Return what the document in front holds, and the files that code names, by name.

    All lines of a file are `text`, the sheets of a table `sheets`, and the names in a folder `names`. `line/0` is
    a line of a file that a command in a terminal names.

    Args:
        desktop: The desktop that is restored from the structured state.
        source: The code of the action.
    """
    return _named((*_files(desktop, source), *_document(desktop)))


def places(given: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the places of files in a structured state by the names of values that say where they are.

    A path says it alone, and a name says it within the folder in front: `{selected}` is the file that is selected, and
    `{typed}` one that a typed name will have. `trash/selected` is its entry in the trash, and
    `folder/clipboard` where a file of the clipboard is pasted.

    Args:
        given: What code and the window in front give.
    """
    folder = full(given.get("folder", ""))
    found: dict[str, tuple[str, ...]] = {}
    for name, text in given.items():
        if not isinstance(text, str) or _NO_FILES.match(name):
            continue
        path = full(text)
        alone = path.rpartition("/")[2]
        if _PATH.match(path):
            found[name] = place(path)
        elif _PATH.match(folder) and alone == text:
            found[name] = place(joined(folder, text))
        if name == "selected":
            found |= {"trash/selected": place(joined(TRASH, alone)), "~/selected": place(joined(HOME, alone))}
        if name == "clipboard" and _PATH.match(folder):
            found["folder/clipboard"] = place(joined(folder, alone))
    return {name: steps for name, steps in found.items() if len(steps) >= FEWEST}


def _named(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in pairs:
        if value and not _BRACES.search(name):
            values.setdefault(name, value)
    return values


def _numbered(name: str, values: Iterable[Any]) -> Named:
    """Yield different values: the first by the name alone, the second with `/1`."""
    for number, value in enumerate(dict.fromkeys(values)):
        yield f"{name}/{number}" if number else name, value


def _does(what: re.Pattern[str], source: str, aims: Sequence[ActionTarget]) -> bool:
    """Whether code, or a message at its points, says that something is done."""
    return any(map(what.search, (source, *(aim.told for aim in aims))))


def _code(desktop: Desktop, aims: Sequence[ActionTarget], source: str) -> Named:
    typed = _typed(source)
    yield from _numbered("typed", typed)
    yield from _inserted(desktop, aims, "typed", "".join(typed[:1]))
    yield from _numbered("file", map(short, _paths(source)))
    if "Tools." in source:
        for node in ast.walk(_parsed(source)):
            if isinstance(node, ast.keyword) and node.arg is not None:
                yield from _argument(node.arg, node.value)


def _argument(name: str, node: ast.expr) -> Named:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield name, node.value
    elif isinstance(node, ast.List):
        for number, part in enumerate(node.elts):
            yield from _argument(f"{name}/{number}", part)


def _typed(source: str) -> list[str]:
    """Return the texts that code types, without the keys between them."""
    texts = [arguments[0] for name, arguments in calls(source) if name in _WRITES and arguments]
    return [part for text in texts if isinstance(text, str) for part in _PARTS.split(text) if part]


def _paths(source: str) -> list[str]:
    """Return the absolute paths in code, in their order."""
    found = [node for node in ast.walk(_parsed(source)) if isinstance(node, ast.Constant)]
    found.sort(key=lambda node: (node.lineno, node.col_offset))
    return [node.value for node in found if isinstance(node.value, str) and _PATH.match(node.value)]


def _parsed(source: str) -> ast.Module:
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.parse(source)
    return ast.Module([], [])


def _aim(aim: ActionTarget, end: str) -> Named:
    texts = [part for message in aim.messages for part in message[1:] if isinstance(part, str)]
    said = aim.address or (short(texts[-1]) if texts else "")
    yield f"aim{end}", said
    if said.rpartition("/")[2] == aim.label or document.at(aim.label) is not None:
        yield f"label{end}", aim.label
    yield f"focus{end}", aim.field
    if aim.at is not None:
        yield f"at{end}", list(aim.at)
        yield f"menu{end}", [short(part) if isinstance(part, str) else part for part in aim.messages[-1][1:]]


def _pasted(desktop: Desktop, aims: Sequence[ActionTarget]) -> Named:
    """Yield the text in the clipboard and its cells, and what it makes of the line at the cursor."""
    text, cells = desktop.clipboard, _PARTS.split(desktop.clipboard)
    yield "clipboard", text
    if _PATH.match(text):
        yield "clipboard/name", text.rpartition("/")[2]
    if len(cells) > 1:
        yield from ((f"clipboard/{number}", cell) for number, cell in enumerate(cells[:MOST]))
    yield from _inserted(desktop, aims, "clipboard", text)


def _inserted(desktop: Desktop, aims: Sequence[ActionTarget], name: str, text: str) -> Named:
    """Yield the column and the line of an editor that a text at the cursor makes.

    A column that reads like full seconds has no name, because the clock grows by such numbers.
    """
    window = desktop.active
    if window is None or window["program"] != "editor" or desktop.shown_dialog(window) is not None:
        return
    if not text or _PARTS.search(text):
        return
    field: Field = window["data"]["text"]
    start, stop = field.selection
    for aim in aims:
        if aim.field == "text" and aim.place is not None:
            lines = field.value.split("\n")[: aim.place[0]]
            start = stop = sum(len(line) + 1 for line in lines[:-1]) + aim.place[1] - 1
    before, after = field.value[:start].rpartition("\n")[2], field.value[stop:].partition("\n")[0]
    column = len(before) + 1 + len(text)
    yield f"column+{name}", column if column % TENTHS else 0
    if before or after:
        line = f"before+{name}+after" if before and after else f"line+{name}" if before else f"{name}+line"
        yield line, before + text + after


def _front(front: Mapping[str, Any]) -> Named:
    """Yield the texts of the dialog and the window in front, what is selected in the window first."""
    selected = front.get("selected")
    yield "selected", selected if isinstance(selected, str) else ""
    dialogs = [dialog for dialog in front.get("dialogs", ()) if not dialog.get("loading")]
    for part in (*dialogs[-1:], front):
        for key, value in (*part.get("entries", {}).items(), *part.items()):
            if isinstance(value, str) and key not in _UNNAMED:
                yield key, value
        folder, _, name = str(part.get("path", "")).rpartition("/")
        yield from (("name", name), ("folder", folder))
    for key in ("back", "forward"):
        yield from ((f"{key}/{number}", path) for number, path in enumerate(islice(front.get(key, ()), MOST)))


def _files(desktop: Desktop, source: str) -> Named:
    """Yield the lines of the file that code names, or the names in a folder, and the lines of a file of a command."""
    for path in dict.fromkeys(_paths(source)):
        content = _content(desktop, path)
        if content is not None:
            yield "text", content.split("\n")
            if is_spreadsheet(path):
                yield "sheets", sheets_told(path, content)
        elif desktop.files.is_folder(path):
            yield "names", sorted(desktop.files.names(path))
    window = desktop.active
    if window is not None and window["program"] == "files":
        for path in window["data"]["selected"][:1]:
            content = _content(desktop, path)
            yield "text", content.split("\n") if content is not None else []
    if window is not None and window["program"] == "terminal":
        words = " ".join(_typed(source)).split()
        for path in dict.fromkeys(joined(window["data"]["cwd"], full(word)) for word in words):
            content = _content(desktop, path)
            if content is not None:
                yield from ((f"line/{number}", line) for number, line in enumerate(content.split("\n")[:MOST]))


def _content(desktop: Desktop, path: str) -> str | None:
    node = desktop.files.nodes.get(path)
    return None if node is None else node.content


def _selected(desktop: Desktop, aims: Sequence[ActionTarget], source: str) -> Named:
    """Yield the selection that is copied, and the cell at a point or at the cursor that is edited."""
    window = desktop.active
    if window is None or window["program"] not in _DOCUMENTS or desktop.shown_dialog(window) is not None:
        return
    data = window["data"]
    if _does(_COPIES, source, aims):
        yield "selection", selected_text(data) if window["program"] == "spreadsheet" else data["text"].selected
    if window["program"] == "spreadsheet" and _does(_EDITS, source, aims):
        cells = [cell for aim in aims if (cell := document.at(aim.label)) is not None]
        yield "cell", document.entry_at(data, (cells or [tuple(data["cursor"])])[-1])


def _saved(desktop: Desktop, front: Mapping[str, Any], aims: Sequence[ActionTarget], source: str) -> Named:
    """Yield the lines and the cells that saving a document in front stores."""
    window = desktop.active
    if window is None or window["program"] not in _DOCUMENTS:
        return
    if desktop.shown_dialog(window) is None and not _does(_SAVES, source, aims):
        return
    if window["program"] == "editor":
        lines = front.get("text", {}).get("lines", ())
        yield from ((f"lines/{number}", line) for number, line in enumerate(islice(lines, MOST)))
    else:
        cells = front.get("edits", {}).get(window["data"]["sheet"]) or {}
        yield from ((name, text) for name, text in cells.items() if isinstance(text, str))


def _document(desktop: Desktop) -> Named:
    """Yield the whole document in front."""
    window = desktop.active
    if window is not None and window["program"] == "editor":
        yield "text", window["data"]["text"].value.split("\n")
    elif window is not None and window["program"] == "spreadsheet":
        sheets = saved_sheets(window["data"])
        yield "sheets", sheets
        yield from sheets.items()
