"""Parses the part of bash's grammar that tells whether a script is complete, wrong, and which commands print.

The sandbox parses scripts itself, but reports neither positions nor unfinished input, which an input line needs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from agentworld_gym.domains.terminal.engine.lexer import (
    BLANK,
    MAX_DEPTH,
    HereDocument,
    Incomplete,
    Lexer,
    Token,
    TooDeep,
    Unexpected,
    unquoted,
)

__all__ = ["HereDocument", "Incomplete", "Parser", "SimpleCommand", "TooDeep", "Unexpected", "parse"]

_REDIRECT = re.compile(r"(?:\d*[<>]|&>)")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?=")
_CLOSERS = frozenset(("then", "else", "elif", "fi", "do", "done", "esac", "}", "in"))


@dataclass(slots=True)
class SimpleCommand:
    """A simple command of a script."""

    words: list[str] = field(default_factory=list)
    """The raw words."""
    spans: list[tuple[int, int]] = field(default_factory=list)
    """The start and the end of each word in the script."""
    hidden: bool = False
    """Whether the output goes elsewhere than to the screen."""
    reads: bool = False
    """Whether the input comes from a file or a pipe."""
    background: bool = False
    """Whether the command ends with `&`."""


def parse(text: str) -> list[SimpleCommand]:
    """Return the simple commands of a complete script in order, without those inside `$(…)`.

    Raises:
        Incomplete: bash would read another line.
        Unexpected: bash would report a syntax error.
        TooDeep: the script is nested too deeply to follow.

    >>> [(c.words, c.hidden) for c in parse("ls -l | wc; echo 'a b'")]
    [(['ls', '-l'], True), (['wc'], False), (['echo', "'a b'"], False)]
    """
    parser = Parser(text)
    parser.script()
    return parser.commands


class Parser(Lexer):
    """Follows the grammar of a script; `commands` holds the simple commands that were read."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.commands: list[SimpleCommand] = []

    def script(self) -> None:
        """Read the whole script."""
        self._list(frozenset())
        if self.token.kind != "end":
            raise Unexpected(_token_text(self.token))

    def _nested(self, closers: frozenset[str]) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooDeep
        before = len(self.commands)
        self._list(closers)
        self.depth -= 1
        if self.token.kind == "end":
            raise Incomplete
        if self.token.text not in closers or len(self.commands) == before:
            raise Unexpected(_token_text(self.token))

    def _list(self, closers: frozenset[str]) -> None:
        while True:
            self._newlines()
            token = self.token
            if token.kind == "end" or (token.text in closers):
                return
            if token.kind == "operator" and token.text != "(" and not _REDIRECT.match(token.text):
                if closers and token.text == ")":
                    return
                raise Unexpected(_token_text(token))
            first = len(self.commands)
            self._and_or()
            token = self.token
            if token.kind == "operator" and token.text in (";", "&", "\n"):
                if token.text == "&":
                    for command in self.commands[first:]:
                        command.background = True
                self._advance()
            elif token.kind == "end" or token.text in closers:
                return
            else:
                raise Unexpected(_token_text(token))

    def _newlines(self) -> None:
        while self.token.kind == "operator" and self.token.text == "\n":
            self._advance()

    def _and_or(self) -> None:
        while True:
            self._pipeline()
            if self.token.kind != "operator" or self.token.text not in ("&&", "||"):
                return
            self._advance()
            self._continued()

    def _continued(self) -> None:
        self._newlines()
        if self.token.kind == "end":
            raise Incomplete

    def _pipeline(self) -> None:
        while self.token.kind == "word" and self.token.text in ("!", "time"):
            self._advance()
            if self.token.kind == "end":
                return
        piped = False
        while True:
            first = len(self.commands)
            self._command()
            for command in self.commands[first:] if piped else ():
                command.reads = True
            if self.token.kind != "operator" or self.token.text not in ("|", "|&"):
                return
            piped = True
            self._advance()
            self._hide(first)
            self._continued()

    def _hide(self, first: int) -> None:
        for command in self.commands[first:]:
            command.hidden = True

    def _command(self) -> None:
        token = self.token
        if token.kind == "operator" and token.text == "(":
            first = len(self.commands)
            if self.text.startswith("((", token.start):
                self._arithmetic(token.start)
            else:
                self._advance()
                self._nested(frozenset((")",)))
                self._advance()
            self._redirects(first)
            return
        compound = _COMPOUND.get(token.text) if token.kind == "word" else None
        if compound is not None:
            first = len(self.commands)
            compound(self)
            self._redirects(first)
            return
        if token.kind == "word" and token.text in _CLOSERS and token.text != "in":
            raise Unexpected(_token_text(token))
        self._simple()

    def _arithmetic(self, start: int) -> None:
        self.position = self._balanced(start + 1, ")")
        self.commands.append(SimpleCommand(["(("]))
        self.token = self._next()

    def _redirects(self, first: int) -> None:
        while self.token.kind == "operator" and _REDIRECT.match(self.token.text):
            command = SimpleCommand()
            self._redirect(command)
            if command.hidden:
                self._hide(first)

    def _redirect(self, command: SimpleCommand) -> None:
        operator = self._peek_heredoc()
        if ">" in operator.text and not operator.text.startswith("2"):
            command.hidden = True
        if operator.text.startswith(("<", "0<")):
            command.reads = True
        if self.token.kind != "word":
            raise Unexpected(_token_text(self.token))
        self._advance()

    def _peek_heredoc(self) -> Token:
        """Step over a redirection operator, and note a here-document before the end of its line is read."""
        operator = self.token
        if not operator.text.lstrip("0123456789").startswith("<<") or operator.text.endswith("<<<"):
            return self._advance()
        start = BLANK.match(self.text, self.position).end()  # type: ignore[union-attr]
        end = self._word_end(start)
        self.heredocs.append(HereDocument(unquoted(self.text[start:end]), operator.text.endswith("-")))
        return self._advance()

    def _simple(self) -> None:
        command = SimpleCommand()
        self.commands.append(command)
        empty = True
        while True:
            token = self.token
            if token.kind == "word":
                if not command.words and _ASSIGNMENT.match(token.text):
                    empty = False
                    self._advance()
                    continue
                command.words.append(token.text)
                command.spans.append((token.start, token.end))
                self._advance()
            elif token.kind == "operator" and _REDIRECT.match(token.text):
                empty = False
                self._redirect(command)
            elif token.kind == "operator" and token.text == "(" and len(command.words) == 1:
                self._function(command)
                return
            elif empty and not command.words:
                raise Unexpected(_token_text(token))
            else:
                return

    def _function(self, command: SimpleCommand) -> None:
        self._advance()
        if self.token.kind == "end":
            raise Unexpected("newline")
        if self.token.text != ")":
            raise Unexpected(_token_text(self.token))
        self._advance()
        self._body()
        command.words, command.spans = [], []

    def _body(self) -> None:
        self._continued()
        first = len(self.commands)
        self._command()
        self._hide(first)

    def _word(self, text: str) -> None:
        if self.token.kind == "end":
            raise Incomplete
        if self.token.text != text:
            raise Unexpected(_token_text(self.token))
        self._advance()

    def _if(self) -> None:
        self._advance()
        self._nested(frozenset(("then",)))
        self._advance()
        while True:
            self._nested(frozenset(("elif", "else", "fi")))
            closer = self._advance().text
            if closer == "fi":
                return
            if closer == "else":
                self._nested(frozenset(("fi",)))
                self._advance()
                return
            self._nested(frozenset(("then",)))
            self._advance()

    def _loop(self) -> None:
        self._advance()
        self._nested(frozenset(("do",)))
        self._do()

    def _do(self) -> None:
        self._word("do")
        self._nested(frozenset(("done",)))
        self._advance()

    def _for(self) -> None:
        self._advance()
        if self.token.kind == "operator" and self.text.startswith("((", self.token.start):
            self._arithmetic(self.token.start)
        else:
            if self.token.kind != "word":
                raise Unexpected(_token_text(self.token))
            self._advance()
            self._newlines()
            if self.token.kind == "word" and self.token.text == "in":
                self._advance()
                while self.token.kind == "word":
                    self._advance()
        if self.token.kind == "end":
            raise Incomplete
        if self.token.text == ";":
            self._advance()
        self._newlines()
        self._do()

    def _case(self) -> None:
        self._advance()
        if self.token.kind != "word":
            raise Unexpected(_token_text(self.token))
        self._advance()
        self._newlines()
        self._word("in")
        while True:
            self._continued()
            if self.token.text == "esac":
                self._advance()
                return
            if self.token.text == "(":
                self._advance()
            self._advance()
            while self.token.text == "|":
                self._advance()
                self._advance()
            self._word(")")
            self._list(frozenset((";;", ";&", ";;&", "esac")))
            if self.token.kind == "end":
                raise Incomplete
            if self.token.text != "esac":
                self._advance()

    def _group(self) -> None:
        self._advance()
        self._nested(frozenset(("}",)))
        self._advance()

    def _condition(self) -> None:
        self.commands.append(SimpleCommand(["[["]))
        while self.token.text != "]]":
            if self.token.kind == "end":
                raise Incomplete
            self._advance()
        self._advance()

    def _declared(self) -> None:
        self._advance()
        if self.token.kind != "word":
            raise Unexpected(_token_text(self.token))
        self._advance()
        if self.token.text == "(":
            self._advance()
            self._word(")")
        self._body()


_COMPOUND = {
    "if": Parser._if,
    "while": Parser._loop,
    "until": Parser._loop,
    "for": Parser._for,
    "select": Parser._for,
    "case": Parser._case,
    "{": Parser._group,
    "[[": Parser._condition,
    "function": Parser._declared,
}


def _token_text(token: Token) -> str:
    return "newline" if token.kind == "end" or token.text == "\n" else token.text
