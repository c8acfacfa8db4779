"""Rewrites a script before the sandbox runs it, so that it behaves as on a terminal at the virtual time.

Commands are rewritten, and what they print or write is not: a text that names a clock or a source of chance stays as
it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentworld_gym.domains.terminal.engine.builtins.common import MAX_WIDTH
from agentworld_gym.domains.terminal.engine.builtins.date_parsing import parsed
from agentworld_gym.domains.terminal.engine.context import ShellContext
from agentworld_gym.domains.terminal.engine.parser import SimpleCommand

ON_TERMINAL = " -C --quoting-style=shell-escape"
_CONVERSION = re.compile(r"%(?:\([^)]*\)(?P<time>T)|[-+ #0]*\d*(?:\.\d+)?(?:(?P<percent>%)|[a-zA-Z]))")
_DD = re.compile(r"(['\"]?if=['\"]?)/dev/(u?random['\"]?)\Z")
_SRANDOM = re.compile(r"""\\.|'[^']*'|"(?:\\.|[^"\\])*"|\$\(\(.*?\)\)|\$\{?SRANDOM\b""", re.DOTALL)
_NOW = re.compile(r"(?<![.\w\"$])now\b(?!\s*:|[\"\w(])")
_IN_SINGLE = re.compile(r'("(?:\\.|[^"\\])*")', re.DOTALL)
_IN_DOUBLE = re.compile(r'(\\"(?:[^"\\]|\\[^"])*\\")', re.DOTALL)
_TAKES = {"-F": 1, "-v": 1, "--indent": 1, "--arg": 2, "--argjson": 2, "--slurpfile": 2, "--rawfile": 2}
"""The number of words that an option of awk or jq takes beside itself."""
_DATE = re.compile(r"(-d|--date)(?:=(.*))?", re.DOTALL)
_WIDTH = re.compile(r"%[-+ #0]*(\d{4,})")
_COLUMNS = re.compile(r"(?:(?<=\s)|\A)-(?:c|cols)\s*(\d+)")
_WITHOUT_LIMIT = ("-p", "-ps", "-postscript", "-plain", "-i", "-include")
"""The options with which `xxd` prints rows of any length."""
MAX_COLUMNS = 256
"""The most bytes a row that `xxd` prints."""
_CLOCKED = re.compile(r"SECONDS|EPOCH|\bbash\b|\bsh\b|\bsource\b|\./|(?:^|[;&|]\s*)\. ")


def rewritten(script: str, commands: Sequence[SimpleCommand], context: ShellContext) -> str:
    """Return the script in the form in which the sandbox runs it.

    >>> from random import Random
    >>> from agentworld_gym.domains.terminal.engine.context import VirtualClock
    >>> from agentworld_gym.domains.terminal.engine.parser import parse
    >>> script = "ls x | wc; touch -d '1 day ago' f"
    >>> rewritten(script, parse(script), ShellContext("dev", "box", "/home/dev", VirtualClock(86400.0), Random(0)))
    "ls x | wc; touch -d '@0' f"
    """
    now = context.clock.now
    edits: list[tuple[int, int, str]] = []
    for command in commands:
        name = command.words[0] if command.words else ""
        if name == "ls" and not command.hidden:
            end = command.spans[0][1]
            edits.append((end, end, ON_TERMINAL))
        elif name == "history":
            edits.append((*command.spans[0], "__history"))
        elif name == "trap" and command.words[-1] in ("EXIT", "0") and len(command.words) > 2:
            edits.append((*command.spans[0], ":"))  # the sandbox would run an EXIT trap at the end of every line
        elif name in ("find", "xxd"):
            if said := _too_wide(command):
                edits.append((*command.spans[0], f"__refused '{said}'"))
        elif name == "touch":
            edits.extend(_dated(command, now))
        elif name in ("awk", "gawk", "mawk", "jq"):
            edits.extend(_clocked(command, now))
        elif name == "dd":  # the sandbox knows two devices by their names and reads them from the host
            words = zip(command.words, command.spans, strict=True)
            edits.extend((*span, _DD.sub(r"\1/dev/./\2", word)) for word, span in words if _DD.match(word))
        elif name == "printf":
            edits.extend(_timed(command, now, context.clock.start))
    for start, end, text in reversed(edits):
        script = script[:start] + text + script[end:]
    if "SRANDOM" in script and "<<" not in script:  # a here-document may be a text
        script = _SRANDOM.sub(_drawn, script)
    return script


def _drawn(match: re.Match[str]) -> str:
    """Rewrite an expansion of `$SRANDOM` as one of `$RANDOM`, which follows the seed; quoted text stays as it is."""
    text = match.group()
    if text[0] in "'\\":
        return text
    if text.startswith("$(("):
        return re.sub(r"\bSRANDOM\b", "RANDOM", text)
    return re.sub(r"\\.|(\$\{?)SRANDOM\b", lambda found: f"{found[1]}RANDOM" if found[1] else found[0], text)


