"""Splits a bash script into words and operators."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_QUOTED = re.compile(r"""'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)""", re.DOTALL)
_ESCAPED = re.compile(r'\\(["\\$`])')
BLANK = re.compile(r"(?:[ \t]|\\\n)*(?:#[^\n]*)?")
_OPERATOR = re.compile(r"\d*(?:<<<|<<-|<<|<>|<&|>&|>>|>\||[<>])(?![(])|&>>|&>|&&|\|\||;;&|;;|;&|\|&|[;&|()\n]")
_PLAIN = re.compile(r"[^ \t\n\\'\"$`<>|&;()]+")
_DOUBLE = re.compile(r"[^\\\"$`]+")
MAX_DEPTH = 60


@dataclass(frozen=True, slots=True)
class HereDocument:
    """The end of a here-document: its delimiter, which may follow tabs if `tabs` is true."""

    delimiter: str
    tabs: bool

    def ends(self, line: str) -> bool:
        """Return whether a line ends the here-document.

        >>> HereDocument("END", tabs=True).ends("\\tEND"), HereDocument("END", tabs=False).ends("\\tEND")
        (True, False)
        """
        return (line.lstrip("\t") if self.tabs else line) == self.delimiter


class Incomplete(Exception):
    """The text ends where bash would read another line and show its continuation prompt.

    `waiting` is the here-document in which the text ends, if it does.
    """

    def __init__(self, waiting: HereDocument | None = None) -> None:
        super().__init__("the text goes on")
        self.waiting = waiting


class Unexpected(Exception):
    """The script has a syntax error; the argument is the token that bash names."""


class TooDeep(Exception):
    """The script is nested more deeply than the parser follows."""


@dataclass(slots=True)
class Token:
    """A word, an operator or the end of the script, and its position."""

    kind: str
    text: str
    start: int
    end: int


class Lexer:
    """Reads the tokens of a script one ahead, and skips here-documents at the end of their line."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.depth = 0
        self.heredocs: list[HereDocument] = []
        self.token = self._next()

    def tokens(self) -> Iterator[Token]:
        """Yield the tokens up to the end of the script.

        Raises:
            Incomplete: bash would read another line.
            TooDeep: The script is nested too deeply to follow.
        """
        while self.token.kind != "end":
            yield self._advance()

    def _next(self) -> Token:
        text = self.text
        start = BLANK.match(text, self.position).end()  # type: ignore[union-attr]
        if start >= len(text):
            if self.heredocs or text.endswith("\\\n", self.position, start):
                raise Incomplete
            return Token("end", "newline", start, start)
        match = _OPERATOR.match(text, start)
        if match:
            self.position = match.end()
            if match.group() == "\n":
                self._read_heredocs()
            return Token("operator", match.group(), start, match.end())
        self.position = self._word_end(start)
        return Token("word", text[start : self.position], start, self.position)

    def _advance(self) -> Token:
        token, self.token = self.token, self._next()
        return token

    def _read_heredocs(self) -> None:
        for waiting in self.heredocs:
            while True:
                end = self.text.find("\n", self.position)
                line = self.text[self.position :] if end < 0 else self.text[self.position : end]
                last = self.position >= len(self.text)
                self.position = len(self.text) if end < 0 else end + 1
                if not last and waiting.ends(line):
                    break
                if end < 0:
                    raise Incomplete(waiting)
        self.heredocs = []

    def _word_end(self, at: int) -> int:
        text, size = self.text, len(self.text)
        while at < size:
            plain = _PLAIN.match(text, at)
            if plain:
                at = plain.end()
                continue
            char = text[at]
            if char == "\\":
                if at + 1 >= size or text[at + 1 :] == "\n":
                    raise Incomplete
                at += 2
            elif char == "'":
                at = self._find("'", at + 1)
            elif char == '"':
                at = self._double(at + 1)
            elif char == "`":
                at = self._backquoted(at + 1)
            elif char == "$":
                at = self._dollar(at)
            elif char in "<>" and text.startswith("(", at + 1):
                at = self._balanced(at + 2, ")")
            elif char == "(" and text[at - 1] in "=@?*+!" and at > 0:
                at = self._balanced(at + 1, ")")
            else:
                break
        return at

    def _find(self, quote: str, at: int) -> int:
        end = self.text.find(quote, at)
        if end < 0:
            raise Incomplete
        return end + 1

    def _ansi(self, at: int) -> int:
        while True:
            if at >= len(self.text):
                raise Incomplete
            if self.text[at] == "\\":
                at += 2
            elif self.text[at] == "'":
                return at + 1
            else:
                at += 1

    def _double(self, at: int) -> int:
        text = self.text
        while True:
            plain = _DOUBLE.match(text, at)
            if plain:
                at = plain.end()
            if at >= len(text):
                raise Incomplete
            char = text[at]
            if char == '"':
                return at + 1
            if char == "\\":
                at += 2
            elif char == "`":
                at = self._backquoted(at + 1)
            else:
                at = self._dollar(at, quoted=True)

    def _backquoted(self, at: int) -> int:
        while True:
            if at >= len(self.text):
                raise Incomplete
            if self.text[at] == "\\":
                at += 2
            elif self.text[at] == "`":
                return at + 1
            else:
                at += 1

    def _dollar(self, at: int, quoted: bool = False) -> int:
        following = self.text[at + 1 : at + 2]
        if following == "(":
            return self._balanced(at + 2, ")")
        if following == "{":
            return self._balanced(at + 2, "}")
        if following == "'" and not quoted:
            return self._ansi(at + 2)
        return at + 1

    def _balanced(self, at: int, closer: str) -> int:
        """Return the end of `$(…)`, `${…}` or the like, past nested quotes and substitutions."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooDeep
        text, opener = self.text, "(" if closer == ")" else "{"
        level = 1
        while level:
            if at >= len(text):
                raise Incomplete
            char = text[at]
            if char == closer:
                level -= 1
            elif char == opener and closer == ")":
                level += 1
            elif char == "\\":
                at += 1
            elif char == "'":
                if closer == ")" or not self._inside_double(at):
                    at = self._find("'", at + 1)
                    continue
            elif char == '"':
                at = self._double(at + 1)
                continue
            elif char == "`":
                at = self._backquoted(at + 1)
                continue
            elif char == "$":
                at = self._dollar(at)
                continue
            elif char == "#" and closer == ")" and text[at - 1] in " \t\n":
                end = text.find("\n", at)
                if end < 0:
                    raise Incomplete
                at = end
            at += 1
        self.depth -= 1
        return at

    def _inside_double(self, at: int) -> bool:
        return self.text.find("'", at + 1) < 0


def unquoted(word: str) -> str:
    r"""Return a word without its quotes.

    >>> unquoted(r"a\ b'\.'c"), unquoted('"it\'s $x"')
    ('a b\\.c', "it's $x")
    """
    return _QUOTED.sub(_inside, word)


def _inside(quoted: re.Match[str]) -> str:
    single, double, escaped = quoted.groups()
    return single or _ESCAPED.sub(r"\1", double or "") or escaped or ""
