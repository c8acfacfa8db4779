"""What a book of the ledger answers to a look at an entry, in place of a model: the inverse of `readings`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from agentworld_gym.prompting.ledger.book import LedgerBook
from agentworld_gym.prompting.ledger.notations import Told
from agentworld_gym.prompting.ledger.readings import CAT, NAME, UNKNOWN_KEY, absolute, retrieved_key
from agentworld_gym.screens.terminal import PROMPT, echo_of

_HEAD = re.compile(rf"head -n (\d{{1,4}}) ({NAME})")
_LS = re.compile(rf"ls -1(?: ({NAME}))?")


def recalled(book: LedgerBook, action: str, before: str) -> str | None:
    r"""Return what an action shows, where it only looks at entries that the book tells whole; None anywhere else.

    In a terminal these are `cat FILE`, `head -n N FILE` and `ls -1 [FOLDER]`, the last one in the folder in which the
    terminal begins, of which the state tells all. In a search it is a note of the memory that is retrieved alone.

    Args:
        book: What the history says of the hidden state.
        action: The action as the agent wrote it.
        before: The last observation.

    >>> from agentworld_gym.prompting.ledger.notations import file_entries
    >>> book = LedgerBook("terminal", file_entries, here="/srv/", entries={"/srv/a": "1\n2\n"})
    >>> recalled(book, "head -n 1 a", "dev@box:/srv$")
    'dev@box:/srv$ head -n 1 a\n1\ndev@box:/srv$'
    >>> recalled(book, "sort a", "dev@box:/srv$") is None
    True
    """
    answer = _ANSWERS.get(book.domain)
    return None if answer is None else answer(book, action, before)


def _printed(book: LedgerBook, action: str, before: str) -> str | None:
    """What a terminal prints, from the prompt before it to the one behind it."""
    idle, echo = PROMPT.fullmatch(before.rpartition("\n")[2]), echo_of(action)
    if idle is None or echo is None:
        return None
    output = _output(book, echo, idle[0].partition(":")[2][:-1])
    return None if output is None else f"{idle[0]} {echo}\n{output}{idle[0]}"


def _output(book: LedgerBook, command: str, folder: str) -> str | None:
    if named := CAT.fullmatch(command):
        return _content(book, named[1], folder)
    if named := _HEAD.fullmatch(command):
        content = _content(book, named[2], folder)
        return None if content is None else "".join(content.splitlines(keepends=True)[: int(named[1])])
    if named := _LS.fullmatch(command):
        return _listing(book, absolute(named[1] or folder, folder, book.home))
    return None


def _content(book: LedgerBook, name: str, folder: str) -> str | None:
    """The content of a file as a terminal prints it, without blanks at the ends of lines."""
    whole = absolute(name, folder, book.home)
    content = None if whole is None else book.entries.get(whole)
    if not isinstance(content, str) or not content.replace("\n", "").isprintable():
        return None
    return "\n".join(line.rstrip() for line in content.split("\n"))


def _listing(book: LedgerBook, folder: str | None) -> str | None:
    """The names in a folder, one on each line."""
    inside = None if folder is None else f"{folder.rstrip('/')}/"
    if inside is None or not book.here or not inside.startswith(book.here):
        return None
    names = set(_names(book, inside))
    if not names and book.entries.get(inside) is not True:
        return None
    return "".join(f"{name}\n" for name in sorted(names))


def _names(book: LedgerBook, inside: str) -> Iterator[str]:
    for path, value in book.entries.items():
        name = path.removeprefix(inside).partition("/")[0]
        if value is not Told.GONE and path.startswith(inside) and name and not name.startswith("."):
            yield name


def _noted(book: LedgerBook, action: str, before: str) -> str | None:
    """The note that a memory gives back for a single key."""
    key = retrieved_key(action)
    if key is None:
        return None
    note = book.entries.get(f"memory/{key}")
    if note is Told.GONE:
        return UNKNOWN_KEY
    return f"{key}: {note}" if isinstance(note, str) else None


_ANSWERS: Mapping[str, Callable[[LedgerBook, str, str], str | None]] = {"search": _noted, "terminal": _printed}
