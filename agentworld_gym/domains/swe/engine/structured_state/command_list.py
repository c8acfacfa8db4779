"""What a command line does to files, and what its words name: files, branches, and the message of a commit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from agentworld_gym.domains.swe.engine.structured_state.read_only import program_reads, simple_commands, without_reading
from agentworld_gym.domains.terminal.api import HereDocument, Incomplete, Lexer, TooDeep, unquoted, writes

Kind = Literal["reads", "silent", "commits", "other"]
"""What a step does: it prints what follows from the files, it changes files and prints nothing, it makes a commit of
which git prints a summary, or it does anything else."""

WRITERS = frozenset(("chmod", "cp", "ln", "mkdir", "mv", "rm", "rmdir", "touch", "truncate"))
"""The programs that change files and print nothing, unless an option asks them to or they fail."""
COMMITTED = "[a commit]"
"""Stands in a script for the summary of a commit."""
_TALKS = re.compile(r"-[A-Za-z]*[vi][A-Za-z]*|--(?:verbose|interactive|help|version)")
_GIT_SILENT = frozenset(("add", "config", "mv", "restore"))
_QUIET = frozenset(("-q", "--quiet", "-qm", "-aqm", "-qam"))
_HUSHED = frozenset(("checkout", "commit", "fetch", "merge", "pull", "push", "reset", "rm", "stash", "switch"))
"""The commands of git that print nothing with the option `--quiet`."""
_WORDS = "! [[ case do done elif else esac fi for function if in select then time until while { }"
_KEYWORDS = frozenset(_WORDS.split())
_ASSIGNED = re.compile(r"\w+\+?=")
_SUBSTITUTED = re.compile(r"`|\$\(|[<>]\(")
_WRITING = frozenset((">", ">>", ">|", "1>", "1>>"))
_NOWHERE = "/dev/null"


@dataclass(frozen=True, slots=True)
class PipelineStep:
    """One pipeline of a list of commands."""

    programs: tuple[tuple[str, ...], ...]
    """The words of each program, without quotes."""
    span: tuple[int, int]
    """Where it stands in the line, with its redirections."""
    target: str = ""
    """The file that gets the output; empty where it is printed."""
    target_span: tuple[int, int] = (0, 0)
    """Where the redirection to that file stands in the line."""
    appends: bool = False
    """Whether the output goes to the end of that file."""
    source: str = ""
    """The step without that redirection, and with its here-document."""
    has_document: bool = False
    """Whether a here-document is its input."""

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the first program."""
        return self.programs[0]

    @property
    def operands(self) -> tuple[str, ...]:
        """The words behind the name of the first program that are no options."""
        return tuple(word for word in self.words[1:] if not word.startswith("-"))

    @property
    def reads(self) -> bool:
        """Whether all programs only read; what they print may go into a file."""
        return bool(self.words) and all(map(program_reads, self.programs))

    @property
    def kind(self) -> Kind:
        """What it does."""
        if self.reads:
            return "reads"
        if not self.words and self.target and len(self.programs) == 1:
            return "silent"
        if self.target or len(self.programs) > 1:
            return "other"
        if self.words[0] == "git":
            return _kind_of_git(self.words[1:])
        silent = self.edits or (self.words[0] in WRITERS and not any(map(_TALKS.fullmatch, self.words[1:])))
        return "silent" if silent else "other"

    @property
    def edits(self) -> bool:
        """Whether it is `sed -i` with a script that writes no other file."""
        rest = [word for word in self.words[1:] if word != "-i"]
        return self.words[0] == "sed" and len(rest) < len(self.words) - 1 and not writes("sed", rest)


@dataclass
class _Begun:
    """A step while it is read."""

    start: int
    end: int
    programs: list[list[str]] = field(default_factory=lambda: [[]])
    target: str = ""
    target_span: tuple[int, int] = (0, 0)
    appends: bool = False
    documents: int = 0


