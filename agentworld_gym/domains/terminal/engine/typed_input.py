"""Programs that read what is typed: `cat` without a file waits for lines until Ctrl-D."""

from __future__ import annotations

import re
from dataclasses import replace

from agentworld_gym.domains.terminal.engine.keyboard import EnteredScript
from agentworld_gym.domains.terminal.engine.parser import Incomplete, SimpleCommand, TooDeep, Unexpected, parse

STREAMS = frozenset(("cat", "tee", "nl", "rev"))
"""The programs that write each line as soon as they have read it."""
READERS = STREAMS | {"sort", "uniq", "wc", "tac", "md5sum", "sha1sum", "sha256sum"}
"""The programs that read what is typed where no file is named."""

_COMPOUND = re.compile(r"[(){}&\\]|<<|\b(?:while|until|for|if|case|select|function|exec|time)\b")
"""What may give a command another input than the keyboard, or run it another time."""
_INFORMS = ("--help", "--version", "--files0-from")


def reads_typed(entered: EnteredScript) -> bool:
    """Return whether a script waits for what is typed.

    Only what surely does so counts: a list of pipelines, one of which begins with a reader that names no file.

    >>> def waits(text): return reads_typed(EnteredScript(text, tuple(parse(text))))
    >>> waits("cat\\n"), waits("mkdir d; cat > d/f\\n"), waits("cat -n - | sort\\n"), waits("tee a b > c\\n")
    (True, True, True, True)
    >>> waits("cat f\\n"), waits("echo x | cat\\n"), waits("f() { cat; }\\n"), waits("wc --help\\n")
    (False, False, False, False)
    """
    plain = entered.script.replace("&&", ";")
    return not _COMPOUND.search(plain) and any(map(_reads, entered.commands))


def streams(entered: EnteredScript) -> bool:
    """Return whether a script that reads what is typed does nothing but write each line as it comes."""
    return len(entered.commands) == 1 and entered.commands[0].words[0] in STREAMS


def fed(entered: EnteredScript, text: str) -> EnteredScript:
    """Return a script with a text as what is typed; what the script is called stays as it was.

    >>> script = EnteredScript("cat > f\\n", tuple(parse("cat > f\\n")))
    >>> fed(script, "a").script
    "{ cat > f\\n} < <(printf '%s' 'a')\\n"
    """
    quoted = text.replace("'", "'\\''")
    script = f"{{ {entered.script.rstrip()}\n}} < <(printf '%s' '{quoted}')\n"
    try:
        return replace(entered, script=script, commands=tuple(parse(script)))
    except (Incomplete, Unexpected, TooDeep):
        return replace(entered, script=script, commands=())


def _reads(command: SimpleCommand) -> bool:
    name, *others = command.words or [""]
    if name not in READERS or command.reads or command.background or any(one.startswith(_INFORMS) for one in others):
        return False
    return name == "tee" or all(one.startswith("-") for one in others)
