"""Tells which command lines of the shell only read: what they print follows from files and version control."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from agentworld_gym.base.text.envelope import Envelope
from agentworld_gym.core.engines import Controls
from agentworld_gym.domains.swe.engine.episode import RepositoryEpisode
from agentworld_gym.domains.swe.engine.python.sandbox import NO_SANDBOX
from agentworld_gym.domains.swe.engine.state import RepositoryState
from agentworld_gym.domains.swe.engine.tools import SHELL, use
from agentworld_gym.domains.terminal.api import (
    READERS,
    Incomplete,
    SimpleCommand,
    TooDeep,
    Unexpected,
    parse,
    unquoted,
    writes,
)

READING = READERS | {"cd", "command", "date", "less", "more", "sed"}
"""The programs that only read, with most of their options."""
GIT_READING = frozenset(("blame", "diff", "grep", "log", "ls-files", "rev-list", "rev-parse", "show", "status"))
"""The commands of git that only read."""
MISSING = 127
"""The exit status of a program that the shell does not find."""
_PROGRAM = re.compile(r"[A-Za-z][\w.-]*")
"""A name that stands for a program wherever the command runs."""
_FETCH = re.compile(r"git fetch(?: -q)?; *(?=\S)")
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.", re.DOTALL)
_HARMLESS = re.compile(r"\d*>{1,2}\s*/dev/null\b|\d*>&\d|&>\s*/dev/null\b")
_WRITES = re.compile(r">|`|\$\(|<<|<\(")
_ARITHMETIC = re.compile(r"\$\(\([^()`]*\)\)")
_INNER = re.compile(r"\$\(([^()`]*)\)")
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
    command = without_reading(command)
    plain = _HARMLESS.sub("", _QUOTED.sub("_", command))
    if _WRITES.search(plain) or any(text[0] == '"' and _SUBSTITUTED.search(text) for text in _QUOTED.findall(command)):
        return False
    simples = simple_commands(command)
    return bool(simples) and all(_reads(simple) for simple in simples)


def without_reading(command: str) -> str:
    """Return a command line without the substitutions that only read: words stand in their place.

    >>> without_reading("echo $((6 * 7)) $(cat a) $(rm a)")
    'echo _ _ $(rm a)'
    """
    return _INNER.sub(lambda inner: "_" if only_reads(inner[1]) else inner[0], _ARITHMETIC.sub("_", command))


def after_fetch(command: str) -> str:
    """Return what a command line does once commits are fetched; all of it where it does not begin with that.

    >>> after_fetch("git fetch -q; git log"), after_fetch("git log; git fetch")
    ('git log', 'git log; git fetch')
    """
    return _FETCH.sub("", command)


def program_reads(words: Sequence[str]) -> bool:
    """Whether a program only reads, by its words without their quotes; so does one that the shell does not find.

    >>> program_reads(["git", "log"]), program_reads(["npm", "install"]), program_reads(["touch", "a"])
    (True, True, False)
    """
    program, *others = words
    if program == "git":
        return _git_reads(others)
    if program in ("python", "python3"):
        return others in (["--version"], ["-V"])
    if program in ("pip", "pip3"):
        return others[:1] in (["list"], ["freeze"], ["show"], ["--version"])
    if program in ("command", "date"):
        return all(word.startswith("+") or word in ("-u", "-v") for word in others[:1])
    return not writes(program, others) if program in READING else not is_program(program)


@lru_cache(maxsize=1024)
def is_program(name: str) -> bool:
    """Whether the shell of a repository has a program or a builtin of a name.

    >>> is_program("rm"), is_program("npm"), is_program("make")
    (True, False, False)
    """
    if not _PROGRAM.fullmatch(name):
        return True
    episode = RepositoryEpisode.of(RepositoryState.of({"files": {"/repo/a": ""}}), 0, Controls({}, 0), NO_SANDBOX)
    # What has a place among the programs of the system may be missing all the same.
    found = use(episode, SHELL, {"command": f"command -v {name}"})
    if isinstance(found, Envelope) and found.output.startswith("/"):
        found = use(episode, SHELL, {"command": f"{name} --version < /dev/null"})
        return not isinstance(found, Envelope) or found.exit_code != MISSING
    return not isinstance(found, Envelope) or found.exit_code == 0


def _reads(simple: SimpleCommand) -> bool:
    return not simple.background and bool(simple.words) and program_reads([unquoted(word) for word in simple.words])


def _git_reads(words: Sequence[str]) -> bool:
    if not words:
        return False
    name, rest = words[0], words[1:]
    if name == "branch":
        return all(word in ("-a", "-v", "-vv", "-r", "--all", "--list", "--show-current") for word in rest)
    if name in ("remote", "stash"):
        return list(rest) in ([["-v"], []] if name == "remote" else [["list"]])
    return name in GIT_READING