@lru_cache(maxsize=1024)
def steps_of(line: str) -> tuple[PipelineStep, ...]:
    """Return the steps of a list of commands; none where it has branches, loops, substitutions, or is no whole script.

    >>> [(step.words, step.kind, step.target) for step in steps_of("mkdir -p a && echo b > a/c; cat a/c | wc -l")]
    [(('mkdir', '-p', 'a'), 'silent', ''), (('echo', 'b'), 'reads', 'a/c'), (('cat', 'a/c'), 'reads', '')]
    >>> steps_of("for name in *; do rm $name; done")
    ()
    """
    try:
        return tuple(_steps(line + "\n"))
    except (Incomplete, TooDeep, RecursionError, _NotPlain):
        return ()


class _NotPlain(Exception):
    """A line is more than a list of pipelines."""


def _steps(text: str) -> list[PipelineStep]:
    lexer = Lexer(text)
    steps: list[PipelineStep] = []
    waiting: list[_Begun] = []
    begun: _Begun | None = None
    redirection = None
    end_of_line = lexer.position
    for token in lexer.tokens():
        operator = token.text if token.kind == "operator" else ""
        if operator in (";", "&&", "\n"):
            if redirection is not None or (begun is not None and not _is_whole(begun)):
                raise _NotPlain
            waiting += [begun] if begun is not None else []
            begun = None
            if operator == "\n":
                steps += _finished(text, waiting, text[token.end : end_of_line])
                waiting = []
            end_of_line = lexer.position
            continue
        end_of_line = lexer.position
        begun = begun or _Begun(token.start, token.end)
        begun.end = token.end
        if redirection is not None:
            _redirect(begun, redirection.text, unquoted(token.text), (redirection.start, token.end))
            redirection = None
        elif operator == "|":
            begun.programs.append([])
        elif operator:
            if operator.lstrip("0123456789") in ("<<", "<<-"):
                begun.documents += 1
                lexer.heredocs.append(HereDocument(unquoted(lexer.token.text), operator.endswith("-")))
            redirection = token
        elif _SUBSTITUTED.search(without_reading(token.text)) or (not begun.programs[-1] and _begins_else(token.text)):
            raise _NotPlain
        else:
            begun.programs[-1].append(unquoted(token.text))
    return steps


def _begins_else(word: str) -> bool:
    return word in _KEYWORDS or _ASSIGNED.match(word) is not None


def _is_whole(begun: _Begun) -> bool:
    return all(begun.programs) or (begun.programs == [[]] and bool(begun.target))


def _redirect(begun: _Begun, operator: str, word: str, span: tuple[int, int]) -> None:
    if operator in _WRITING and word != _NOWHERE:
        if begun.target or not word:
            raise _NotPlain
        begun.target, begun.target_span, begun.appends = word, span, operator.endswith(">>")
        return
    input_or_number = operator.startswith(("<", "0<")) or (operator.endswith(">&") and word.isdigit())
    if "<>" in operator or operator in ("&", "||", "|&", "(", ")", ";;") or not (input_or_number or word == _NOWHERE):
        raise _NotPlain


def _finished(text: str, waiting: Sequence[_Begun], bodies: str) -> list[PipelineStep]:
    """Return the steps of a line, whose here-documents stand behind it."""
    documents = sum(begun.documents for begun in waiting)
    if documents > 1:
        raise _NotPlain
    steps = []
    for begun in waiting:
        start, end = begun.target_span
        whole = text[begun.start : begun.end]
        source = whole if not begun.target else text[begun.start : start] + text[end : begun.end]
        if begun.documents:
            source = f"{source}\n{bodies}"
        programs, span = tuple(map(tuple, begun.programs)), (begun.start, begun.end)
        steps.append(
            PipelineStep(programs, span, begun.target, begun.target_span, begun.appends, source, bool(begun.documents))
        )
    return steps


def _kind_of_git(words: Sequence[str]) -> Kind:
    name, rest = words[0] if words else "", words[1:]
    if name == "commit" and not {*_QUIET, "--amend"}.intersection(rest):
        return "commits"
    quiet = name in _HUSHED and not _QUIET.isdisjoint(rest)
    names = name in ("branch", "tag") and len(rest) == 1 and not rest[0].startswith("-")
    restores = name == "checkout" and rest[:1] == ("--",)
    silent = quiet or names or restores or (name in _GIT_SILENT and not any(map(_TALKS.fullmatch, rest)))
    return "silent" if silent else "other"


