"""An episode as plain JSON data for a process apart, in which each text, file and commit travels once.

Both sides count what has travelled. What the other side has already seen is sent as its number, so that a command
which changes one file of three hundred sends back one file. What comes back is believed in nothing: the process ran
hostile input, so that all of it is checked before any of it counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from agentworld_gym.core.engines import Controls
from agentworld_gym.domains.swe.engine.episode import RepositoryEpisode
from agentworld_gym.domains.swe.engine.files import DiskFull, File, Files, absolute
from agentworld_gym.domains.swe.engine.git.history import GitHistory, Stash
from agentworld_gym.domains.swe.engine.git.objects import Commit, Tree
from agentworld_gym.domains.swe.engine.python.sandbox import PythonSandbox
from agentworld_gym.domains.terminal.api import checked

T = TypeVar("T")
_ID = re.compile(r"[0-9a-f]{40}")
_LATEST = 253_000_000_000
"""The last second of which a date can be printed, or a little before it."""
_HIGHEST = 10**9
"""The highest number of a process, and of questions to the network."""
_TOLD_ONCE = ("root", "version", "seed", "step", "flaky")
"""What a command reads of an episode and never changes."""
_CHECKED: dict[str, Callable[[Any], Any]] = {
    "processes": lambda told: {_number(int(pid), _HIGHEST): _text(command) for pid, command in told.items()},
    "next_pid": lambda told: _number(told, _HIGHEST),
    "tested": lambda told: _text(told),
    "stopped": lambda told: _text(told),
    "reached": lambda told: bool(checked(told, bool)),
    "attempts": lambda told: _number(told, _HIGHEST),
}
"""What a command may change beside files and version control, and what has to hold of it."""

Changes = list[list[Any]]
"""Paths with the numbers of their texts, or with None where they go."""


@dataclass
class SeenParts:
    """What has travelled already, by number."""

    texts: list[str] = field(default_factory=list)
    files: list[tuple[str, File]] = field(default_factory=list)
    commits: list[Commit] = field(default_factory=list)
    _text_numbers: dict[str, int] = field(default_factory=dict)
    _file_numbers: dict[tuple[str, File], int] = field(default_factory=dict)
    _commit_numbers: dict[str, int] = field(default_factory=dict)

    def text(self, text: str) -> int:
        """Return the number of a text, which travels if it is new."""
        number = self._text_numbers.setdefault(text, len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        return number

    def file(self, path: str, file: File) -> int:
        """Return the number of a file at its path, which travels if it is new."""
        number = self._file_numbers.setdefault((path, file), len(self.files))
        if number == len(self.files):
            self.files.append((path, file))
        return number

    def commit(self, commit: Commit) -> int:
        """Return the number of a commit, which travels if it is new."""
        number = self._commit_numbers.setdefault(commit.id, len(self.commits))
        if number == len(self.commits):
            self.commits.append(commit)
        return number

    def number_of_commit(self, id: str) -> int:
        """Return the number of a commit that has travelled."""
        return self._commit_numbers[id]


def packed(episode: RepositoryEpisode, known: SeenParts) -> dict[str, Any]:
    """Return what a command may read and change of an episode, as plain data for a side that knows some of it.

    Args:
        episode: The episode.
        known: What has travelled already; what travels now is added.
    """
    seen = (len(known.texts), len(known.files), len(known.commits))
    plain = {
        **{name: getattr(episode, name) for name in (*_TOLD_ONCE, *_CHECKED)},
        "tree": [known.file(path, file) for path, file in episode.files.items()],
        "folders": sorted(episode.files.kept_folders),
        "stale": [[compiled, path, known.text(text)] for compiled, (path, text) in episode.stale.items()],
        # A control that is suspended here strikes nowhere else either.
        "controls": [
            {name: episode.controls.strength(name) for name in episode.controls.strengths},
            episode.controls.seed,
        ],
        "history": None if episode.history is None else _packed_history(episode.history, known),
    }
    files = known.files[seen[1] :]
    plain["files"] = [[path, known.text(file.text), file.mtime, file.mode] for path, file in files]
    plain["commits"] = [_packed_commit(commit, known) for commit in known.commits[seen[2] :]]
    return {**plain, "texts": known.texts[seen[0] :]}


def unpacked(plain: Mapping[str, Any], known: SeenParts, sandbox: PythonSandbox) -> RepositoryEpisode:
    """Return the episode of what `packed` returned, with nothing in it that no command reads.

    Args:
        plain: What travelled.
        known: What has travelled already; what travelled now is added.
        sandbox: The sandbox in which its Python runs.

    Raises:
        AttributeError, LookupError, TypeError, ValueError: It is no episode.
    """
    _learn(plain, known)
    history = plain["history"]
    root, version, seed, step, flaky = (plain[name] for name in _TOLD_ONCE)
    return RepositoryEpisode(
        root,
        version,
        seed,
        _files(plain, known),
        None if history is None else _history(history, known),
        sandbox,
        Controls(*plain["controls"]),
        step,
        stale={compiled: (path, known.texts[number]) for compiled, path, number in plain["stale"]},
        flaky=flaky,
        **{name: check(plain[name]) for name, check in _CHECKED.items()},
    )


def changed(episode: RepositoryEpisode, plain: Mapping[str, Any], known: SeenParts) -> Callable[[], None]:
    """Return what makes an episode the one that came back, as far as a command may change it.

    Args:
        episode: The episode as it was sent, which stays as it is until the answer is called.
        plain: What came back.
        known: What travelled there.

    Raises:
        AttributeError, LookupError, TypeError, ValueError: What came back is no episode, or it holds too much.
    """
    other = unpacked(plain, known, episode.sandbox)
    files = episode.files.copy()
    try:
        files.replace(dict(other.files.items()), other.files.kept_folders)
    except DiskFull as error:
        raise ValueError("more files than an episode may hold") from error

    def become() -> None:
        episode.files, episode.history = files, other.history
        for name in _CHECKED:
            setattr(episode, name, getattr(other, name))

    return become


def _learn(plain: Mapping[str, Any], known: SeenParts) -> None:
    for text in plain["texts"]:
        known.text(text_or_bytes(text))
    for path, number, mtime, mode in plain["files"]:
        known.file(_path(path), File(_at(known.texts, number), _number(mtime, _LATEST), _number(mode, 0o7777)))
    for told in plain["commits"]:
        before = len(known.commits)
        if known.commit(_commit(told, known)) != before:
            raise ValueError(f"two commits have one name: {told[0]!r}")


def _files(plain: Mapping[str, Any], known: SeenParts) -> Files:
    files = dict(_at(known.files, number) for number in plain["tree"])
    if len(files) != len(plain["tree"]):
        raise ValueError("two files have one path")
    made = Files(files, [_path(folder) for folder in plain["folders"]])
    if not made.folders.isdisjoint(files):
        raise ValueError("a file is a folder too")
    return made


def _packed_history(history: GitHistory, known: SeenParts) -> dict[str, Any]:
    commits = [known.commit(commit) for commit in history.commits.values()]
    numbers = dict(zip(history.commits, commits, strict=True))
    head = history.head.tree
    return {
        "own": commits,
        "branch": history.branch,
        "detached": numbers[history.detached] if history.detached else None,
        **{name: getattr(history, name) for name in ("user", "remote", "url")},
        "settings": dict(history.settings),
        **{
            name: {branch: numbers[tip] for branch, tip in getattr(history, name).items()}
            for name in ("branches", "tracking", "server")
        },
        "index": _packed_changes(head, history.index, known),
        "stashes": [
            [
                numbers[stash.base],
                _packed_changes(history.commits[stash.base].tree, stash.work, known),
                _packed_changes(history.commits[stash.base].tree, stash.index, known),
                stash.message,
            ]
            for stash in history.stashes
        ],
    }


def _history(told: Mapping[str, Any], known: SeenParts) -> GitHistory:
    own = [_at(known.commits, number) for number in told["own"]]
    commits = {commit.id: commit for commit in own}
    if not all(parent in commits for commit in own for parent in commit.parents):
        raise LookupError("a commit has a parent that is not there")

    def tip(number: Any) -> str:
        return commits[_at(known.commits, number).id].id

    branch, detached = told["branch"], told["detached"]
    history = object.__new__(GitHistory)
    history.commits = commits
    history.branch = None if branch is None else _text(branch)
    history.detached = "" if detached is None else tip(detached)
    history.user, history.remote, history.url = (_text(told[name]) for name in ("user", "remote", "url"))
    history.settings = {_text(key): _text(value) for key, value in told["settings"].items()}
    history.branches, history.tracking, history.server = (
        {_text(name): tip(number) for name, number in told[kind].items()} for kind in ("branches", "tracking", "server")
    )
    history.index = _changed(history.head.tree, told["index"], known)
    history.stashes = tuple(
        Stash(
            tip(base),
            _changed(_at(known.commits, base).tree, work, known),
            _changed(_at(known.commits, base).tree, index, known),
            _text(message),
        )
        for base, work, index, message in told["stashes"]
    )
    return history


def _packed_commit(commit: Commit, known: SeenParts) -> list[Any]:
    parents = [known.number_of_commit(parent) for parent in commit.parents]
    before = known.commits[parents[0]].tree if parents else {}
    changes = _packed_changes(before, commit.tree, known)
    return [commit.id, parents, commit.author, commit.when, commit.message, changes]


def _commit(told: list[Any], known: SeenParts) -> Commit:
    name, numbers, author, when, message, changes = told
    if not _ID.fullmatch(_text(name)):
        raise ValueError(f"no name of a commit: {name!r}")
    parents = [_at(known.commits, number) for number in numbers]
    tree = _changed(parents[0].tree if parents else {}, changes, known)
    ids = tuple(parent.id for parent in parents)
    when = _number(when, _LATEST, -_LATEST)
    return Commit(name, ids, _text(author), when, _text(message), tree)


def _packed_changes(before: Tree, after: Tree, known: SeenParts) -> Changes:
    """Return what differs from one tree to another; trees mostly share their texts, which are compared by name."""
    written = [[path, known.text(text)] for path, text in after.items() if before.get(path) != text]
    return [*written, *([path, None] for path in before if path not in after)]


def _changed(before: Tree, changes: Changes, known: SeenParts) -> Tree:
    if not changes:
        return before
    tree = dict(before)
    for path, number in changes:
        if number is None:
            del tree[path]
        else:
            tree[_path(f"/{_text(path)}")[1:]] = _at(known.texts, number)
    return tree


def _at(known: Sequence[T], number: Any) -> T:
    return known[_number(number, len(known))]


def _number(value: Any, most: int, least: int = 0) -> int:
    if not least <= checked(value, int) <= most:
        raise ValueError(f"no number from {least} to {most}: {str(value)[:80]}")
    return int(value)


def _text(value: Any) -> str:
    """Return a name or a message, which holds no bytes that are no text."""
    if not checked(value, str).isascii():
        value.encode()
    return str(value)


def text_or_bytes(value: Any) -> str:
    """Return what a file holds or a program prints; bytes that are no text are lone surrogates in it.

    Raises:
        TypeError, ValueError: It is nothing of this kind.
    """
    if not checked(value, str).isascii():
        value.encode("utf-8", "surrogateescape")
    return str(value)


def _path(value: Any) -> str:
    if "\0" in _text(value) or absolute(value) != value:
        raise ValueError(f"no absolute path: {value[:80]!r}")
    return str(value)
