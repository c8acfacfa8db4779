"""The initial state of a repository, as a task's `state` gives it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from posixpath import normpath
from typing import Any

from pydantic import Field, field_validator, model_validator

from agentworld_gym.base.documents.strict import Strict, validated

MAX_FILES = 400
MAX_CHARS = 2_000_000
HOME = "/home/dev"
"""The home folder of the user."""
FOLDERS = (HOME, "/home/user", "/root", "/tmp")
"""The folders that are always there."""
_VERSION = re.compile(r"\d+\.\d+(?:\.\d+)?")
_BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,60}")
_PERSON = re.compile(r"[^<>\n]{1,60} <[^<>\n]{1,60}>")


class CommitState(Strict):
    """One commit of the initial state."""

    message: str = Field(min_length=1)
    """The message of the commit."""
    author: str | None = None
    """The author as `Name <address>`; by default the user of the repository."""
    date: str | None = None
    """An ISO time in UTC; by default commits are a day apart."""
    files: dict[str, str | None] = Field(default_factory=dict)
    """What was different at this commit, by path from the root; `null` means that the file did not exist. A file that
    a commit does not name is as in the commit after it, and in the last commit as in the working tree. For a commit
    of the remote these are its changes: the new text of a file, or `null` for a deleted one."""

    @field_validator("author")
    @classmethod
    def _is_person(cls, value: str | None) -> str | None:
        return value if value is None else _person(value)

    @field_validator("date")
    @classmethod
    def _is_time(cls, value: str | None) -> str | None:
        if value is not None:
            moment(value)
        return value

    @field_validator("files")
    @classmethod
    def _inside(cls, value: dict[str, str | None]) -> dict[str, str | None]:
        return {_relative(path): text for path, text in value.items()}


class RemoteState(Strict):
    """The repository from which this one was cloned."""

    name: str = "origin"
    """The name of the remote."""
    url: str = "https://git.example.com/team/project.git"
    """The address of the remote."""
    commits: tuple[CommitState, ...] = ()
    """The commits that the clone lacks, oldest first."""


class GitState(Strict):
    """Version control: the commits on the branch, and the working tree as `files` of the repository has it."""

    branch: str = "main"
    """The name of the branch that is checked out."""
    user: str = "Dev <dev@example.com>"
    """The user as `Name <address>`."""
    commits: tuple[CommitState, ...] = (CommitState(message="Initial commit"),)
    """The commits on the branch, oldest first."""
    remote: RemoteState | None = None
    """The repository from which this one was cloned, if any."""

    @field_validator("branch")
    @classmethod
    def _is_branch(cls, value: str) -> str:
        if not _BRANCH.fullmatch(value):
            raise ValueError("the name of a branch, such as main")
        return value

    @field_validator("user")
    @classmethod
    def _is_person(cls, value: str) -> str:
        return _person(value)

    @field_validator("commits")
    @classmethod
    def _some(cls, value: tuple[CommitState, ...]) -> tuple[CommitState, ...]:
        if not value:
            raise ValueError("at least one commit")
        return value


class RepositoryState(Strict):
    """The initial state of a repository.

    >>> RepositoryState.of({"files": {"/repo/a.py": "x = 1\\n"}}).git.branch
    'main'
    """

    root: str = "/repo"
    """The folder of the repository, an absolute path."""
    files: dict[str, str] = Field(default_factory=dict)
    """The texts of the files by absolute path; those below `root` are the working tree."""
    git: GitState | None = GitState()
    """Version control, or `null` for none."""
    python: str = "3.11.9, pytest 8.3.3, no other packages installed"
    """The version of Python, which further words may follow."""

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> RepositoryState:
        """Validate a state that was read from a task.

        Raises:
            SpecError: the state is wrong; the error names the key, its value and what was expected.
        """
        return validated(cls, dict(state), "task state")

    @field_validator("root")
    @classmethod
    def _is_root(cls, value: str) -> str:
        path = _absolute(value)
        if path == "/" or path.split("/")[1] in SYSTEM:
            raise ValueError("an absolute path outside the system folders, such as /repo")
        return path

    @field_validator("files")
    @classmethod
    def _paths(cls, value: dict[str, str]) -> dict[str, str]:
        files = {_absolute(path): text for path, text in value.items()}
        if len(files) > MAX_FILES or sum(map(len, files.values())) > MAX_CHARS:
            raise ValueError(f"at most {MAX_FILES} files and {MAX_CHARS} characters")
        for path in files:
            if path.split("/")[1] in SYSTEM:
                raise ValueError(f"paths outside the system folders, not {path!r}")
            if any(parent in files for parent in parents(path)):
                raise ValueError(f"paths that are not below another file, not {path!r}")
        return files

    @field_validator("python")
    @classmethod
    def _has_version(cls, value: str) -> str:
        if not _VERSION.match(value):
            raise ValueError("a text that begins with a version, such as 3.11.9")
        return value

    @model_validator(mode="after")
    def _no_git_folder(self) -> RepositoryState:
        if any(path.startswith(f"{self.root}/.git/") for path in self.files):
            raise ValueError("no files below .git, which `git` describes")
        return self

    @property
    def version(self) -> str:
        """The version of Python."""
        match = _VERSION.match(self.python)
        return match.group() if match else "3.11.9"


SYSTEM = frozenset(("bin", "dev", "etc", "lib", "proc", "sbin", "sys", "usr"))
"""Top-level folders that belong to the machine and not to the episode."""


def moment(text: str) -> datetime:
    """Parse an ISO time; a time without a zone is in UTC.

    Raises:
        ValueError: the text is not an ISO time.
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("an ISO time such as 2026-03-02T09:00:00") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def parents(path: str) -> list[str]:
    """Return the folders above an absolute path, the nearest first, without `/`.

    >>> parents("/repo/a/b.py")
    ['/repo/a', '/repo']
    """
    folders = []
    while path := path.rpartition("/")[0]:
        folders.append(path)
    return folders


def _person(value: str) -> str:
    if not _PERSON.fullmatch(value):
        raise ValueError("a name and an address, such as Ada <ada@example.com>")
    return value


def _absolute(path: str) -> str:
    if not path.startswith("/") or "\0" in path:
        raise ValueError(f"absolute paths, not {path!r}")
    return "/" + normpath(path).lstrip("/")


def _relative(path: str) -> str:
    plain = normpath(path)
    if path.startswith("/") or "\0" in path or plain.split("/")[0] in ("..", ".", ".git"):
        raise ValueError(f"paths from the root of the repository, not {path!r}")
    return plain
