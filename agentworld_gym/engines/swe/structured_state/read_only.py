"""Tells which command lines of the shell only read: what they print follows from files and version control."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from agentworld_gym.engines.terminal.command_line import writes
from agentworld_gym.engines.terminal.lexer import unquoted
from agentworld_gym.engines.terminal.parser import Incomplete, SimpleCommand, TooDeep, Unexpected, parse

_READING = (
    "[ basename cat cd comm cut diff dirname du echo egrep false fgrep file find grep head ls nl od paste printf pwd "
    "sed seq sort stat tac tail test tr true uniq wc which"
)
READING = frozenset(_READING.split())
"""The programs that only read, with most of their options."""
GIT_READING = frozenset(("blame", "diff", "grep", "log", "ls-files", "rev-list", "rev-parse", "show", "status"))
"""The commands of git that only read."""
_FETCH = re.compile(r"git fetch(?: -q)?; *(?=\S)")
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.", re.DOTALL)
_HARMLESS = re.compile(r"\d*>{1,2}\s*/dev/null\b|\d*>&\d|&>\s*/dev/null\b")
_WRITES = re.compile(r">|`|\$\(|<<|<\(")
_SUBSTITUTED = re.compile(r"(?<!\\)(?:\\\\)*(?:`|\$\()")
"""The beginning of a command within double quotes."""


def simple_commands(command: str) -> list[SimpleCommand]:
    """Return the simple commands of a command line; none where it is no whole script.

    >>> [simple.words for simple in simple_commands("cat a.txt | wc -l")]
    [['cat', 'a.txt'], ['wc', '-l']]
    """
    try:
        return parse(command + "\n")
    except (Incomplete, TooDeep, Unexpected):
        return []


@lru_cache(maxsize=1024)
def only_reads(command: str) -> bool:
    """Whether a command line only reads files and version control.

    >>> [only_reads(text) for text in ("cat a | head -n 2", "git diff", "sed -i s/a/b/ c", "ls > d", "python e.py")]
    [True, True, False, False, False]
    """
    plain = _HARMLESS.sub("", _QUOTED.sub("_", command))
    if _WRITES.search(plain) or any(text[0] == '"' and _SUBSTITUTED.search(text) for text in _QUOTED.findall(command)):
        return False
    simples = simple_commands(command)
    return bool(simples) and all(_reads(simple) for simple in simples)


def after_fetch(command: str) -> str:
    """Return what a command line does once commits are fetched; all of it where it does not begin with that.

    >>> after_fetch("git fetch -q; git log"), after_fetch("git log; git fetch")
    ('git log', 'git log; git fetch')
    """
    return _FETCH.sub("", command)


def _reads(simple: SimpleCommand) -> bool:
    words = [unquoted(word) for word in simple.words]
    if simple.background or not words:
        return False
    if words[0] == "git":
        return _git_reads(words[1:])
    return words[0] in READING and not writes(words[0], words[1:])


def _git_reads(words: Sequence[str]) -> bool:
    if not words:
        return False
    name, rest = words[0], words[1:]
    if name == "branch":
        return all(word in ("-a", "-v", "-vv", "-r", "--all", "--list", "--show-current") for word in rest)
    if name in ("remote", "stash"):
        return list(rest) in ([["-v"], []] if name == "remote" else [["list"]])
    return name in GIT_READING