def _too_wide(command: SimpleCommand) -> str:
    """Return what a program says that is asked for wider fields or rows than it has; nothing where it is not.

    >>> from agentworld_gym.domains.terminal.engine.parser import parse
    >>> [_too_wide(*parse(line)) for line in ("find . -printf '%99999p'", "xxd -c 3000 f", "xxd -c 16 f")]
    ['find: memory exhausted', 'xxd: invalid number of columns (max. 256).', '']
    """
    words = command.words[1:]
    if command.words[0] == "find":
        widths = (found[1] for word in words for found in _WIDTH.finditer(word))
        return "find: memory exhausted" if any(int(width[:9]) > MAX_WIDTH for width in widths) else ""
    if any(word in _WITHOUT_LIMIT for word in words):
        return ""
    counts = (found[1] for found in _COLUMNS.finditer(" ".join(words)))
    return "xxd: invalid number of columns (max. 256)." if any(int(n[:9]) > MAX_COLUMNS for n in counts) else ""


def _timed(command: SimpleCommand, now: float, start: float) -> list[tuple[int, int, str]]:
    """Give `printf` the virtual time as an argument for each `%(…)T` that has no time of its own."""
    place = next(
        (n for n, word in enumerate(command.words) if n and word[0] != "-" and command.words[n - 1] != "-v"), 0
    )
    letters = [match["time"] or "" for match in _CONVERSION.finditer(command.words[place]) if not match["percent"]]
    if not place or "T" not in letters:
        return []
    arguments = command.words[place + 1 :]
    count = next((n for n, word in enumerate(arguments) if set(word) & set("$`*?[")), len(arguments))
    moments = {"-1": f"{int(now)}", "-2": f"{int(start)}"}
    edits = [
        (*command.spans[place + 1 + n], moments[word])
        for n, word in enumerate(arguments[:count])
        if letters[n % len(letters)] == "T" and word in moments
    ]
    if count == len(arguments) and (missing := -len(arguments) % len(letters) if arguments else len(letters)):
        rest = " ".join(f"{int(now)}" if letter == "T" else "''" for letter in letters[-missing:])
        end = command.spans[-1][1]
        edits.append((end, end, f" {rest}"))
    return edits


def _clocked(command: SimpleCommand, now: float) -> list[tuple[int, int, str]]:
    """Give a program of awk or jq that asks for the time the virtual one; texts in the program stay as they are."""
    place = _program(command.words)
    if place is None:
        return []
    word = command.words[place]
    literal = _IN_DOUBLE if word[0] == '"' else _IN_SINGLE

    def asked(code: str) -> str:
        if command.words[0] == "jq":
            return _NOW.sub(f"{now:.6f}", code)
        for call, text in ((r"srand\(\s*\)", f"srand({int(now)})"), (r"systime\(\s*\)", str(int(now)))):
            code = re.sub(call, text, code)
        return re.sub(r"strftime\(([^(),]*)\)", rf"strftime(\1, {int(now)})", code)

    def set_clock(text: str) -> str:
        return re.sub(r"\\\([^()]*\)", lambda found: asked(found[0]), text) if command.words[0] == "jq" else text

    if command.words[0] != "jq" and "strftime(" in word:
        changed = asked(word)  # the format of `strftime` is a text
    else:
        pieces = literal.split(word)
        changed = "".join(set_clock(piece) if n % 2 else asked(piece) for n, piece in enumerate(pieces))
    return [] if changed == word else [(*command.spans[place], changed)]


def _program(words: Sequence[str]) -> int | None:
    """Return the position of awk's or jq's program among the words, or `None` where it comes from a file or is missing.

    >>> _program(["awk", "-F", ",", "-v", "x=srand()", "{print x}"]), _program(["jq", "-r", "--arg", "a", "now", ".a"])
    (5, 5)
    """
    place = 1
    while place < len(words) and words[place].startswith("-"):
        if words[place] in ("-f", "--from-file", "--file"):
            return None
        place += 1 + _TAKES.get(words[place], 0)
    return place if place < len(words) else None


def clock_variables(script: str, now: float, start: float) -> str:
    """Return assignments of the variables that tell the time, if the script may read them."""
    if not _CLOCKED.search(script):
        return ""
    return f"EPOCHSECONDS={int(now)}; EPOCHREALTIME={now:.6f}; SECONDS={int(now - start)}\n"


def _dated(command: SimpleCommand, now: float) -> list[tuple[int, int, str]]:
    edits = []
    for index, word in enumerate(command.words[1:], 1):
        match = _DATE.fullmatch(word)
        if match is None:
            continue
        position = index if match.group(2) is not None else index + 1
        if position >= len(command.words):
            break
        raw = match.group(2) if position == index else command.words[position]
        text = raw[1:-1] if len(raw) > 1 and raw[0] == raw[-1] and raw[0] in "'\"" else raw
        moment = None if set(text) & set("$`\\'\"") else parsed(text, now)
        if moment is not None:
            stamp = f"'@{int(moment.timestamp())}'"
            start, end = command.spans[position]
            edits.append((start, end, f"--date={stamp}" if position == index else stamp))
    return edits
