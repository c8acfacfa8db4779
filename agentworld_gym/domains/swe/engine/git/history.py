"""The content of `.git`: commits, branches, the index, stashes, and the remote from which the repository was cloned."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from agentworld_gym.domains.swe.engine.git.objects import Commit, Tree, blob_id, make_commit
from agentworld_gym.domains.swe.engine.state import GitState, moment

LAST_COMMIT = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
"""The time of the newest commit, unless a task gives its date; the episode begins an hour later."""

_ANCESTRY = re.compile(r"((?:\^\d*|~\d*)*)$")
_STEP = re.compile(r"([~^])(\d*)")
_HEX = re.compile(r"[0-9a-f]{4,40}")


class GitError(Exception):
    """The text that git prints on standard error before it ends, and its exit status."""

    def __init__(self, message: str, status: int = 128) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Stash:
    """Stashed changes: the files of the working tree and of the index, and the commit they were made on."""

    base: str
    work: Tree
    index: Tree
    message: str

    @property
    def id(self) -> str:
        """An identifier like that of a commit."""
        return blob_id(self.message + "".join(f"{path}\0{text}" for path, text in sorted(self.work.items())))


class GitHistory:
    """Everything below `.git`. Its values are replaced and never changed in place, so that a copy is cheap.

    `branch` is `None` while a commit is checked out by itself; `detached` is then that commit.
    """

    def __init__(self, branch: str, user: str, commits: Mapping[str, Commit], tip: str) -> None:
        self.branch: str | None = branch
        self.detached = ""
        self.user = user
        self.commits = dict(commits)
        self.branches = {branch: tip}
        self.index: Tree = self.commits[tip].tree
        self.stashes: tuple[Stash, ...] = ()
        self.remote = ""
        self.url = ""
        self.settings: Mapping[str, str] = {}
        self.tracking: Mapping[str, str] = {}
        self.server: Mapping[str, str] = {}

    @classmethod
    def of(cls, state: GitState, work: Tree) -> GitHistory:
        """Return the history that a task describes, above the working tree of the start."""
        trees: list[Tree] = []
        tree: Tree = work
        for commit in reversed(state.commits):
            tree = _applied(tree, commit.files)
            trees.insert(0, tree)
        commits: dict[str, Commit] = {}
        tip, count = "", len(state.commits)
        for number, (commit_state, tree) in enumerate(zip(state.commits, trees, strict=True)):
            when = moment(commit_state.date) if commit_state.date else LAST_COMMIT - timedelta(days=count - 1 - number)
            made = make_commit(
                (tip,) if tip else (), commit_state.author or state.user, _seconds(when), commit_state.message, tree
            )
            commits[made.id], tip = made, made.id
        history = cls(state.branch, state.user, commits, tip)
        if state.remote is not None:
            history.remote, history.url = state.remote.name, state.remote.url
            history.tracking = {state.branch: tip}
            for commit_state in state.remote.commits:
                when = moment(commit_state.date) if commit_state.date else LAST_COMMIT
                tree = _applied(commits[tip].tree, commit_state.files)
                made = make_commit(
                    (tip,), commit_state.author or state.user, _seconds(when), commit_state.message, tree
                )
                commits[made.id], tip = made, made.id
            history.commits, history.server = commits, {state.branch: tip}
        return history

    def copy(self) -> GitHistory:
        """Return an exact copy."""
        return copy(self)

    @property
    def head(self) -> Commit:
        """The commit that is checked out."""
        return self.commits[self.branches[self.branch] if self.branch is not None else self.detached]

    @property
    def person(self) -> tuple[str, str]:
        """The name and the address of the user."""
        name, _, address = self.user.partition(" <")
        return name, address.rstrip(">")

    def reached_at(self, push: bool) -> str:
        """Return the address at which the remote is asked, or to which one pushes, as the settings have it."""
        fetched = self.settings.get(f"remote.{self.remote}.url", self.url)
        return self.settings.get(f"remote.{self.remote}.pushurl", fetched) if push else fetched

    def move(self, commit: Commit) -> None:
        """Move the current branch, or the detached head, to a commit."""
        self.commits = {**self.commits, commit.id: commit}
        if self.branch is None:
            self.detached = commit.id
        else:
            self.branches = {**self.branches, self.branch: commit.id}

    def ancestors(self, start: str) -> Iterator[Commit]:
        """Yield a commit and all before it, the newest first. Every commit has one parent."""
        at: str | None = start
        while at:
            commit = self.commits[at]
            yield commit
            at = commit.parents[0] if commit.parents else None

    def visible(self) -> set[str]:
        """Return the commits that a command can see: those that were fetched or made here."""
        tips = {*self.branches.values(), *self.tracking.values(), self.head.id, *(s.base for s in self.stashes)}
        seen: set[str] = set()
        for tip in tips:
            for commit in self.ancestors(tip):
                if commit.id in seen:
                    break
                seen.add(commit.id)
        return seen | {id for id in self.commits if id not in self._hidden()}

    def _hidden(self) -> set[str]:
        hidden = {commit.id for tip in self.server.values() for commit in self.ancestors(tip)}
        for tip in (*self.branches.values(), *self.tracking.values()):
            hidden -= {commit.id for commit in self.ancestors(tip)}
        return hidden

    def resolve(self, name: str) -> Commit:
        """Return the commit that a revision names.

        Raises:
            GitError: the revision names no commit.
        """
        match = _ANCESTRY.search(name)
        steps = match.group(1) if match else ""
        base = name[: len(name) - len(steps)] or "HEAD"
        commit = self._named(base)
        for kind, digits in _STEP.findall(steps):
            count = int(digits[:6]) if digits else 1
            if kind == "^" and count > 1:
                raise unknown(name)
            for _ in range(count):
                if not commit.parents:
                    raise unknown(name)
                commit = self.commits[commit.parents[0]]
        return commit

    def _at(self, ref: str) -> str | None:
        """Return the commit that a full name of a reference stands for."""
        if ref.startswith("refs/heads/"):
            return self.branches.get(ref.removeprefix("refs/heads/"))
        start = f"refs/remotes/{self.remote}/"
        return self.tracking.get(ref.removeprefix(start)) if self.remote and ref.startswith(start) else None

    def _named(self, name: str) -> Commit:
        if name in ("HEAD", "@"):
            return self.head
        if self.remote and name in ("@{u}", "@{upstream}"):
            name = f"refs/remotes/{self.remote}/{self.branch}"
        # As in gitrevisions, a full name is itself before it is the end of another one.
        for start in ("", "refs/", "refs/heads/", "refs/remotes/"):
            id = self._at(start + name)
            if id is not None:
                return self.commits[id]
        if _HEX.fullmatch(name):
            ids = [id for id in self.visible() if id.startswith(name)]
            if len(ids) == 1:
                return self.commits[ids[0]]
        raise unknown(name)


def unknown(name: str) -> GitError:
    """Return the error about a revision that names no commit."""
    return GitError(
        f"fatal: ambiguous argument '{name}': unknown revision or path not in the working tree.\n"
        "Use '--' to separate paths from revisions, like this:\n'git <command> [<revision>...] -- [<file>...]'\n"
    )


def _applied(tree: Tree, files: Mapping[str, str | None]) -> Tree:
    changed: Mapping[str, str | None] = {**tree, **files}
    return {path: text for path, text in changed.items() if text is not None}


def _seconds(when: datetime) -> int:
    return int(when.timestamp())
