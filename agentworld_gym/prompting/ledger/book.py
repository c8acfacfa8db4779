"""The book of a ledger: what a history says of the hidden state, against which a turn is checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from agentworld_gym.domain.ledger_check import LedgerCheck
from agentworld_gym.domain.task import Task
from agentworld_gym.prompting.ledger.notations import Notation, Told, file_entries
from agentworld_gym.prompting.ledger.readings import missing_names, shown_entries


@dataclass(frozen=True)
class LedgerBook:
    r"""What a history says of the hidden state. A book never changes; each turn gives another one.

    - A line that belongs to no entry, and a name that stands twice in one ledger, is *malformed*.
    - A *contradiction* is an observation that shows another content than the history says; an error which says that
      something is not there that is there by the history; or an entry that is removed although it is not there by the
      history.
    - An entry that is written as it stood already is *unchanged*.

    Nothing else counts: an entry of which the history says nothing may hold and become anything.

    >>> book = LedgerBook("terminal", file_entries, here="/srv/", entries={"/srv/a": "1\n"})
    >>> turn = "dev@box:/srv$ cat a\n2\ndev@box:/srv$"
    >>> book.check("cat a", turn, "").contradictions, book.check("rm b", "dev@box:/srv$", "- b\n").contradictions
    (1, 1)
    >>> later, _ = book.turned("echo 3 > a", "dev@box:/srv$", "= a\n3\n")
    >>> later.check("touch a", "dev@box:/srv$", "= a\n3\n")
    LedgerCheck(malformed=0, contradictions=0, unchanged=1)
    """

    domain: str
    """The id of the domain."""

    notation: Notation
    """How a ledger is read."""

    here: str = ""
    """The folder that names of entries leave out."""

    home: str = ""
    """The home folder of a terminal."""

    compares: bool = True
    """Whether observations are compared; where a control is in force, they may show something else on purpose."""

    entries: Mapping[str, Any] = field(default_factory=dict)
    """The value of each entry by its whole name; `Told` where there is none."""

    def check(self, action: str, observation: str, ledger: str) -> LedgerCheck:
        """Count what is wrong with a turn.

        Args:
            action: The action as the agent wrote it.
            observation: What it showed.
            ledger: What the model wrote of the changed entries.
        """
        return self.turned(action, observation, ledger)[1]

    def turned(self, action: str, observation: str, ledger: str) -> tuple[LedgerBook, LedgerCheck]:
        """Return the book after a turn, and what is wrong with the turn; the arguments are those of `check`."""
        entries = dict(self.entries)
        contradictions = unchanged = 0
        for name, value in shown_entries(self.domain, action, observation, self.home).items():
            if self.compares and self._excludes(entries, name, value):
                contradictions += 1
            entries[name] = value
        for name in self._denied(entries, action, observation):
            contradictions += self.compares
            entries[name] = Told.GONE
        names = {name.removeprefix(self.here) for name in entries}
        said, malformed = self.notation(ledger, names | entries.keys())
        for name, value in self._whole(said):
            before = entries.get(name)
            if value is Told.GONE and self._lacks(entries, name):
                contradictions += 1
            elif value is not Told.UNTOLD and name in entries and _same(before, value):
                unchanged += 1
            entries[name] = value
        return replace(self, entries=entries), LedgerCheck(malformed, contradictions, unchanged)

    def _whole(self, entries: list[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
        for name, value in entries:
            yield name if name.startswith("/") else self.here + name, value

    def _excludes(self, entries: Mapping[str, Any], name: str, shown: Any) -> bool:
        """Whether the history excludes what an observation shows of an entry."""
        known = entries.get(name)
        if shown is Told.GONE or known is Told.GONE:
            return name in entries and known is not shown
        return isinstance(known, str) and not _same(known, shown)

    def _denied(self, entries: Mapping[str, Any], action: str, observation: str) -> list[str]:
        """The entries that are there as far as the history says, and are not as far as a terminal shows."""
        if self.domain != "terminal":
            return []
        missing = missing_names(action, observation, self.home)
        there = [name for name in entries if isinstance(entries[name], str) or entries[name] is True]
        return [name for name in there if any(_matches(name, pattern) for pattern in missing)]

    def _lacks(self, entries: Mapping[str, Any], name: str) -> bool:
        """Whether the history says that an entry is not there.

        Of the folder in which a terminal begins the state tells all.
        """
        if name in entries:
            return entries[name] is Told.GONE
        return bool(self.here) and name.startswith(self.here)


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal; a terminal does not show blanks at the end of a line."""
    if isinstance(one, str) and isinstance(other, str):
        return [line.rstrip() for line in one.split("\n")] == [line.rstrip() for line in other.split("\n")]
    return type(one) is type(other) and bool(one == other)


def _matches(name: str, pattern: str) -> bool:
    """Whether a name is the one that a shell wrote, in which `*` and `?` stand for letters of one part of it."""
    parts, wanted = name.removesuffix("/").split("/"), pattern.removesuffix("/").split("/")
    hidden = parts[-1].startswith(".") and not wanted[-1].startswith(".")
    return len(parts) == len(wanted) and not hidden and all(map(fnmatchcase, parts, wanted))


def book_of(task: Task, notation: Notation) -> LedgerBook:
    """Return the book at the start of a task: of a terminal, the files and folders of its state."""
    book = LedgerBook(task.domain, notation, compares=not task.controls)
    if task.domain != "terminal":
        return book
    state = task.state
    user = state.get("user", "dev")
    home = str(state.get("home") or ("/root" if user == "root" else f"/home/{user}")).rstrip("/")
    here = f"{str(state.get('cwd') or home).rstrip('/')}/"
    entries: dict[str, Any] = {here: True, f"{home}/": True}
    for path, file in dict(state.get("files") or {}).items():
        content = file.get("content", "") if isinstance(file, Mapping) else file
        entries |= {f"{folder}/": True for folder in _folders(str(path))}
        entries[str(path)] = content if isinstance(content, str) else Told.UNTOLD
    for path in [*(state.get("dirs") or ()), *(state.get("links") or ())]:
        entries |= {f"{folder}/": True for folder in _folders(f"{path}/")}
        entries.setdefault(str(path), Told.UNTOLD)
    return replace(book, here=here if notation is file_entries else "", home=home, entries=entries)


def _folders(path: str) -> Iterator[str]:
    """The folders around a path, without the root."""
    parts = path.split("/")
    return ("/".join(parts[:end]) for end in range(2, len(parts)))
