"""What keys enter at the prompt of a terminal: a script, an empty line, or text that stays on the line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from agentworld_gym.domains.terminal.engine.keyboard import CONTINUATION, keys_of
from agentworld_gym.domains.terminal.engine.parser import Incomplete, TooDeep, Unexpected, parse

INTERRUPT = "\x03"
LONGEST = 50_000
"""The largest number of characters of a script that is described by its commands."""
INTERRUPTED = 130
"""The value of `$?` after a line that Ctrl-C left."""


class CommandEntry(NamedTuple):
    """What is entered on a line."""

    line: str
    """The lines of the screen on which it is typed, with their prompts."""
    command: str
    """The script; empty for an empty line."""
    rest: str = ""
    """What is typed after it."""
    typed: str = ""
    """What stays on the line."""
    status: int | None = None
    """The value of `$?` where nothing is run and it changes."""
    pending: str = ""
    """The lines of a script that goes on."""

    @property
    def enters(self) -> bool:
        """Whether the line is left, and does not wait for more on it."""
        return bool(self.command or not self.typed or (self.pending and "\n" in self.line))


def entered_command(
    screen: str, prompt_before: str, keys: Any, typed: str = "", pending: str = ""
) -> CommandEntry | None:
    """Return what keys enter on a screen.

    It is None where the terminal waits for no command, and where keys move the cursor or the like.

    Args:
        screen: The capture before.
        prompt_before: The prompt before, without the blank at its end.
        keys: The batches of keys.
        typed: What stands behind the prompt.
        pending: The lines of a script that goes on.

    >>> entered_command("dev@box:~$", "dev@box:~$", [{"keystrokes": "ls -l\\n", "duration": 1.0}])
    CommandEntry(line='dev@box:~$ ls -l', command='ls -l', rest='', typed='', status=None, pending='')
    >>> entered_command("dev@box:~$", "dev@box:~$", [{"keystrokes": "C-c"}])
    CommandEntry(line='dev@box:~$ ^C', command='', rest='', typed='', status=130, pending='')
    """
    if screen.rpartition("\n")[2] != f"{prompt_before} {typed}".rstrip() or not isinstance(keys, list | tuple):
        return None
    text = _text_of(keys)
    if not text or len(text) + len(pending) > LONGEST:
        return None
    return first_entered(prompt_before, typed + text, pending)


@lru_cache(maxsize=64)
def first_entered(prompt_before: str, text: str, pending: str = "") -> CommandEntry:
    """Return what the first keys of a text enter.

    Args:
        prompt_before: The prompt before, without the blank at its end.
        text: The text.
        pending: The lines of a script that goes on.

    >>> first_entered("$", "for x in a; do\\nls\\ndone\\npwd\\n")[:3]
    ('$ for x in a; do\\n> ls\\n> done', 'for x in a; do\\nls\\ndone', 'pwd\\n')
    """
    *lines, last = text.split("\n")
    if not lines:
        if last.endswith(INTERRUPT):
            return CommandEntry(f"{prompt_before} {last[:-1]}^C", "", status=INTERRUPTED)
        return CommandEntry(f"{prompt_before} {last}", "", typed=last, pending=pending)
    waiting = None
    for end, line in enumerate(lines, 1):
        if waiting is not None and not waiting.ends(line):
            continue
        script = pending + "\n".join(lines[:end])
        try:
            parse(f"{script}\n")
        except Incomplete as incomplete:
            waiting = incomplete.waiting
            continue
        except (Unexpected, TooDeep):
            pass
        command = script if [line for line in script.split("\n") if line.strip() and line.lstrip()[0] != "#"] else ""
        return CommandEntry(_echo(prompt_before, lines[:end]), command, "\n".join((*lines[end:], last)))
    script = "".join(f"{line}\n" for line in lines)
    return CommandEntry(_echo(prompt_before, lines), "", typed=last, pending=pending + script)


def _echo(prompt_before: str, lines: Sequence[str]) -> str:
    """Return how lines of a script stand on the screen."""
    shown = f"\n{CONTINUATION}".join(lines)
    return f"{prompt_before} {shown}".rstrip()


def _text_of(keys: Any) -> str:
    """Return the characters of batches of keys; none where some keys do more than to type, to enter and to leave."""
    text = ""
    for entry in keys:
        typed = entry.get("keystrokes") if isinstance(entry, Mapping) else None
        if not isinstance(typed, str):
            return ""
        for key in keys_of(typed):
            if text.endswith(INTERRUPT) or not (key.isprintable() or key in ("\n", INTERRUPT)):
                return ""
            text += key
    return text
