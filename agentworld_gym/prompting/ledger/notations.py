r"""The notations of a ledger: how its lines are read as entries.

Values stand behind the name of an entry as JSON (`= name: value`), or files as in the initial state of a terminal: the
content in the lines below `= name`, and a line that holds a backslash alone where no line feed ends it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container
from enum import Enum
from typing import Any, NamedTuple


class Told(Enum):
    """What a ledger says of an entry without a value."""

    GONE = "gone"
    """The entry was removed."""

    UNTOLD = "untold"
    """The entry is there, and what it holds is not told."""


class Entries(NamedTuple):
    """What a ledger says."""

    entries: list[tuple[str, Any]]
    """The name of each entry with its value, in their order; `Told` where it has none."""

    malformed: int
    """The number of lines that belong to no entry, and of names that stand there again."""


Notation = Callable[[str, Container[str]], Entries]
"""Reads a ledger. The names that are known tell a removed entry from a line of a content that looks like one."""

_ADDED, _REMOVED, _UNTOLD, _NO_LINE_FEED = "= ", "- ", " ...", "\\"


def json_entries(ledger: str, known: Container[str] = ()) -> Entries:
    """Read entries whose values are JSON.

    >>> json_entries('= memory/a: "x"\\n- memory/b\\n= memory/c: oops\\n')
    Entries(entries=[('memory/a', 'x'), ('memory/b', <Told.GONE: 'gone'>)], malformed=1)
    """
    found: list[tuple[str, Any]] = []
    malformed = 0
    for line in _lines(ledger):
        if line.startswith(_REMOVED) and line != _REMOVED:
            found.append((line.removeprefix(_REMOVED), Told.GONE))
        elif line.startswith(_ADDED) and (entry := _valued(line.removeprefix(_ADDED))):
            found.append(entry)
        else:
            malformed += 1
    return Entries(found, malformed + _repeated(found))


def file_entries(ledger: str, known: Container[str] = ()) -> Entries:
    r"""Read entries that are files and folders; the value of a folder, whose name ends with a slash, is True.

    >>> file_entries("= a.txt\none\n- two\n- old\n= b.bin ...\n= c/\n", known={"old"}).entries[:2]
    [('a.txt', 'one\n- two\n'), ('old', <Told.GONE: 'gone'>)]
    """
    found: list[tuple[str, Any]] = []
    malformed = 0
    content: list[str] | None = None  # of the file that is open

    def close() -> None:
        if content is not None:
            found[-1] = found[-1][0], _content(content)

    for line in _lines(ledger):
        name = line[2:]
        if line.startswith(_ADDED) and name:
            close()
            content = None
            if name.endswith(_UNTOLD):
                found.append((name.removesuffix(_UNTOLD), Told.UNTOLD))
            else:
                found.append((name, True))
                content = None if name.endswith("/") else []
        elif line.startswith(_REMOVED) and name and (content is None or name in known):
            close()
            content = None
            found.append((name, Told.GONE))
        elif content is None:
            malformed += 1
        else:
            content.append(line)
    close()
    return Entries(found, malformed + _repeated(found))


def _lines(ledger: str) -> list[str]:
    return ledger.removesuffix("\n").split("\n") if ledger else []


def _content(lines: list[str]) -> str:
    if lines[-1:] == [_NO_LINE_FEED]:
        return "\n".join(lines[:-1])
    return "".join(f"{line}\n" for line in lines)


def _valued(text: str) -> tuple[str, Any] | None:
    """Split a name from its value; a name may hold a colon itself."""
    end = text.find(": ")
    while end > 0:
        try:
            return text[:end], json.loads(text[end + 2 :])
        except (ValueError, RecursionError):
            end = text.find(": ", end + 1)
    return None


def _repeated(entries: list[tuple[str, Any]]) -> int:
    return len(entries) - len({name for name, _ in entries})
