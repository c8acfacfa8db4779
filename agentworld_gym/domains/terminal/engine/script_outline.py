"""The outline of a script: its commands at the top level in order, what its loops repeat, and whether it only reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from agentworld_gym.domains.terminal.engine.lexer import Token, unquoted
from agentworld_gym.domains.terminal.engine.parser import (
    Incomplete,
    Parser,
    SimpleCommand,
    TooDeep,
    Unexpected,
)

KEYWORDS = frozenset(("for", "while", "until", "if", "case", "{", "(", "[[", "((", "select", "function", "!", "time"))
"""The words with which a command begins that holds others, or is no program."""
# No two parts of these can take the same blanks, of which a line may have thousands.
_FOR = re.compile(r"for\s++([A-Za-z_]\w*+)\s++in\s([^;\n]*+)[;\n]\s*+do\s++(.*)done", re.DOTALL)
_IF = re.compile(r"if\s++(.+[;\n]\s*+)fi", re.DOTALL)
_THEN = re.compile(r"[;\n]\s*+then\s++")
_ELSE = re.compile(r"[;\n]\s*+else\s++")
_SUBSTITUTION = re.compile(r"[$<]\((?!\()|`[^`]*`|>\(")
_NO_FILE = re.compile(r"/dev/null|&?\d|-")


class ScriptPiece(NamedTuple):
    """A command at the top level of a list."""

    text: str
    """The command: a pipeline, a loop or the like."""
    link: str = ";"
    """What stands before it: `;`, or one of `&&` and `||`, after which it may be left out."""


@dataclass(frozen=True, slots=True)
class Outline:
    """What a script is made of.

    >>> outline = outlined("mkdir a && cd a; for x in 1 2; do echo $x > $x.txt; done")
    >>> [tuple(piece) for piece in outline.pieces][:2], outline.targets
    ([('mkdir a', ';'), ('cd a', '&&')], ('$x.txt',))
    """

    pieces: tuple[ScriptPiece, ...]
    """The commands at the top level."""
    commands: tuple[SimpleCommand, ...]
    """All simple commands, but those within words."""
    targets: tuple[str, ...]
    """The files to which output is redirected."""
    background: bool
    """Whether a command is not waited for."""


class WordLoop(NamedTuple):
    """A loop over words."""

    name: str
    """The variable."""
    words: str
    """The words, as they are typed."""
    body: str
    """The commands of each round."""


class ScriptChoice(NamedTuple):
    """A conditional."""

    condition: str
    """The commands whose last status chooses."""
    then: str
    """What is run where that is 0."""
    otherwise: str
    """What is run where it is not; empty for nothing."""


@lru_cache(maxsize=512)
def outlined(script: str) -> Outline | None:
    """Return the outline of a script; None where it is not complete, or none.

    >>> outlined("echo 'open") is outlined("echo )") is None
    True
    """
    try:
        parser = _Outliner(script)
        parser.read()
    except (Incomplete, Unexpected, TooDeep, RecursionError):
        return None
    commands, pieces = tuple(parser.commands), tuple(parser.pieces())
    if any("<<" in piece.text.replace("<<<", "") and "\n" not in piece.text for piece in pieces):
        pieces = (ScriptPiece(script.strip()),)  # The text of the here-document stands behind other commands.
    background = any(command.background for command in commands)
    return Outline(pieces, commands, tuple(parser.targets), background)


def is_wrong(script: str) -> bool:
    """Whether a script has an error of syntax, which bash reports in place of running it.

    >>> is_wrong("echo )"), is_wrong("echo 'open")
    (True, False)
    """
    try:
        Parser(script).script()
    except Unexpected:
        return True
    except (Incomplete, TooDeep, RecursionError):
        return False
    return False


def loop_of(text: str) -> WordLoop | None:
    """Return the loop over words that a text is.

    >>> loop_of("for f in *.txt; do cp $f $f.bak; done")
    WordLoop(name='f', words='*.txt', body='cp $f $f.bak')
    """
    found = _FOR.fullmatch(text.strip())
    if found is None or "<<" in text or outlined(_ended(found[3])) is None:
        return None
    return WordLoop(found[1], found[2].strip(), _ended(found[3]))


def choice_of(text: str) -> ScriptChoice | None:
    """Return the conditional that a text is.

    >>> choice_of("if [ -f a ]; then rm a; else touch a; fi")
    ScriptChoice(condition='[ -f a ]', then='rm a', otherwise='touch a')
    """
    found = _IF.fullmatch(text.strip())
    if found is None or "<<" in text:
        return None
    condition, *others = _THEN.split(found[1], maxsplit=1)
    then, *otherwise = map(_ended, _ELSE.split(others[0], maxsplit=1)) if others else ("",)
    scripts = (condition.rstrip(), then, *(otherwise or ("",)))
    return ScriptChoice(*scripts) if then and all(outlined(script) for script in scripts if script) else None


def _ended(commands: str) -> str:
    """Return commands without what ends the last one."""
    return commands.rstrip().removesuffix(";").rstrip()


def substituted(text: str) -> Iterator[str]:
    """Yield the scripts within the words of another; one that gets what is written is empty.

    >>> [*substituted("echo $(cat a) `ls` $((1 + 2)) > >(tac)")]
    ['cat a', 'ls', '']
    """
    for found in _SUBSTITUTION.finditer(text):
        if found[0][0] in "`>":
            yield found[0][1:-1]
            continue
        level, at = 1, found.end()
        while at < len(text) and level:
            level += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
        yield text[found.end() : at - 1]


def writes_files(outline: Outline) -> bool:
    """Whether output of a script is redirected into a file.

    >>> writes_files(outlined("ls 2>/dev/null")), writes_files(outlined("ls >> a"))
    (False, True)
    """
    return not all(_NO_FILE.fullmatch(unquoted(target)) for target in outline.targets)


class _Outliner(Parser):
    """A parser that keeps where the commands of the top level begin, and the files that get their output."""

    def __init__(self, text: str) -> None:
        self.targets: list[str] = []
        self._marks: list[tuple[int, int, str]] = []
        self._inside = 0
        super().__init__(text)

    def read(self) -> None:
        """Read the whole script."""
        self.script()

    def pieces(self) -> Iterator[ScriptPiece]:
        """Yield the commands at the top level. One with a here-document reaches to the next one."""
        link = ";"
        for number, (start, end, operator) in enumerate(self._marks):
            if operator in ("\n", ""):
                end = self._marks[number + 1][0] if number + 1 < len(self._marks) else len(self.text)
            yield ScriptPiece(self.text[start:end].strip(), link)
            link = operator if operator in ("&&", "||") else ";"

    def _pipeline(self) -> None:
        start = self.token.start
        self._inside += 1
        super()._pipeline()
        self._inside -= 1
        if not self._inside:
            operator = self.token.text if self.token.kind == "operator" else ""
            self._marks.append((start, self.token.start, operator))

    def _redirect(self, command: SimpleCommand) -> None:
        operator: Token = self.token
        super()._redirect(command)
        if ">" in operator.text:
            target = self.text[operator.end : self.token.start].split(maxsplit=1)
            word = target[0].rstrip(";)|&") if target else ""
            self.targets.append(f"&{word}" if operator.text.endswith("&") else word)
