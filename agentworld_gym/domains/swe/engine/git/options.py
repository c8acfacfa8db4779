"""Reads the options and operands of a git command, and tells revisions, ranges and paths apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.diff import under
from agentworld_gym.domains.swe.engine.git.history import GitError
from agentworld_gym.domains.swe.engine.git.objects import Commit


@dataclass
class GitOptions:
    """The options and operands of a command line."""

    values: dict[str, str]
    """The values of the options that are given, by their long names; a flag has the empty value."""
    operands: list[str]
    """The words that are not options."""
    paths: list[str] | None = None
    """The words after `--`, or `None` without `--`."""
    occurrences: list[tuple[str, str]] = field(default_factory=list)
    """Every option with its value, in the order of the command line."""

    def __contains__(self, name: str) -> bool:
        return name in self.values


def read_options(command: str, argv: list[str], flag_words: str, value_words: str = "") -> GitOptions:
    """Read the command line of a command.

    Args:
        command: the name of the command, for errors.
        argv: the words after the name of the command.
        flag_words: the options without a value, written as `name word word; name word`.
        value_words: the options with a value, written in the same way.

    >>> options = read_options("log", ["-n", "3", "--oneline", "--", "a"], "oneline --oneline", "count -n --max-count")
    >>> options.values, options.operands, options.paths
    ({'count': '3', 'oneline': ''}, [], ['a'])

    Raises:
        GitError: the command does not have an option, or an option lacks its value.
    """
    flags, with_value = _table(flag_words), _table(value_words)
    options = GitOptions({}, [])
    words = list(argv)

    def choose(name: str, value: str = "") -> None:
        options.values[name] = value
        options.occurrences.append((name, value))

    while words:
        word = words.pop(0)
        if word == "--":
            options.paths = words
            break
        if not word.startswith("-") or word == "-":
            options.operands.append(word)
            continue
        key, equals, value = word.partition("=")
        if word in flags:
            choose(flags[word])
        elif word in with_value:
            if not words:
                what = f"switch `{word[1:]}'" if len(word) == 2 else f"option `{word[2:]}'"
                raise GitError(f"error: {what} requires a value\n", 129)
            choose(with_value[word], words.pop(0))
        elif equals and key in with_value:
            choose(with_value[key], value)
        elif word[1:].isdigit() and "-n" in with_value:
            choose(with_value["-n"], word[1:])
        elif not word.startswith("--") and word[:2] in with_value and len(word) > 2:
            choose(with_value[word[:2]], word[2:])
        elif not word.startswith("--") and len(word) > 2 and word[:2] in flags:
            words[:0] = [word[:2], f"-{word[2:]}"]
        elif command in ("log", "show") and word.startswith("-"):
            raise GitError(f"fatal: unrecognized argument: {word}\n")
        elif word.startswith("--"):
            raise GitError(f"error: unknown option `{key[2:]}'\nusage: git {command} [<options>]\n", 129)
        else:
            raise GitError(f"error: unknown switch `{word[1]}'\nusage: git {command} [<options>]\n", 129)
    return options


@lru_cache(maxsize=128)
def _table(text: str) -> Mapping[str, str]:
    """Return the names of options by the words that stand for them."""
    rows = (entry.split() for entry in text.split(";") if entry.strip())
    return {word: name for name, *words in rows for word in words}


def split(call: GitCall, options: GitOptions) -> tuple[list[Commit], list[str]]:
    """Split operands into the revisions, which come first, and the paths."""
    revisions: list[Commit] = []
    names: list[str] = []
    for word in options.operands:
        if not names:
            try:
                revisions.extend(_range(call, word))
                continue
            except GitError:
                if options.paths is not None:
                    raise GitError(f"fatal: bad revision '{word}'\n") from None
                if not exists(call, word):
                    raise
        names.append(word)
    for word in names[1:]:
        if not exists(call, word):
            raise GitError(
                f"fatal: {word}: no such path in the working tree.\n"
                "Use 'git <command> -- <path>...' to specify paths that do not exist locally.\n"
            )
    return revisions, [*names, *(options.paths or [])]


def exists(call: GitCall, name: str) -> bool:
    """Return whether an operand names something in the working tree, or holds a wildcard."""
    place = call.place(name)
    return bool(set("*?[") & set(name)) or any(under(path, [place]) for path in call.work)


def paths_of(call: GitCall, names: list[str]) -> list[str]:
    """Return operands as paths from the root; wildcards are replaced by the paths they match."""
    paths: list[str] = []
    for name in names:
        place = call.place(name)
        if set("*?[") & set(place):
            paths.extend(call.select([name], {*call.work, *call.history.index, *call.history.head.tree})[0] or [place])
        else:
            paths.append(place)
    return paths


def _range(call: GitCall, word: str) -> list[Commit]:
    first, dots, second = word.partition("..")
    if not dots:
        return [call.history.resolve(word)]
    return [call.history.resolve(first or "HEAD"), call.history.resolve(second.removeprefix(".") or "HEAD")]
