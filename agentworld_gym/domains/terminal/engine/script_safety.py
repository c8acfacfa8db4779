"""Which scripts cannot bring down the process that runs them: those of known builtins alone, bounded in size.

The interpreter of the shell is native code. It bounds the depth of functions, expressions and patterns, but neither
that of scripts that run each other nor that of programs that run a program, and some of its values know no bound. So a
script runs in this process only where every command in it is a builtin from a list, by its literal name, with words
that cannot make it run anything else. What is not understood here counts as not harmless.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from typing import Protocol

from agentworld_gym.domains.terminal.engine.builtins.identity import ABSENT
from agentworld_gym.domains.terminal.engine.lexer import unquoted
from agentworld_gym.domains.terminal.engine.parser import Incomplete, SimpleCommand, TooDeep, Unexpected, parse
from agentworld_gym.domains.terminal.engine.script_outline import substituted

MAX_SCRIPT = 16_000
"""The most characters of a harmless script. The interpreter's own parsers were tried with longer ones."""
MAX_WORDS = 500
"""The most words of a test, or of a search for files, which goes a level deeper with each of them."""
MAX_WIDTH = 256
"""The widest field and the longest row that a program may be asked for by a number in its words."""

_BUILTINS = """
: [[ (( __history arch base32 base64 basename basenc bc break b2sum cat cd chgrp chmod chown cksum clear cmp column comm
continue cp cut date dd df diff dirname dirs du echo egrep exit expand export factor false fgrep file fmt fold free
getconf grep groups gunzip gzip head hexdump history hostname id jobs join kill let ln local logname ls md5sum mkdir
mktemp mv nl nproc numfmt od paste popd pr printenv printf ps pushd pwd read readlink realpath return rev rm rmdir sed
seq sha1sum sha224sum sha256sum sha384sum sha512sum shasum shift shuf sleep sort stat strings sum sync tac tail tar tee
touch tr true truncate tsort tty type uname unexpand uniq unlink unset uptime users wait wc which who whoami yes
"""
BUILTINS = frozenset((*_BUILTINS.split(), *ABSENT))
"""The builtins that run no other command, whatever their words are."""
_JQ_NAMES = """
add all and any ascii_downcase ascii_upcase empty endswith false first flatten floor has index join keys last length
map max min not null or reverse select sort sort_by group_by max_by min_by unique unique_by split startswith sum test
to_entries from_entries tonumber tostring true type values contains if then elif else end abs round ltrimstr rtrimstr
"""
_JQ = frozenset(_JQ_NAMES.split())
"""The words of a program of `jq` that cannot make a value deeper than the program is long."""
_JQ_OPTION = re.compile(r"-[rceSsnMCaj]+|--(?:raw-output|compact-output|sort-keys|slurp|exit-status|tab)")
_JQ_TEXT = re.compile(r'"(?:\\[^(]|[^"\\])*"')
_JQ_NAME = re.compile(r"(?<![.$\w])[A-Za-z_]\w*(?!\w*:)")
_JQ_MORE = re.compile(r'["-]|\.\.|(?<![=!<>])=(?!=)')
_LONGEST_JQ = 400
_DEEPEST_JQ = 12
_RUNNERS = frozenset((".", "bash", "sh", "source"))
_SOURCES = frozenset((".", "source"))
"""Those that look for a file among the programs first; the others do so where there is none in the folder."""
_READING = """
[ cat chmod cut echo egrep false fgrep grep head ls nl printf pwd stat tail test tr true wc
"""
_READERS = frozenset(_READING.split())
"""The builtins that write no file and stay in the folder, so that a script is what it was before them."""
_ELSEWHERE = """
docker gcc git java node npm perl pip pip3 python python3 ruby
"""
NOT_INSTALLED = frozenset(_ELSEWHERE.split())
"""Programs that people ask for, and that neither the interpreter nor this package has."""
_FILE = re.compile(r"[\w./][\w./+-]*")
_REPEATS = re.compile(r"\b(?:for|while|until|select|function)\b|\(\s*\)|[$<]\(|`|&(?![&>\d])(?<!&&)(?<!>&)")
"""What may run a command more than once, or others before it or beside it."""
_WRITES = re.compile(r">(?!\s*/dev/null\b|&\d)")
_SHEBANG = re.compile(r"(?!#!)|#!\s*/(?:usr/)?bin/(?:env\s+)?(?:ba)?sh\s*\n")
_DYNAMIC = re.compile(r"[$`]")
_ONE_WORD = re.compile(
    r"'[^']*'|[^\s\\'\"$`{}*?\[]+|(?:[^\s\\'\"$`{}*?\[]*\"(?:[^\"\\`$@]|\$\w+|\$\{#?\w+\}|\$[?#])*\")+"
)
"""What is one word for certain, whatever the variables in it hold."""
_NAME = re.compile(r"\\?(\(\(|\[\[|\[|:|\w[\w.+-]*)")
_WIDE = re.compile(r"%[-+ #0_^:]*\.?\d{4,}|%[^a-zA-Z%]*\*")
_RUNS = frozenset(("-exec", "-execdir"))
_PROMPTS = frozenset(("-ok", "-okdir"))
_XARGS_FLAG = re.compile(r"-(?:[0rt]+|[nLP]\d{1,4}|d.{1,2}|I(?:\{\}|\w|%|@))|--null|--no-run-if-empty")
_XARGS_VALUE = frozenset(("-n", "-L", "-P", "-d", "-I"))
_AWK_RUNS = re.compile(r"system|(?<!\|)\|(?!\|)|@|\bgetline\b")
_TEXT_OF_AWK = re.compile(r'"(?:\\.|[^"\\])*"|/(?:\\.|[^/\\\n])+/')
_AWK_FLAG = re.compile(r"-F.+|-v\w+=.*", re.DOTALL)
_HERE = re.compile(r"(?<!<)<<(?!<)-?+\s*+(?!(?:\w+|'\w+'|\"\w+\")(?:[\s;|&>)]|\Z))")
_STATE = re.compile(r"SHOPT|PS4|@[A-Za-z]\}|\bBASH_")
_CONDITION = re.compile(r"(?<!\S)\[\[\s(?:[^;&\n]|&&)*?\s\]\]")
_HEAD = re.compile(r"\bfor\s*\(\([\w\s=+\-*/%<>!$;]*\)\)")
_COMMENT = re.compile(r"(?:\A|\s)#")
_DOUBLE = re.compile(r"\(\(")
_OPENED = re.compile(r"(?<!\S)\[\[(?=\s)")
_TIME = re.compile(r"\btime\b")
_MOST_OPENED = 60
"""The most brackets of a kind: each is read on its own, which takes long where there are thousands."""
_MOST_TIMES = 3
"""Each `time` before a pipeline is a level deeper for the interpreter."""


