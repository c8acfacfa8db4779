"""What a single command line of a shell asks for: its programs, their words, and where its output goes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from posixpath import join, normpath

from agentworld_gym.engines.terminal.lexer import Incomplete, Lexer, TooDeep, unquoted

_READERS = """
awk basename cat cmp comm cut diff dirname du echo egrep expand fgrep file find fold grep head hostname id join ls
md5sum nl od paste printf pwd readlink realpath rev seq sha1sum sha256sum sort stat strings tac tail tr tree
uniq wc whoami
"""
READERS = frozenset(_READERS.split())
"""The programs that only read files, but for some of their options."""
_WRITES = {
    "find": re.compile(r"-(?:exec|execdir|ok|okdir|delete|fprint|fprintf|fprint0|fls)|-?\w*[{$].*", re.DOTALL),
    "sort": re.compile(r"-\w*o.*|--o.*|-?\w*[{$].*", re.DOTALL),
    "awk": re.compile(r"-[fi].*|--[filo].*|.*(?:\bprintf?\b[^;}\n]*>|\||\bsystem\s*\().*", re.DOTALL),
    "tree": re.compile("-o.*"),
}
"""The words with which such a program writes, or may do so once the shell has expanded them."""
_SED_OPTION = re.compile(r"-[nErsuz]+|--(?:quiet|silent|regexp-extended|separate|null-data|unbuffered|posix)")
_SED_SCRIPT = re.compile(r"-[nErsuz]*e(.*)|--expression(?:=(.*))?", re.DOTALL)
_SED_READS = re.compile(
    r"""(?:s(?P<s>[^\\\n])(?:\\.|(?!(?P=s)).)*+(?P=s)(?:\\.|(?!(?P=s)).)*+(?P=s)[gpiIm0-9]*+  # Replaces.
    |y(?P<y>[^\\\n])(?:\\.|(?!(?P=y)).)*+(?P=y)(?:\\.|(?!(?P=y)).)*+(?P=y)  # Transliterates.
    |/(?:\\.|[^/])*+/I?+|\\(?P<a>[^\\\n])(?:\\.|(?!(?P=a)).)*+(?P=a)I?+  # Addresses.
    |[aicrR][^\n]*+|[:btT][ ]*+[^;}\n]*+  # Texts, names of files that are read, and labels.
    |[^syaicrR:btTwWe/\\]
    )*+""",
    re.DOTALL | re.VERBOSE,
)
"""A script of `sed` that writes no file and runs no command."""
_LISTS = re.compile(r"-?(?=\w*[tO])[txOvfzjJ]+")
"""The flags with which `tar` prints what is in an archive."""
_SUBSTITUTED = re.compile(r"`|[$<>]\(")
"""The beginning of a command within a word."""
_IN_PLACE = re.compile(r"(?<=\s)-i\s")
_ASSIGNED = re.compile(r"\w+=")


@dataclass(frozen=True, slots=True)
class CommandLine:
    """One pipeline of plain programs.

    >>> line = command_line("sort -u 'my list.txt' | head -n 1 >> top.txt")
    >>> line.programs, line.source, line.target
    ((('sort', '-u', 'my list.txt'), ('head', '-n', '1')), "sort -u 'my list.txt' | head -n 1", 'top.txt')
    """

    programs: tuple[tuple[str, ...], ...]
    """The words of each program, without quotes."""
    source: str
    """The line without the redirection of its output."""
    target: str = ""
    """The file that gets the output; empty where it is printed."""
    appends: bool = False
    """Whether the output goes to the end of that file."""

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
        """Whether all programs only read."""
        return all(map(_reads, self.programs))

    @property
    def is_filter(self) -> bool:
        """Whether what it prints, or makes of its file, follows from the files: its programs only read, or it edits."""
        return self.reads or self.edits is not None

    @property
    def edits(self) -> str | None:
        """The line of a filter that makes the text of the only file that `sed -i` edits; None for any other line."""
        words = self.words
        if len(self.programs) > 1 or self.target or words[0] != "sed" or words.count("-i") != 1:
            return None
        if len(self.operands) != 2 or not _reads(tuple(word for word in words if word != "-i")):
            return None
        source, options = _IN_PLACE.subn("", self.source)
        return source if options == 1 else None


def _reads(words: tuple[str, ...]) -> bool:
    program, *others = words
    if program == "tar":
        return bool(others) and bool(_LISTS.fullmatch(others[0])) and not any(w.startswith("-") for w in others[1:])
    return (program in READERS or program == "sed") and not writes(program, others)


def writes(program: str, words: Sequence[str]) -> bool:
    """Whether a program that reads with most words writes a file, or may do so, with these.

    >>> writes("sort", ["-u", "a.txt"]), writes("sort", ["-uo", "b.txt", "a.txt"]), writes("sed", ["1w b.txt", "a.txt"])
    (False, True, True)
    """
    if program == "uniq":  # The second operand is written.
        return sum(word == "-" or not word.startswith("-") for word in words) > 1
    if program == "sed":
        return _sed_writes(words)
    writing = _WRITES.get(program)
    return writing is not None and any(map(writing.fullmatch, words))


def _sed_writes(words: Sequence[str]) -> bool:
    scripts: list[str] = []
    operands: list[str] = []
    following = iter(words)
    for word in following:
        if found := _SED_SCRIPT.fullmatch(word):
            scripts.append(found[1] or found[2] or next(following, ""))
        elif not word.startswith("-") or word == "-":
            operands.append(word)
        elif not _SED_OPTION.fullmatch(word):
            return True
    return not all(map(_SED_READS.fullmatch, scripts or operands[:1]))


@lru_cache(maxsize=256)
def command_line(text: str) -> CommandLine | None:
    """Read a command line; None where it is more than a pipeline of plain programs, or less.

    >>> command_line("make && ./run") is command_line("x=1 ls") is command_line("echo $(ls)") is None
    True
    """
    try:
        tokens = [*Lexer(text).tokens()]
    except (Incomplete, TooDeep, RecursionError):
        return None
    programs: list[list[str]] = [[]]
    target, redirection, end = "", "", len(text)
    for token in tokens:
        if target or _SUBSTITUTED.search(token.text):  # The output is redirected at the end, if at all.
            return None
        if token.kind == "operator":
            if redirection or not programs[-1] or token.text not in ("|", "<", ">", ">>"):
                return None
            if token.text == "|":
                programs.append([])
            else:
                redirection = token.text
                end = token.start if redirection != "<" else end
        elif redirection == "<":
            redirection = ""
        elif redirection:
            target = unquoted(token.text)
        elif not programs[-1] and _ASSIGNED.match(token.text):
            return None
        else:
            programs[-1].append(unquoted(token.text))
    if not programs[-1] or bool(redirection) != bool(target):
        return None
    return CommandLine(tuple(map(tuple, programs)), text[:end].strip(), target, redirection == ">>")


def absolute(folder: str, name: str, home: str) -> str:
    """Return the absolute path of a name in a folder.

    >>> absolute("/srv", "../tmp/a", "/home/dev"), absolute("/srv", "~/b", "/home/dev")
    ('/tmp/a', '/home/dev/b')
    """
    if name == "~" or name.startswith("~/"):
        name = home + name[1:]
    return "/" + normpath(join(folder, name)).lstrip("/")
