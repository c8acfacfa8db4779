"""Git's objects and their identifiers: the SHA-1 of exactly what git would store."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

Tree = Mapping[str, str]
"""The texts of files by path from the root."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit and its whole tree. `when` is in seconds since the epoch, UTC."""

    id: str
    parents: tuple[str, ...]
    author: str
    when: int
    message: str
    tree: Tree

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.split("\n", 1)[0]

    @property
    def date(self) -> str:
        """The date of the commit in the form of `git log`."""
        moment = datetime.fromtimestamp(self.when, UTC)
        return f"{moment:%a %b} {moment.day} {moment:%H:%M:%S %Y} +0000"


def blob_id(text: str) -> str:
    """Return the identifier of a file's content.

    >>> blob_id("hello\\n")
    'ce013625030ba8dba906f756967f9e9ca394464a'
    """
    return _blob(text) if len(text) < 20_000 else _named("blob", _bytes(text))


@lru_cache(maxsize=4096)
def _blob(text: str) -> str:
    return _named("blob", _bytes(text))


def tree_id(tree: Tree) -> str:
    """Return the identifier of a folder with everything below it."""
    folders: dict[str, dict[str, str]] = {}
    entries: list[tuple[str, str, str]] = []
    for path, text in tree.items():
        name, slash, rest = path.partition("/")
        if slash:
            folders.setdefault(name, {})[rest] = text
        else:
            entries.append((name, "100644", blob_id(text)))
    entries.extend((name, "40000", tree_id(below)) for name, below in folders.items())
    # git sorts the names of folders as if they ended with a slash.
    entries.sort(key=lambda entry: _bytes(entry[0] + "/" * (entry[1] == "40000")))
    return _named("tree", b"".join(_bytes(f"{mode} {name}\0") + bytes.fromhex(id) for name, mode, id in entries))


def make_commit(
    parents: Sequence[str], author: str, when: int, message: str, tree: Tree, committed: tuple[str, int] | None = None
) -> Commit:
    """Make a commit with its identifier.

    `committed` is the committer and the time of the commit, where these are not the author and the time of the author.
    """
    message = message.rstrip("\n") + "\n"
    lines = [f"tree {tree_id(tree)}", *(f"parent {parent}" for parent in parents)]
    committer, later = committed or (author, when)
    lines += [f"author {author} {when} +0000", f"committer {committer} {later} +0000", "", message]
    return Commit(_named("commit", _bytes("\n".join(lines))), tuple(parents), author, when, message, dict(tree))


def _named(kind: str, data: bytes) -> str:
    return hashlib.sha1(f"{kind} {len(data)}\0".encode() + data, usedforsecurity=False).hexdigest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