class Scripts(Protocol):
    """The files that a line may run."""

    def content(self, name: str) -> str | None:
        """Return what stands in a file, by its name as a line writes it: nothing where there is no file.

        It is None where that is no text, or may be another one when it is read again.
        """
        ...

    def on_path(self, name: str) -> bool:
        """Whether there is a file of a name in the folders in which programs are looked for."""
        ...


def is_safe_script(
    script: str, commands: Sequence[SimpleCommand], programs: Collection[str] = (), scripts: Scripts | None = None
) -> bool:
    """Whether a complete script runs known builtins alone, in a shell without functions and aliases of a user's own.

    Args:
        script: The script.
        commands: Its simple commands, but those within words.
        programs: The names of further programs that run no command.
        scripts: The files that it may run, of which it may run one that is harmless itself and runs no other.

    >>> def asked(script: str) -> bool:
    ...     return is_safe_script(script, parse(script))
    >>> asked("for f in *.txt; do wc -l $f; done | sort -n"), asked("find . -name '*.log' -exec grep -c x {} +")
    (True, True)
    >>> asked("./run.sh"), asked("echo $(bash a.sh)"), asked("$x"), asked("awk 'BEGIN {system(\\"ls\\")}'")
    (False, False, False, False)
    """
    if len(script) > MAX_SCRIPT or not commands or not _understood(script):
        return False
    names = frozenset(programs)
    others = [command for command in commands if not _runs_nothing(command, names)]
    if len(others) > 1 or (others and scripts is None):
        return False
    if others and scripts is not None and not _known_file(script, commands, others[0], names, scripts):
        return False
    return all(_part(part, names) for part in substituted(script))


