"""`git`: reads a command line and answers as git 2.39 does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from posixpath import relpath

from agentworld_gym.engines.swe.diff import Change, compare, under
from agentworld_gym.engines.swe.files import absolute, relative
from agentworld_gym.engines.swe.history import GitError, History
from agentworld_gym.engines.swe.objects import Tree
from agentworld_gym.engines.swe.search import glob_matches, ignored

VERSION = "git version 2.39.5\n"
NO_REPOSITORY = "fatal: not a git repository (or any of the parent directories): .git\n"
USAGE = "usage: git [-v | --version] [-h | --help] [-C <path>] [-c <name>=<value>]\n           <command> [<args>]\n"
GLOBAL_WITH_VALUE = ("-c", "--git-dir", "--work-tree", "--namespace")


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
        found = relative(path, self.root)
        if found.startswith("/"):
            raise GitError(f"fatal: {name}: '{name}' is outside repository at '{self.root}'\n")
        return "" if found == "." else found

    def shown(self, path: str) -> str:
        """A path from the root as it is shown in the current folder."""
        if self.cwd == self.root:
            return path
        slash = "/" * path.endswith("/")
        return relpath(f"{self.root}/{path}", self.cwd) + slash

    def select(self, names: Iterable[str], paths: Iterable[str]) -> tuple[list[str], list[str]]:
        """The paths that some operands stand for, and the operands that stand for none."""
        known = sorted(set(paths))
        chosen: dict[str, None] = {}
        missing = []
        for name in names:
            place = self.place(name)
            found = [path for path in known if under(path, [place])]
            if not found and set("*?[") & set(place):
                found = [path for path in known if fnmatch_path(place, path)]
            if not found and (place or not known):
                missing.append(name)
            chosen.update(dict.fromkeys(found))
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


def run(call: GitCall, argv: list[str], repository: bool = True) -> GitCall:
    """Run `git ARGV`; `repository` is False where there is no `.git`."""
    commands = _commands()
    words = list(argv)
    while words and words[0].startswith("-"):
        word = words.pop(0)
        if word in ("--version", "-v"):
            call.say(VERSION)
            return call
        if word in ("--help", "-h"):
            call.say(USAGE)
            return call
        if word == "-C" and words:
            call.cwd = absolute(words.pop(0), call.cwd)
        elif word in GLOBAL_WITH_VALUE and words:
            words.pop(0)
        elif word == "-C" or not word.startswith(("--", "-p", "-P")):
            call.complain(f"unknown option: {word}\nusage: git [-v | --version] [-h | --help] [-C <path>]\n")
            call.status = 129
            return call
    if not words:
        call.say(USAGE)
        call.status = 1
        return call
    name, rest = words[0], words[1:]
    if name == "version":
        call.say(VERSION)
        return call
    command = commands.get(name)
    if command is None:
        call.complain(f"git: '{name}' is not a git command. See 'git --help'.\n")
        call.status = 1
        return call
    inside = call.cwd == call.root or call.cwd.startswith(call.root + "/")
    if not repository or not inside:
        call.complain(NO_REPOSITORY)
        call.status = 128
        return call
    try:
        command(call, rest)
    except GitError as error:
        call.complain(str(error))
        call.status = error.status
    return call


@lru_cache(maxsize=1)
def _commands() -> Mapping[str, Command]:
    from agentworld_gym.engines.swe import git_changes, git_finds, git_looks, git_names, git_remote, git_trees

    modules = (git_changes, git_finds, git_looks, git_names, git_remote, git_trees)
    return {name: command for module in modules for name, command in module.COMMANDS.items()}


def fnmatch_path(pattern: str, path: str) -> bool:
    """Whether a wildcard operand matches a path; here `*` crosses folders.

    >>> fnmatch_path("src/*.py", "src/a/b.py"), fnmatch_path("*.md", "a.py")
    (True, False)
    """
    return fnmatchcase(path, pattern) or glob_matches(pattern, path)


@dataclass
class Options:
    """The options of a command by their long names, its operands, and the paths after `--` (None without it)."""

    chosen: dict[str, str]
    operands: list[str]
    paths: list[str] | None = None
    repeated: list[tuple[str, str]] = field(default_factory=list)

    def __contains__(self, name: str) -> bool:
        return name in self.chosen


def options(command: str, argv: list[str], flag_words: str, value_words: str = "") -> Options:
    """Read a command line. Both tables are written as `name word word; name word`; the second one's words take a value.

    >>> found = options("log", ["-n", "3", "--oneline", "--", "a"], "oneline --oneline", "count -n --max-count")
    >>> found.chosen, found.operands, found.paths
    ({'count': '3', 'oneline': ''}, [], ['a'])

    Raises:
        GitError: an option that the command does not have.
    """
    flags, values = _table(flag_words), _table(value_words)
    found = Options({}, [])
    words = list(argv)

    def choose(name: str, value: str = "") -> None:
        found.chosen[name] = value
        found.repeated.append((name, value))

    while words:
        word = words.pop(0)
        if word == "--":
            found.paths = words
            break
        if not word.startswith("-") or word == "-":
            found.operands.append(word)
            continue
        key, equals, value = word.partition("=")
        if word in flags:
            choose(flags[word])
        elif word in values:
            if not words:
                what = f"switch `{word[1:]}'" if len(word) == 2 else f"option `{word[2:]}'"
                raise GitError(f"error: {what} requires a value\n", 129)
            choose(values[word], words.pop(0))
        elif equals and key in values:
            choose(values[key], value)
        elif word[1:].isdigit() and "-n" in values:
            choose(values["-n"], word[1:])
        elif not word.startswith("--") and word[:2] in values and len(word) > 2:
            choose(values[word[:2]], word[2:])
        elif not word.startswith("--") and len(word) > 2 and word[:2] in flags:
            words[:0] = [word[:2], f"-{word[2:]}"]
        elif command in ("log", "show") and word.startswith("-"):
            raise GitError(f"fatal: unrecognized argument: {word}\n")
        elif word.startswith("--"):
            raise GitError(f"error: unknown option `{key[2:]}'\nusage: git {command} [<options>]\n", 129)
        else:
            raise GitError(f"error: unknown switch `{word[1]}'\nusage: git {command} [<options>]\n", 129)
    return found


@lru_cache(maxsize=128)
def _table(text: str) -> Mapping[str, str]:
    """Option words and the names they stand for."""
    rows = (entry.split() for entry in text.split(";") if entry.strip())
    return {word: name for name, *words in rows for word in words}
