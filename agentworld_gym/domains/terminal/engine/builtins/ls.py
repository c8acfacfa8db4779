"""`ls`, of which the sandbox has only a part."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bashkit import BuiltinContext, BuiltinResult

from agentworld_gym.domains.terminal.engine.builtins.common import (
    CommandUsageError,
    FileTree,
    Metadata,
    blocks,
    human,
    inode,
    mode_bits,
    mode_text,
    options,
)
from agentworld_gym.domains.terminal.engine.context import ShellContext
from agentworld_gym.domains.terminal.engine.screen import COLUMNS

SHORT = "aAlhRtSr1CdiFpnogmxsGLHUkXvcuBbqQNfw:I:"
LONG = {
    "all": "a",
    "almost-all": "A",
    "human-readable": "h",
    "recursive": "R",
    "reverse": "r",
    "directory": "d",
    "inode": "i",
    "classify": "F",
    "numeric-uid-gid": "n",
    "no-group": "G",
    "size": "s",
    "dereference": "L",
    "color": "",
    "group-directories-first": "dirs",
    "full-time": "full",
    "time-style=": "style",
    "sort=": "sort",
    "quoting-style=": "quoting",
    "width=": "w",
    "format=": "format",
    "literal": "N",
}
_SAFE = re.compile(r"[\w@%+=:,./\-^~#\[\]{}]*", re.ASCII)
_SORTS = {"time": "t", "size": "S", "none": "U", "extension": "X", "version": "v", "name": ""}
_FORMATS = {"long": "l", "single-column": "1", "vertical": "C", "commas": "m", "across": "x", "horizontal": "x"}
_HALF_YEAR = 31_556_952 // 2


@dataclass(slots=True)
class _Item:
    name: str
    path: str
    metadata: Metadata
    shown: str = ""
    padded: bool = False

    @property
    def label(self) -> str:
        return f" {self.shown}" if self.padded else self.shown


@dataclass(slots=True)
class _Style:
    form: str = "1"
    flags: set[str] = field(default_factory=set)
    order: str = ""
    quoting: bool = False
    times: str = ""
    width: int = COLUMNS


def ls(context: ShellContext, call: BuiltinContext) -> str | BuiltinResult:
    """`ls`."""
    try:
        flags, operands = options("ls", call.argv, SHORT, LONG, status=2)
        style = _style(flags)
    except CommandUsageError as usage:
        return usage.result
    tree = FileTree(context, call)
    errors: list[str] = []
    files: list[_Item] = []
    folders: list[_Item] = []
    for name in operands or ["."]:
        path = tree.path(name)
        metadata = tree.entry(path)
        followed = metadata is not None and metadata["file_type"] == "symlink"
        if followed and ("L" in style.flags or (style.form != "l" and "d" not in style.flags) or name.endswith("/")):
            metadata = tree.target(path) or metadata
        if metadata is None:
            errors.append(f"ls: cannot access '{name}': {tree.why_missing(path)}\n")
        elif metadata["file_type"] == "directory" and "d" not in style.flags:
            folders.append(_Item(name, path, metadata))
        elif name.endswith("/") and metadata["file_type"] != "directory":
            errors.append(f"ls: cannot access '{name}': Not a directory\n")
        else:
            files.append(_Item(name, path, metadata))
    parts: list[str] = []
    if files:
        parts.append(_print(tree, style, _sorted(tree, style, files), total=False))
    headed = len(operands) > 1 or "R" in style.flags
    queue = _sorted(tree, style, folders)
    while queue:
        folder = queue.pop(0)
        items = _contents(tree, style, folder)
        header = f"{_quoted(folder.name, style.quoting)}:\n" if headed else ""
        parts.append(header + _print(tree, style, items, total=True))
        if "R" in style.flags:
            below = [i for i in items if i.metadata["file_type"] == "directory" and i.name not in (".", "..")]
            queue = [_Item(f"{folder.name.rstrip('/')}/{i.name}", i.path, i.metadata) for i in below] + queue
    return BuiltinResult("\n".join(parts), "".join(errors), 2 if errors else 0)


def _style(flags: Iterable[tuple[str, str]]) -> _Style:
    style = _Style()
    for option, value in flags:
        if option in ("l", "n", "o", "g", "full"):
            style.form = "l"
            style.flags.add(option)
        elif option in ("1", "C", "m", "x"):
            if option != "1" or style.form != "l":
                style.form = option
        elif option in ("t", "S", "U", "X", "v", "f"):
            style.order = "U" if option == "f" else option
            if option == "f":
                style.flags.add("a")
        elif option == "sort":
            style.order = _SORTS.get(value, "")
        elif option == "format":
            style.form = _FORMATS.get(value, style.form)
        elif option == "quoting":
            style.quoting = value.startswith("shell")
        elif option == "N":
            style.quoting = False
        elif option == "style":
            style.times = value
        elif option == "w" and value.isdigit():
            style.width = int(value)
        else:
            style.flags.add(option)
    if "full" in style.flags:
        style.times = "full-iso"
    return style


def _contents(tree: FileTree, style: _Style, folder: _Item) -> list[_Item]:
    entries = tree.listing(folder.path) or {}
    base = "" if folder.path == "/" else folder.path
    items = [
        _Item(name, f"{base}/{name}", metadata)
        for name, metadata in entries.items()
        if not name.startswith(".") or "a" in style.flags or "A" in style.flags
    ]
    if "L" in style.flags:
        items = [_Item(i.name, i.path, tree.target(i.path) or i.metadata) for i in items]
    if "a" in style.flags:
        above = folder.path.rpartition("/")[0] or "/"
        parent = tree.entry(above) or folder.metadata
        items = [_Item(".", folder.path, folder.metadata), _Item("..", above, parent), *items]
    return _sorted(tree, style, items)


def _sorted(tree: FileTree, style: _Style, items: list[_Item]) -> list[_Item]:
    if style.order == "U":
        return items
    items = sorted(items, key=lambda item: item.name)
    if style.order == "t":
        items.sort(key=lambda item: -tree.modified(item.metadata))
    elif style.order == "S":
        items.sort(key=lambda item: -tree.size(item.path, item.metadata))
    elif style.order == "X":
        items.sort(key=lambda item: item.name.lstrip(".").partition(".")[2] and item.name.rpartition(".")[2])
    elif style.order == "v":
        items.sort(
            key=lambda item: [(p.isdigit(), int(p) if p.isdigit() else p) for p in re.findall(r"\d+|\D+", item.name)]
        )
    if "r" in style.flags:
        items.reverse()
    if "dirs" in style.flags:
        items.sort(key=lambda item: item.metadata["file_type"] != "directory")
    return items


def _print(tree: FileTree, style: _Style, items: list[_Item], total: bool) -> str:
    for item in items:
        item.shown = _quoted(item.name, style.quoting) + _indicator(style, item.metadata)
    if style.quoting and style.form in "lCx" and any(item.shown[:1] in "'\"" for item in items):
        for item in items:
            item.padded = item.shown[:1] not in "'\""
    if "i" in style.flags and style.form != "l":
        width = max((len(str(inode(item.path))) for item in items), default=0)
        for item in items:
            item.shown = f"{inode(item.path):>{width}} {item.label}"
            item.padded = False
    if style.form == "l":
        return _long(tree, style, items, total)
    head = ""
    if "s" in style.flags:
        width = max((len(str(blocks(item.metadata))) for item in items), default=1)
        for item in items:
            item.shown = f"{blocks(item.metadata):>{width}} {item.shown}"
        head = f"total {sum(blocks(item.metadata) for item in items)}\n" if total else ""
    if style.form == "1":
        return head + "".join(f"{item.shown}\n" for item in items)
    if style.form == "m":
        return head + _commas([item.shown for item in items], style.width)
    return head + _columns([item.label for item in items], style.form == "C", style.width)


def _indicator(style: _Style, metadata: Metadata) -> str:
    kind = metadata["file_type"]
    if kind == "directory":
        return "/" if style.flags & {"F", "p"} else ""
    if "F" not in style.flags:
        return ""
    if kind == "symlink":
        return "" if style.form == "l" else "@"
    return "*" if mode_bits(metadata) & 0o111 else ""


def _long(tree: FileTree, style: _Style, items: list[_Item], total: bool) -> str:
    rows: list[list[str]] = []
    for item in items:
        size = tree.size(item.path, item.metadata)
        owner = tree.owner(item.path)
        identity = str(0 if owner == "root" else tree.context.uid) if "n" in style.flags else owner
        rows.append(
            [
                str(inode(item.path)) if "i" in style.flags else "",
                str(blocks(item.metadata)) if "s" in style.flags else "",
                mode_text(item.metadata),
                str(tree.links(item.path, item.metadata)),
                "" if "g" in style.flags else identity,
                "" if style.flags & {"o", "G"} else identity,
                human(size) if "h" in style.flags else str(size),
                _time(tree.context.clock.now, tree.modified(item.metadata), style.times),
            ]
        )
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(8)]
    lines: list[str] = []
    if total:
        kibibytes = sum(blocks(item.metadata) for item in items)
        lines.append(f"total {human(kibibytes * 1024) if 'h' in style.flags else kibibytes}")
    for item, row in zip(items, rows, strict=True):
        cells = [
            f"{cell:<{width}}" if column in (2, 4, 5) else f"{cell:>{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            if width
        ]
        name = item.label
        if item.metadata["file_type"] == "symlink":
            name += f" -> {_quoted(tree.link(item.path), style.quoting)}"
        lines.append(" ".join([*cells, name]))
    return "".join(f"{line}\n" for line in lines)


def _time(now: float, then: float, style: str) -> str:
    moment = datetime.fromtimestamp(then, UTC)
    if style.startswith("+"):
        return moment.strftime(style[1:])
    if style == "full-iso":
        return moment.strftime("%Y-%m-%d %H:%M:%S.%f") + "000 +0000"
    if style == "long-iso":
        return moment.strftime("%Y-%m-%d %H:%M")
    recent = now - _HALF_YEAR < then <= now
    if style == "iso":
        return moment.strftime("%m-%d %H:%M" if recent else "%Y-%m-%d ")
    return moment.strftime("%b %e %H:%M" if recent else "%b %e  %Y")


def _quoted(name: str, quoting: bool) -> str:
    if not quoting or (name and _SAFE.fullmatch(name) and name[0] not in "~#"):
        return name
    if name and name.isprintable() and re.fullmatch(r"[\w@%+=:,./\-^~#\[\]{}]*", name) and name[0] not in "~#":
        return name
    if "'" in name and not re.search(r"[\"$`\\!]", name) and name.isprintable():
        return f'"{name}"'
    return "'" + name.replace("'", "'\\''") + "'"


def _columns(labels: list[str], down: bool, width: int) -> str:
    if not labels:
        return ""
    count = len(labels)
    best: list[int] = [max(len(label) for label in labels)]
    for columns in range(min(count, max(width // 3, 1)), 1, -1):
        rows = -(-count // columns)
        widths = [0] * columns
        for index, label in enumerate(labels):
            column = index // rows if down else index % columns
            widths[column] = max(widths[column], len(label) + (2 if column != columns - 1 else 0))
        used = [max(w, 3) for w in widths]
        if sum(used) < width:
            best = widths
            break
    columns = len(best)
    rows = -(-count // columns)
    lines: list[str] = []
    for row in range(rows):
        chosen = labels[row::rows] if down else labels[row * columns : (row + 1) * columns]
        cells = [f"{label:<{best[column]}}" for column, label in enumerate(chosen[:-1])]
        lines.append("".join(cells) + chosen[-1] + "\n")
    return "".join(lines)


def _commas(labels: list[str], width: int) -> str:
    text, used = "", 0
    for index, label in enumerate(labels):
        length = len(label) + (2 if index + 1 < len(labels) else 0)
        if index:
            if used + len(label) + 2 > width:
                text, used = text + ",\n", 0
            else:
                text, used = text + ", ", used
        text += label
        used += length
    return text + "\n" if text else ""


COMMANDS = {"ls": ls, "dir": ls, "vdir": ls}