def _known_file(
    script: str, commands: Sequence[SimpleCommand], last: SimpleCommand, programs: frozenset[str], scripts: Scripts
) -> bool:
    """Whether the one command that is no builtin runs a harmless file, which is then still as it is now.

    A program that is not installed counts as a file without anything in it.
    """
    start = last.spans[0][0]
    before = [one for one in commands if not one.spans or one.spans[0][0] < start]
    if _REPEATS.search(script) or _WRITES.search(script[:start]):
        return False
    if not all(one.words and one.words[0] in _READERS for one in before):
        return False
    if last.words[0] in NOT_INSTALLED:
        return not scripts.on_path(last.words[0])
    content = _content(last.words, scripts)
    if content == "":
        return True
    if content is None or not _SHEBANG.match(content):
        return False
    try:
        inner = parse(content if content.endswith("\n") else f"{content}\n")
    except (Incomplete, Unexpected, TooDeep):
        return False
    return is_safe_script(content, inner, programs)


def _content(words: Sequence[str], scripts: Scripts) -> str | None:
    """Return the content of the file that a command runs; None where that is not known."""
    name, place = words[0], 0
    if name in _RUNNERS:
        place = 1
    elif "/" not in name:
        return None
    if place >= len(words) or not _FILE.fullmatch(words[place]):
        return None
    file = words[place]
    content = scripts.content(file)
    if "/" not in file and (name in _SOURCES or not content) and scripts.on_path(file):
        return None
    return content


def _part(script: str, programs: frozenset[str]) -> bool:
    """Whether a script within a word is harmless; the empty one is what is written into a process."""
    return not script.strip() or _inner(script, programs)


@lru_cache(maxsize=256)
def _inner(script: str, programs: frozenset[str]) -> bool:
    if _COMMENT.search(script):  # A bracket in a comment would end the script too early.
        return False
    try:
        commands = parse(f"{script}\n")
    except (Incomplete, Unexpected, TooDeep):
        return False
    return is_safe_script(script, commands, programs)


def _understood(script: str) -> bool:
    """Whether the parser here and that of the interpreter read a script in the same way."""
    if any(script.count(opener) > _MOST_OPENED for opener in ("((", "[[", "$(", "<(")):
        return False
    if ">(" in script:  # The outline of a script does not tell what gets what is written.
        return False
    if _HERE.search(script) or _STATE.search(script) or script.count("`") % 2 or "\\`" in script:
        return False
    if script.count("time") > _MOST_TIMES and len(_TIME.findall(script)) > _MOST_TIMES:
        return False
    if "[[" in script and len(_OPENED.findall(script)) != len(_CONDITION.findall(script)):
        return False
    return all(_is_arithmetic(script, found.end()) for found in _DOUBLE.finditer(script))


def _is_arithmetic(script: str, at: int) -> bool:
    """Whether what follows `((` ends with `))`; what does not is a list of commands."""
    level = 2
    while at < len(script) and level:
        char = script[at]
        level += {"(": 1, ")": -1}.get(char, 0)
        if level == 1 and script[at + 1 : at + 2] != ")":
            return False
        if char in "`\n" or (char == ";" and not _in_head(script, at)):
            return False
        at += 1
    return level == 0


def _in_head(script: str, at: int) -> bool:
    """Whether a place is in the head of a counting loop that names and numbers alone fill."""
    head = _HEAD.search(script, max(0, script.rfind("for", 0, at)))
    return head is not None and head.start() < at < head.end()


def _runs_nothing(command: SimpleCommand, programs: frozenset[str]) -> bool:
    if not command.words:
        return True
    named = _NAME.fullmatch(command.words[0])
    return named is not None and _is_builtin([named[1], *command.words[1:]], programs)


def _is_builtin(words: Sequence[str], programs: frozenset[str]) -> bool:
    """Whether a command, whose first word is a name, runs no other one."""
    name = words[0]
    if name in BUILTINS or name in programs:
        return True
    check = _CHECKED.get(name)
    return check is not None and check(words[1:], programs)


def _bounded_test(words: Sequence[str], programs: frozenset[str]) -> bool:
    """A test recurses by its words, of which an expansion can make any number."""
    return len(words) <= MAX_WORDS and all(_ONE_WORD.fullmatch(word.rstrip("]") or "x") for word in words)


