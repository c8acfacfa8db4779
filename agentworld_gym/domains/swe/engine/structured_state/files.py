"""The files of an episode as plain JSON data: a tree of folders, which are objects, and files, which are lists.

A file is `[text, time]`, with the seconds since the beginning of the episode at which it was written, and with its
permissions as a third entry where they are not the usual ones. Bytes that are no text stand as `{"bytes": BASE64}`. In
a change a file that has just been written is its text alone (`with_texts`, `with_times`).
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any

from agentworld_gym.domains.swe.engine.episode import BEGIN
from agentworld_gym.domains.swe.engine.files import File, Files

USUAL = 0o644
"""The usual permissions of a file."""
LONGEST = 10**8
"""The largest number of seconds between the beginning of an episode and a time in it."""

PlainTree = dict[str, Any]


def plain_tree(files: Files) -> PlainTree:
    """Return the tree of all files and folders.

    >>> plain_tree(Files({"/repo/a.py": File("x\\n", BEGIN + 10)}, ["/tmp"]))
    {'repo': {'a.py': ['x\\n', 10]}, 'tmp': {}}
    """
    tree: PlainTree = {}
    for folder in sorted(files.folders):
        _folder(tree, folder)
    for path, file in sorted(files.items()):
        above, _, name = path.rpartition("/")
        _folder(tree, above)[name] = _plain(file)
    return tree


def files_of(tree: Mapping[str, Any]) -> Files:
    """Return the files and folders of a tree.

    Raises:
        LookupError, TypeError, ValueError: It is no tree.
    """
    files: dict[str, File] = {}
    folders: list[str] = []
    for path, entry in walk(tree):
        if isinstance(entry, Mapping):
            folders.append(path)
        else:
            files[path] = _file(entry)
    return Files(files, folders)


def walk(tree: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the paths of a tree with what stands there, each folder before its entries.

    Raises:
        TypeError, ValueError: It is no tree.
    """
    for name, entry in tree.items():
        if not isinstance(name, str) or name in ("", ".", "..") or "/" in name or "\0" in name:
            raise ValueError(f"no name of a file: {name!r}")
        path = f"{above}/{name}"
        yield path, entry
        if isinstance(entry, Mapping):
            yield from walk(entry, path)


def entry_at(tree: Mapping[str, Any], path: str) -> Any:
    """Return what stands at a path from the top of a tree; None where there is nothing."""
    entry: Any = tree
    for name in filter(None, path.split("/")):
        if not isinstance(entry, Mapping) or name not in entry:
            return None
        entry = entry[name]
    return entry


def with_texts(before: Any, after: Any, now: int) -> Any:
    """Return a tree with its text alone instead of each file that has been written since."""
    if isinstance(after, Mapping):
        inner = before if isinstance(before, Mapping) else {}
        return {name: with_texts(inner.get(name), entry, now) for name, entry in after.items()}
    written = isinstance(after, list) and len(after) == 2 and isinstance(after[0], str) and after[1] == now
    return after[0] if written and after != before else after


def with_times(tree: Any, now: int) -> Any:
    """Return a tree with the time in which a text stands alone: the inverse of `with_texts`."""
    if isinstance(tree, Mapping):
        return {name: with_times(entry, now) for name, entry in tree.items()}
    return [tree, now] if isinstance(tree, str) else tree


def _folder(tree: PlainTree, path: str) -> PlainTree:
    for name in filter(None, path.split("/")):
        tree = tree.setdefault(name, {})
    return tree


def plain_text(text: str) -> str | dict[str, str]:
    """Return the text of a file as plain data that can be encoded: bytes that are no text stand in base 64."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return {"bytes": base64.b64encode(text.encode("utf-8", "surrogateescape")).decode()}
    return text


def text_of_plain(plain: Any) -> str:
    """Return the text of a file from what `plain_text` gave.

    Raises:
        LookupError, TypeError, ValueError: It is none.
    """
    if isinstance(plain, Mapping):
        return base64.b64decode(plain["bytes"], validate=True).decode("utf-8", "surrogateescape")
    if not isinstance(plain, str):
        raise TypeError(f"no text of a file: {str(plain)[:80]!r}")
    plain.encode()
    return plain


def _plain(file: File) -> list[Any]:
    return [plain_text(file.text), file.mtime - BEGIN, *([file.mode] if file.mode != USUAL else [])]


def _file(entry: Any) -> File:
    if not isinstance(entry, list) or not 2 <= len(entry) <= 3:
        raise TypeError(f"a file is its text and its time, and not {str(entry)[:80]!r}")
    text, time, mode = entry if len(entry) == 3 else (*entry, USUAL)
    if type(time) is not int or abs(time) > LONGEST or type(mode) is not int or not 0 <= mode <= 0o7777:
        raise ValueError(f"no time and permissions of a file: {time!r}, {mode!r}")
    return File(text_of_plain(text), BEGIN + time, mode)
