"""What keys enter at the prompt of a terminal: a script, an empty line, or text that stays on the line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from agentworld_gym.engines.terminal.keyboard import CONTINUATION, keys_of
from agentworld_gym.engines.terminal.parser import Incomplete, TooDeep, Unexpected, parse

INTERRUPT = "\x03"
INTERRUPTED = 130
"""The value of `$?` after a line that Ctrl-C left."""


class Entered(NamedTuple):
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


def entered_command(screen: str, prompt_before: str, keys: Any, typed: str = "") -> Entered | None:
    """Return what keys enter on a screen.

    It is None where the terminal waits for no command, where keys move the cursor or the like, and where the script
    goes on.

    Args:
        screen: The capture before.
        prompt_before: The prompt before, without the blank at its end.
        keys: The batches of keys.
        typed: What stands behind the prompt.

    >>> entered_command("dev@box:~$", "dev@box:~$", [{"keystrokes": "ls -l\\n", "duration": 1.0}])
    Entered(line='dev@box:~$ ls -l', command='ls -l', rest='', typed='', status=None)
    >>> entered_command("dev@box:~$", "dev@box:~$", [{"keystrokes": "C-c"}])
    Entered(line='dev@box:~$ ^C', command='', rest='', typed='', status=130)
    """
    if screen.rpartition("\n")[2] != f"{prompt_before} {typed}".rstrip() or not isinstance(keys, list | tuple):
        return None
    text = _text_of(keys)
    return first_entered(prompt_before, typed + text) if text else None


def first_entered(prompt_before: str, text: str) -> Entered | None:
    """Return what the first keys of a text enter; None where they are a script that goes on.

    >>> first_entered("$", "for x in a; do\\nls\\ndone\\npwd\\n")
    Entered(line='$ for x in a; do\\n> ls\\n> done', command='for x in a; do\\nls\\ndone', rest='pwd\\n', typed='', status=None)
    """
    *lines, last = text.split("\n")
    if not lines:
        if last.endswith(INTERRUPT):
            return Entered(f"{prompt_before} {last[:-1]}^C", "", status=INTERRUPTED)
        return Entered(f"{prompt_before} {last}", "", typed=last)
    for end in range(1, len(lines) + 1):
        script = "\n".join(lines[:end])
        try:
            parse(f"{script}\n")
        except Incomplete:
            continue
        except (Unexpected, TooDeep):
            pass
        shown = f"\n{CONTINUATION}".join(lines[:end])
        command = "" if not script.strip() or script.lstrip().startswith("#") else script
        return Entered(f"{prompt_before} {shown}".rstrip(), command, "\n".join((*lines[end:], last)))
    return None


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