def _bounded_find(words: Sequence[str], programs: frozenset[str]) -> bool:
    rest = [word for word in words if word not in ("{}", "\\;", "\\(", "\\)", "\\!", "';'")]
    if len(words) > MAX_WORDS or not all(map(_ONE_WORD.fullmatch, rest)) or any(map(_WIDE.search, words)):
        return False
    for number, word in enumerate(words):
        if unquoted(word) in _PROMPTS:
            return False
        if unquoted(word) in _RUNS:
            following = [*words[number + 1 :], ";"]
            end = next(n for n, one in enumerate(following) if unquoted(one) in (";", "+"))
            inner = following[:end]
            if not inner or not _NAME.fullmatch(inner[0]) or inner[0] in _CHECKED or not _is_builtin(inner, programs):
                return False
    return True


def _bounded_xargs(words: Sequence[str], programs: frozenset[str]) -> bool:
    """A program that gets its words from elsewhere has to be one that runs nothing whatever they are."""
    place = 0
    while place < len(words) and words[place].startswith("-"):
        if words[place] in _XARGS_VALUE:
            place += 1
            if place >= len(words) or not (words[place] == "{}" or _ONE_WORD.fullmatch(words[place])):
                return False
        elif not _XARGS_FLAG.fullmatch(words[place]):
            return False
        place += 1
    return place == len(words) or words[place] in BUILTINS or words[place] in programs


def _bounded_awk(words: Sequence[str], programs: frozenset[str]) -> bool:
    place = 0
    while place < len(words) and words[place].startswith("-"):
        word = words[place]
        if word in ("-F", "-v"):
            place += 1
            if place >= len(words) or not _literal_value(words[place]):
                return False
        elif not _AWK_FLAG.fullmatch(word) or not _literal_value(word):
            return False
        place += 1
    if place >= len(words) or (words[place][0] != "'" and _DYNAMIC.search(words[place])):
        return False
    program = unquoted(words[place])
    return "'" not in words[place][1:-1] and not _AWK_RUNS.search(_TEXT_OF_AWK.sub('""', program))


def _literal_value(word: str) -> bool:
    """Whether a word stays one word, so that the program of awk stays at its place."""
    option, rest = ("-F", word[2:]) if word.startswith("-F") else ("", word)
    name, equals, value = rest.partition("=")
    if equals and not option and not _DYNAMIC.search(name):
        return not value or _ONE_WORD.fullmatch(value) is not None
    return rest in ("\\|", "\\;") or _ONE_WORD.fullmatch(rest) is not None


def _bounded_jq(words: Sequence[str], programs: frozenset[str]) -> bool:
    place = 0
    while place < len(words) and _JQ_OPTION.fullmatch(words[place]):
        place += 1
    if place >= len(words) or not _ONE_WORD.fullmatch(words[place]):
        return False
    if words[place][0] != "'" and _DYNAMIC.search(words[place]):
        return False
    program = _JQ_TEXT.sub("", unquoted(words[place]))
    if len(program) > _LONGEST_JQ or sum(map(program.count, "([{")) > _DEEPEST_JQ or _JQ_MORE.search(program):
        return False
    return all(name in _JQ for name in _JQ_NAME.findall(program))


def _bounded_columns(words: Sequence[str], programs: frozenset[str]) -> bool:
    """Of `xxd`, whose rows know no bound."""
    numbers = (number for word in words for number in re.findall(r"\d+", word))
    return all(map(_ONE_WORD.fullmatch, words)) and all(int(number[:9]) <= MAX_WIDTH for number in numbers)


def _asks(words: Sequence[str], programs: frozenset[str]) -> bool:
    return len(words) == 2 and words[0] in ("-v", "-V") and bool(_ONE_WORD.fullmatch(words[1]))


def _nothing(words: Sequence[str], programs: frozenset[str]) -> bool:
    return not words


_CHECKED: dict[str, Callable[[Sequence[str], frozenset[str]], bool]] = {
    "[": _bounded_test,
    "awk": _bounded_awk,
    "command": _asks,
    "env": _nothing,
    "expr": _bounded_test,
    "find": _bounded_find,
    "gawk": _bounded_awk,
    "jq": _bounded_jq,
    "mawk": _bounded_awk,
    "test": _bounded_test,
    "xargs": _bounded_xargs,
    "xxd": _bounded_columns,
}
"""The builtins that may run another command or recurse by their words, with what has to hold of these."""
