"""The files of a desktop as two trees: that of the home folder, and that of the rest of the disk.

A folder is `{"in": {name: entry}}`, a file of text `{"text": [line, ...]}`, and a spreadsheet `{"sheets": {name:
{"A1": text}}}`, with its `text` beside them where the program would write it otherwise. An entry may have `mode`, where
its permissions are not the usual ones, and `modified`, in seconds from the start of the episode.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agentworld_gym.domains.desktop.engine.filesystem import HOME, FileNode, FileSystem
from agentworld_gym.domains.desktop.engine.programs.spreadsheet.structured_state import (
    is_spreadsheet,
    sheets_told,
    text_of_sheets,
)

Plain = dict[str, Any]
_FILE, _FOLDER = 0o644, 0o755
TENTHS = 10
"""The number of parts of a second that a structured state tells apart."""


def shortened(seconds: float) -> float:
    """Return a time in seconds, to tenths, as a whole number where it is one.

    >>> shortened(3.0), shortened(2.54)
    (3, 2.5)
    """
    number = round(seconds * TENTHS) / TENTHS
    return int(number) if number == int(number) else number


def trees(files: FileSystem, began: float) -> tuple[Plain, Plain]:
    """Return the tree of the home folder and that of the rest of the disk."""
    every = {path: _describe_node(path, node, began) for path, node in files.nodes.items()}
    for path in sorted(every):
        if path not in ("/", HOME):
            holder, _, name = path.rpartition("/")
            every[holder or "/"]["in"][name] = every[path]
    return every.get(HOME, {}), every["/"]


def place(path: str) -> tuple[str, ...]:
    """Return the path of a file in a structured state.

    >>> place("/home/user/Documents/a.txt"), place("/tmp")
    (('home', 'in', 'Documents', 'in', 'a.txt'), ('disk', 'in', 'tmp'))
    """
    tree, inner = ("home", path[len(HOME) :]) if path == HOME or path.startswith(HOME + "/") else ("disk", path)
    return (tree, *(step for name in inner.split("/") if name for step in ("in", name)))


def nodes(home: Plain, disk: Plain, began: float) -> dict[str, FileNode]:
    """Return the files and folders of two trees by path: the inverse of `trees`."""
    return {**dict(_nodes("", disk, began)), **dict(_nodes(HOME, home, began) if home else ())}


def _describe_node(path: str, node: FileNode, began: float) -> Plain:
    told: Plain
    if node.content is None:
        told, usual = {"in": {}}, _FOLDER
    else:
        told, usual = {"sheets": sheets_told(path, node.content)} if is_spreadsheet(path) else {}, _FILE
        if not told or text_of_sheets(path, told["sheets"]) != node.content:
            told["text"] = node.content.split("\n")
    if node.mode != usual:
        told["mode"] = f"{node.mode:o}"
    if modified := shortened(node.modified - began):
        told["modified"] = modified
    return told


def _nodes(path: str, told: Mapping[str, Any], began: float) -> Iterator[tuple[str, FileNode]]:
    content = None
    if "text" in told:
        content = "\n".join(told["text"])
    elif "sheets" in told:
        content = text_of_sheets(path, told["sheets"])
    usual = _FOLDER if content is None else _FILE
    mode = int(told["mode"], 8) if "mode" in told else usual
    yield path or "/", FileNode(content, mode, began + float(told.get("modified", 0)))
    if content is None:
        for name, inner in told["in"].items():
            yield from _nodes(f"{path}/{name}", inner, began)
