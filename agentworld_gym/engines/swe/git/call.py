"""One call of git: what it was called with, what it may change, and what it prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from posixpath import relpath

from agentworld_gym.engines.swe.files import absolute, relative
from agentworld_gym.engines.swe.git.diff import Change, compare, under
from agentworld_gym.engines.swe.git.history import GitError, History
from agentworld_gym.engines.swe.git.objects import Tree
from agentworld_gym.engines.swe.patterns import glob_matches, ignored


@dataclass
class GitCall:
    """One command: what it was called with, what it may change, and what it says.

    `work` holds the texts of the working tree by path from the root; a command changes it in place. `now` is the time
    in seconds. `network` says whether the remote can be reached.
    """

    history: History
    work: dict[str, str]
    root: str
    cwd: str
    now: int
    stdin: str = ""
    network: Callable[[], bool] = lambda: True
    out: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    status: int = 0

    def say(self, text: str) -> None:
        """Print to standard output."""
        self.out.append(text)

    def complain(self, text: str) -> None:
        """Print to standard error."""
        self.errors.append(text)

    def place(self, name: str) -> str:
        """An operand as a path from the root; empty for the root itself.

        Raises:
            GitError: it lies outside.
        """
        path = absolute(name, self.cwd)
        inside = relative(path, self.root)
        if inside.startswith("/"):
            raise GitError(f"fatal: {name}: '{name}' is outside repository at '{self.root}'\n")
        return "" if inside == "." else inside

    def shown(self, path: str) -> str:
        """A path from the root as it is shown in the current folder."""
        if self.cwd == self.root:
            return path
        slash = "/" * path.endswith("/")
        return relpath(f"{self.root}/{path}", self.cwd) + slash

    def select(self, names: Iterable[str], paths: Iterable[str]) -> tuple[list[str], list[str]]:
        """The paths that some operands stand for, and the operands that stand for none."""
        candidates = sorted(set(paths))
        chosen: dict[str, None] = {}
        missing = []
        for name in names:
            place = self.place(name)
            matches = [path for path in candidates if under(path, [place])]
            if not matches and set("*?[") & set(place):
                matches = [path for path in candidates if fnmatch_path(place, path)]
            if not matches and (place or not candidates):
                missing.append(name)
            chosen.update(dict.fromkeys(matches))
        return list(chosen), missing

    def ignores(self, path: str) -> bool:
        """Whether an untracked file is left out."""
        return ignored(path, self.work.get(".gitignore", "").split("\n"))

    def untracked(self) -> list[str]:
        """Files that git does not know and does not ignore."""
        index = self.history.index
        return [path for path in sorted(self.work) if path not in index and not self.ignores(path)]

    def tracked(self) -> Tree:
        """The working tree's versions of the files in the index."""
        index = self.history.index
        return {path: text for path, text in self.work.items() if path in index}

    def staged(self, paths: list[str] | None = None) -> list[Change]:
        """What the next commit would change."""
        return compare(self.history.head.tree, self.history.index, paths or [])

    def unstaged(self, paths: list[str] | None = None) -> list[Change]:
        """What the working tree changes beyond the index."""
        return compare(self.history.index, self.tracked(), paths or [])


Command = Callable[[GitCall, list[str]], None]
"""A command of git, such as `log`, as a function of the call and of the words after the command's name."""


def fnmatch_path(pattern: str, path: str) -> bool:
    """Whether a wildcard operand matches a path; here `*` crosses folders.

    >>> fnmatch_path("src/*.py", "src/a/b.py"), fnmatch_path("*.md", "a.py")
    (True, False)
    """
    return fnmatchcase(path, pattern) or glob_matches(pattern, path)
