"""What a single command line of a shell asks for: its programs, their words, and where its output goes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from posixpath import join, normpath

from agentworld_gym.domains.terminal.engine.lexer import Incomplete, Lexer, TooDeep, unquoted
from agentworld_gym.domains.terminal.engine.script_outline import (
    KEYWORDS,
    is_wrong,
    outlined,
    substituted,
    writes_files,
)

_READERS = """
: [ awk base64 basename cat cmp comm cut diff dirname du echo egrep expand expr false fgrep file find fold grep head
hostname id join ls md5sum nl od paste printf pwd readlink realpath rev seq sha1sum sha256sum sort stat strings tac tail
test tr tree true type uname uniq wc which whoami
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
_SED_PIECE = re.compile(
    r"""s(?P<s>[^\\\n])(?:\\.|(?!(?P=s))[^\\])*(?P=s)(?:\\.|(?!(?P=s))[^\\])*(?P=s)[gpiIm0-9]*+  # Replaces.
    |y(?P<y>[^\\\n])(?:\\.|(?!(?P=y))[^\\])*(?P=y)(?:\\.|(?!(?P=y))[^\\])*(?P=y)  # Transliterates.
    |/(?:\\.|[^/])*+/I?+|\\(?P<a>[^\\\n])(?:\\.|(?!(?P=a))[^\\])*(?P=a)I?+  # Addresses.
    |[aicrR][^\n]*+|[:btT][ ]*+[^;}\n]*+  # Texts, names of files that are read, and labels.
    |[^syaicrR:btTwWe/\\]++""",
    re.DOTALL | re.VERBOSE,
)
"""A piece of a script of `sed` that writes no file and runs no command."""
_LISTS = re.compile(r"-?(?=\w*[tO])[txOvfzjJ]+")
"""The flags with which `tar` prints what is in an archive."""
_OF_SCRIPTS = frozenset(("[[", "((", "read", "break", "continue"))
"""What only reads within a script, beside `READERS`: tests, and what reads a line into a variable."""
_KEPT = re.compile(r"2>>?|[12]?>&|&>>?|<<?-?|<<<")
"""Redirections that stay in a source."""
_NOWHERE = "/dev/null"
_IN_PLACE = re.compile(r"(?<=\s)-i\s")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_COMPOUND = re.compile(r"(?:for|while|until|if|case)\s|\{\s|\(")
_TEE = re.compile(r"tee(?:\s+-a)?\s+[^\s<>|&;'\"$]+(?=\s*<)")
_ALL_OUTPUT = re.compile(r"(.*(?:\bdone|\bfi|[})]))\s*(>>?)\s*([^\s;&|<>()]+)", re.DOTALL)
"""A loop or a group whose output goes into a file."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """One pipeline of plain programs, or a script whose programs all only read.

    >>> line = command_line("sort -u 'my list.txt' | head -n 1 >> top.txt")
    >>> line.programs, line.source, line.target
    ((('sort', '-u', 'my list.txt'), ('head', '-n', '1')), "sort -u 'my list.txt' | head -n 1", 'top.txt')
    """

    programs: tuple[tuple[str, ...], ...]
    """The words of each program, without quotes. A script has none, and so has a line with an error of syntax."""
    source: str
    """The line without the redirection of its output."""
    target: str = ""
    """The file that gets the output; empty where it is printed."""
    appends: bool = False
    """Whether the output goes to the end of that file."""
    typed: tuple[str, ...] = ()
    """The words of the first program as they are typed."""
    shows: bool = False
    """Whether what goes into the file is printed too, as by `tee`."""

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the first program; one empty word where there is none."""
        return self.programs[0] if self.programs else ("",)

    @property
    def operands(self) -> tuple[str, ...]:
        """The words behind the name of the first program that are no options."""
        return tuple(word for word in self.words[1:] if not word.startswith("-"))

    @property
    def reads(self) -> bool:
        """Whether all programs only read."""
        return all(map(reads, self.programs))

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
        if len(self.operands) != 2 or not reads(tuple(word for word in words if word != "-i")):
            return None
        source, options = _IN_PLACE.subn("", self.source)
        return source if options == 1 else None


def reads(words: Sequence[str]) -> bool:
    """Whether a program only reads.

    >>> reads(["grep", "-n", "x"]), reads(["xargs", "grep", "x"]), reads(["rm", "x"])
    (True, True, False)
    """
    program, *others = words
    if program == "tar":
        return bool(others) and bool(_LISTS.fullmatch(others[0])) and not any(w.startswith("-") for w in others[1:])
    if program == "xargs":
        return bool(others) and not others[0].startswith("-") and reads(others)
    if program == "command":
        return others[:1] == ["-v"]
    if program in ("bash", "sh"):
        return len(others) == 2 and others[0] == "-c" and script_reads(others[1])
    if program == "eval":
        return script_reads(" ".join(others))
    if program == "printf" and others[:1] == ["-v"]:
        return False
    return (program in READERS or program == "sed") and not writes(program, others)


def script_reads(script: str) -> bool:
    """Whether all programs of a script only read, and no output goes into a file.

    >>> script_reads("for f in *; do wc -l $f; done"), script_reads("for f in *; do rm $f; done")
    (True, False)
    """
    outline = outlined(script)
    if outline is None or outline.background or writes_files(outline) or not outline.commands:
        return False
    inner, compound = script.lstrip().startswith("("), _COMPOUND.match(script.lstrip())
    for command in outline.commands:
        words = [unquoted(word) for word in command.words]
        if not words and compound:  # Variables that are set on the way are known as what is printed is.
            continue
        if not words or not (words[0] in _OF_SCRIPTS or (words[0] == "cd" and inner) or reads(words)):
            return False
    return all(script_reads(part) for part in substituted(script))


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
    return not all(map(_sed_reads, scripts or operands[:1]))


def _sed_reads(script: str) -> bool:
    """Whether a script of `sed` writes no file and runs no command.

    A loop takes piece after piece, because before Python 3.11.5 a possessive repeat over groups matches too little.
    """
    place = 0
    while place < len(script):
        piece = _SED_PIECE.match(script, place)
        if piece is None:
            return False
        place = piece.end()
    return True


@lru_cache(maxsize=256)
def command_line(text: str) -> CommandLine | None:
    """Read a command line; None where it is more than a pipeline of plain programs and does not only read, or less.

    >>> command_line("make && ./run") is command_line("rm $(cat list; rm list)") is command_line("") is None
    True
    >>> command_line("for f in a b; do cat $f; done > all.txt").target
    'all.txt'
    """
    if not text.strip() or text.lstrip().startswith("#"):
        return None
    return _pipeline(text) or _script(text)


def _pipeline(text: str) -> CommandLine | None:
    text, end, document = text.partition("\n") if "<<" in text else (text, "", "")
    try:
        tokens = [*Lexer(text).tokens()]
    except (Incomplete, TooDeep, RecursionError):
        return None
    if not all(script_reads(part) for part in substituted(text)) or (tokens and tokens[0].text in KEYWORDS):
        return None
    programs, typed = [list[str]()], list[str]()
    targets: list[tuple[str, str, int, int]] = []
    redirection, start = "", 0
    for token in tokens:
        if token.kind == "operator":
            if redirection or (targets and token.text == "|") or not _follows(token.text, programs):
                return None
            if token.text == "|":
                programs.append([])
            else:
                redirection, start = token.text, token.start
        elif redirection:
            if redirection in (">", ">>") and token.text != _NOWHERE:
                targets.append((unquoted(token.text), redirection, start, token.end))
            elif ">" in redirection and token.text not in (_NOWHERE, "1", "2"):
                return None
            redirection = ""
        else:
            programs[-1].append(unquoted(token.text))
            if len(programs) == 1:
                typed.append(token.text)
    if redirection or len(targets) > 1:
        return None
    line = _with_target(text, programs, typed, targets)
    return line and replace(line, source=f"{line.source}{end}{document}")


def _follows(operator: str, programs: Sequence[Sequence[str]]) -> bool:
    if operator == "|":
        return bool(programs[-1])
    return operator in (">", ">>") or _KEPT.fullmatch(operator) is not None


def _with_target(
    text: str, programs: list[list[str]], typed: list[str], targets: Sequence[tuple[str, str, int, int]]
) -> CommandLine | None:
    target, appends, source = "", False, text
    if targets:
        target, sign, start, end = targets[0]
        source, appends = f"{text[:start].rstrip()}{text[end:]}", sign == ">>"
    if targets and programs == [[]]:
        programs, source = [[":"]], ":"
    if not programs[-1] or any(_ASSIGNED.match(words[0]) for words in programs[1:]):
        return None
    if _ASSIGNED.match(programs[0][0]):
        if len(programs) > 1 or targets or not all(map(_ASSIGNED.match, programs[0])):
            return None
        programs, typed = [["=", *programs[0]]], ["=", *typed]
    shows = False
    if len(programs) == 1 and not target and _TEE.match(text) and (tee := _tee(programs[0])) is not None:
        return CommandLine((("cat",),), _TEE.sub("cat", text), tee, "-a" in programs[0], ("cat",), shows=True)
    if len(programs) > 1 and not target and (tee := _tee(programs[-1])) is not None:
        target, appends, shows = tee, "-a" in programs[-1], True
        source = text[: text.rindex("|")].rstrip()
        programs.pop()
    return CommandLine(tuple(map(tuple, programs)), source.strip(), target, appends, tuple(typed), shows)


def _tee(words: Sequence[str]) -> str | None:
    names = [word for word in words[1:] if word != "-a"]
    return names[0] if words[0] == "tee" and len(names) == 1 and not names[0].startswith("-") else None


def _script(text: str) -> CommandLine | None:
    """Read a script that only reads, whose output may go into a file as a whole, or a line with an error of syntax."""
    outline = outlined(text)
    if outline is None:
        return CommandLine((), text.strip()) if is_wrong(text) else None
    if len(outline.pieces) != 1 and writes_files(outline):
        return None
    if script_reads(text):
        return CommandLine((), text.strip())
    found = _ALL_OUTPUT.fullmatch(text.strip())
    if found is None or not script_reads(found[1]):
        return None
    return CommandLine((), found[1], unquoted(found[3]), found[2] == ">>")


def absolute(folder: str, name: str, home: str) -> str:
    """Return the absolute path of a name in a folder.

    >>> absolute("/srv", "../tmp/a", "/home/dev"), absolute("/srv", "~/b", "/home/dev")
    ('/tmp/a', '/home/dev/b')
    """
    if name == "~" or name.startswith("~/"):
        name = home + name[1:]
    return "/" + normpath(join(folder, name)).lstrip("/")
