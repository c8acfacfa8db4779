"""Reads a command line of `python`: a script, `-c` or `-m`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from posixpath import dirname, join, normpath

from agentworld_gym.domains.swe.engine.python.module_linker import ModuleLinker
from agentworld_gym.domains.swe.engine.python.source import SourceFile, parse

VERSION = "Python 3.11.9"
PASSED_OVER = ("-u", "-B", "-s", "-E", "-I", "-q", "-O")
BINARY = "/usr/bin/python3"


@dataclass(frozen=True, slots=True)
class Command:
    """A program to run: its text, the folders in which its imports are looked for, and `sys.argv`."""

    source: SourceFile
    paths: list[str]
    arguments: list[str]


class UsageError(Exception):
    """The command line names nothing to run; the text is what Python prints, and `code` is its exit code."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.code = code


def read_command(argv: Sequence[str], files: Mapping[str, str], cwd: str, env: Mapping[str, str]) -> Command:
    """Find the program that a command line names.

    >>> read_command(["-c", "print(1)", "x"], {}, "/w", {}).arguments
    ['-c', 'x']

    Raises:
        UsageError: the command line names nothing to run.
    """
    words = list(argv)
    while words and words[0] in PASSED_OVER:
        words.pop(0)
    search = [normpath(join(cwd, part)) for part in env.get("PYTHONPATH", "").split(":") if part]
    if words and words[0] in ("-V", "--version"):
        raise UsageError(VERSION, 0)
    if len(words) >= 2 and words[0] == "-c":
        return Command(parse("<string>", words[1]), [cwd, *search], ["-c", *words[2:]])
    if len(words) >= 2 and words[0] == "-m":
        path, text = _module(words[1], ModuleLinker(files, [cwd, *search], {}))
        return Command(parse(path, text), [cwd, *search], [path, *words[2:]])
    if not words or words[0].startswith("-"):
        raise UsageError("python: no script, command (-c) or module (-m) to run", 2)
    path = normpath(join(cwd, words[0]))
    if path not in files:
        raise UsageError(f"python: can't open file {path!r}: [Errno 2] No such file or directory", 2)
    return Command(parse(path, files[path]), [dirname(path), *search], words)


def _module(name: str, linker: ModuleLinker) -> tuple[str, str]:
    """Return file and text of a module that is run as a program."""
    module = linker.find(name)
    if module is None:
        raise UsageError(f"{BINARY}: No module named {name}", 1)
    if not module[2]:
        return module[0], module[1]
    inner = linker.find(f"{name}.__main__")
    if inner is None:
        text = f"No module named {name}.__main__; {name!r} is a package and cannot be directly executed"
        raise UsageError(f"{BINARY}: {text}", 1)
    return inner[0], inner[1]
