"""One call of git: the repository, the working tree, the clock, and what the call prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from posixpath import relpath

from agentworld_gym.domains.swe.engine.files import absolute, relative
from agentworld_gym.domains.swe.engine.git.diff import FileChange, compare, under
from agentworld_gym.domains.swe.engine.git.history import GitError, GitHistory
from agentworld_gym.domains.swe.engine.git.objects import Tree
from agentworld_gym.domains.swe.engine.patterns import glob_matches, ignored


@dataclass
class GitCall:
    """One call of git, which its command reads, changes and prints to."""

    history: GitHistory
    """The content of `.git`."""
    work: dict[str, str]
    """The texts of the working tree by path from the root; commands change it in place."""
    root: str
    """The folder of the repository."""
    cwd: str
    """The current folder."""
    now: int
    """The time in seconds since the epoch."""
    stdin: str = ""
    """The standard input."""
    network: Callable[[], bool] = lambda: True
    """A function that tells whether the remote can be reached."""
    out: list[str] = field(default_factory=list)
    """The standard output so far."""
    errors: list[str] = field(default_factory=list)
    """The standard error so far."""
    status: int = 0
    """The exit status."""

    def say(self, text: str) -> None:
        """Print to standard output."""
        self.out.append(text)

    def complain(self, text: str) -> None:
        """Print to standard error."""
        self.errors.append(text)

    def place(self, name: str) -> str:
        """Return an operand as a path from the root; the root itself is the empty text.

        Raises:
            GitError: the operand lies outside the repository.
        """
        path = absolute(name, self.cwd)
        inside = relative(path, self.root)
        if inside.startswith("/"):
            raise GitError(f"fatal: {name}: '{name}' is outside repository at '{self.root}'\n")
        return "" if inside == "." else inside

    def relative_path(self, path: str) -> str:
        """Return a path from the root relative to the current folder."""
        if self.cwd == self.root:
            return path
        slash = "/" * path.endswith("/")
        return relpath(f"{self.root}/{path}", self.cwd) + slash

    def select(self, names: Iterable[str], paths: Iterable[str]) -> tuple[list[str], list[str]]:
        """Return the paths that some operands stand for, and the operands that stand for none."""
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
        """Return whether an untracked file is ignored."""
        return ignored(path, self.work.get(".gitignore", "").split("\n"))

    def untracked(self) -> list[str]:
        """Return the files that are neither in the index nor ignored."""
        index = self.history.index
        return [path for path in sorted(self.work) if path not in index and not self.ignores(path)]

    def tracked(self) -> Tree:
        """Return the working tree's versions of the files in the index."""
        index = self.history.index
        return {path: text for path, text in self.work.items() if path in index}

    def staged(self, paths: list[str] | None = None) -> list[FileChange]:
        """Return what the next commit would change."""
        return compare(self.history.head.tree, self.history.index, paths or [])

    def unstaged(self, paths: list[str] | None = None) -> list[FileChange]:
        """Return what the working tree changes beyond the index."""
        return compare(self.history.index, self.tracked(), paths or [])


Command = Callable[[GitCall, list[str]], None]
"""A command of git, such as `log`, as a function of the call and of the words after the command's name."""


def fnmatch_path(pattern: str, path: str) -> bool:
    """Return whether a wildcard operand matches a path; its `*` crosses folders.

    >>> fnmatch_path("src/*.py", "src/a/b.py"), fnmatch_path("*.md", "a.py")
    (True, False)
    """
    return fnmatchcase(path, pattern) or glob_matches(pattern, path)