@lru_cache(maxsize=1024)
def shown_script(line: str) -> str | None:
    """Return what a line of the shell shows once its files are written: a script that only reads.

    A step that changes files is `true` in it, output that goes into a file goes nowhere, and a commit is its mark. It
    is None where a step does anything else.

    >>> shown_script("mkdir -p a && echo b > a/c; cat a/c"), shown_script("git add . && git commit -m All")
    ('true && echo b > /dev/null; cat a/c', 'true && echo "[a commit]"')
    >>> shown_script("python a.py; cat b") is None
    True
    """
    steps = steps_of(line)
    kinds = [step.kind for step in steps]
    if not steps or "other" in kinds or kinds.count("commits") > 1:
        return None
    script = line
    for step, kind in reversed([*zip(steps, kinds, strict=True)]):
        start, end = step.span
        if kind == "reads":
            if step.target:
                start, end = step.target_span
                script = f"{script[:start]}> {_NOWHERE}{script[end:]}"
            continue
        if step.has_document:
            return None
        script = script[:start] + ("true" if kind == "silent" else f'echo "{COMMITTED}"') + script[end:]
    return script


@lru_cache(maxsize=1024)
def script_before_last(line: str) -> str:
    """Return the script of what a line shows before its last step; nothing where that is not known.

    >>> script_before_last("cat a; python -m pytest -q"), script_before_last("python a.py; pytest")
    ('cat a; true', '')
    """
    steps = steps_of(line)
    if len(steps) < 2 or steps[-1].has_document:
        return ""
    start, end = steps[-1].span
    script = shown_script(f"{line[:start]}true{line[end:]}") or ""
    return "" if COMMITTED in script else script


_GIT_NAMING = {("git", verb) for verb in ("add", "branch", "checkout", "merge", "mv", "rm", "switch", "tag")}
"""The commands of git whose operands are names."""


@lru_cache(maxsize=1024)
def words_of(command: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of the simple commands of a command line, without their quotes.

    >>> words_of("git commit -m 'Fix it' && ls")
    (('git', 'commit', '-m', 'Fix it'), ('ls',))
    """
    return tuple(tuple(map(unquoted, simple.words)) for simple in simple_commands(command) if simple.words)


def is_commit(command: str) -> bool:
    """Whether a command line is one commit, of which git prints a summary.

    >>> is_commit("git commit -am 'Fix it'"), is_commit("git commit --amend"), is_commit("git add . && git commit")
    (True, False, False)
    """
    commands = words_of(command)
    if len(commands) != 1 or commands[0][:2] != ("git", "commit"):
        return False
    return not {"-q", "--quiet", "--amend"}.intersection(commands[0])


def commit_message(command: str) -> str | None:
    """Return the message of the first commit that a command line makes; None where it gives none.

    >>> commit_message("git add a.py; git commit -am 'Fix it'")
    'Fix it'
    """
    for words in words_of(command):
        if words[:2] == ("git", "commit"):
            for option, value in pairwise(words[2:]):
                if option == "--message" or (option[:1] == "-" and option[1:2] != "-" and option.endswith("m")):
                    return value
    return None


def operands_of(command: str) -> list[str]:
    """Return the words of a command line that may name files or branches: no options, programs, scripts, and commands
    of git. Words that are no paths by their looks count where the program takes nothing else.

    >>> operands_of("rm tests/a.py; sed -i s/b/c/ d.md; git checkout -- e.py; python -m pytest -q f.py::test_g")
    ['tests/a.py', 'd.md', 'e.py', 'f.py::test_g']
    """
    found = []
    for words in words_of(command):
        if words[0] == "cd":
            continue
        first = 3 if words[1:2] == ("-m",) else 2 if words[0] == "git" else 1
        operands = [word for word in words[first:] if not word.startswith("-")]
        if words[0] == "chmod" or (words[0] == "sed" and "-e" not in words):
            del operands[:1]
        named = words[0] in WRITERS or words[:2] in _GIT_NAMING
        found += [word for word in operands if _is_path(word) or (named and "/" not in word)]
    found += [step.target for step in steps_of(command) if step.target]
    return list(dict.fromkeys(found))


def _is_path(word: str) -> bool:
    return word != "." and ("." in word or "/" in word) and ".." not in word and not word.startswith("refs/")
