"""Scripts that go on after a step: those that sleep, and those that read what is typed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from agentworld_gym.domains.terminal.engine.keyboard import EnteredScript
from agentworld_gym.domains.terminal.engine.parser import Incomplete, SimpleCommand, TooDeep, Unexpected, parse
from agentworld_gym.domains.terminal.engine.shell import Shell

_PLAIN = ("status", "shown", "done", "wakes", "read")
"""The fields that are plain data."""


@dataclass(frozen=True, slots=True)
class UnfinishedScript:
    """A script that was left in a sleep, or that waits for what is typed."""

    shell: Shell
    """The shell before the script, which is copied and never run."""
    entered: EnteredScript
    """The script."""
    status: int
    """The value of `$?` at its start."""
    shown: int
    """How many characters of its output the screen shows."""
    done: str
    """What is said of an earlier job once the script has ended."""
    wakes: float
    """The virtual time at which the sleep ends; infinite where it waits for what is typed."""
    read: str | None = None
    """What was typed for it so far; None where it sleeps."""

    def fields(self) -> dict[str, Any]:
        """Return the script as plain JSON data."""
        plain = {name: getattr(self, name) for name in _PLAIN}
        return {"shell": self.shell.fields(), "entered": self.entered.fields(), **plain}

    @classmethod
    def restore(cls, fields: Mapping[str, Any]) -> UnfinishedScript:
        """Return the script of these fields, the inverse of `fields`."""
        plain = {name: fields[name] for name in _PLAIN if name in fields}
        return cls(Shell.restore(fields["shell"]), EnteredScript.restore(fields["entered"]), **plain)


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
