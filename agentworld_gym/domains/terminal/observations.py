"""How captures of a terminal are read and compared: prompts, what an action types, where the next capture begins."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from agentworld_gym.core.screens.observations import Observations
from agentworld_gym.domains.terminal.engine.command_line import command_line

PROMPT = re.compile(r"(?<![\w.-])[\w.-]+@[\w.-]+:[~/][^\n$#]{0,4096}[$#]")
"""The pattern of a prompt, without the blank behind it."""

CONTINUATION = ">"
"""The prompt of a line that goes on with an unfinished command."""


def is_idle(line: str) -> bool:
    """Whether a line ends with a prompt behind which nothing is typed.

    >>> is_idle("dev@box:~$"), is_idle("no newlinedev@box:~$"), is_idle(">"), is_idle("dev@box:~$ ls")
    (True, True, True, False)
    """
    match = PROMPT.search(line)
    return line == CONTINUATION or (match is not None and match.end() == len(line))


def carried(screen: str) -> str:
    """Return the end of a capture, with which the next one begins.

    This is the last line, on which keys are typed. After a command that still runs it is all from the line of that
    command on.

    >>> carried("dev@box:~$ ls\\na.txt\\ndev@box:~$"), carried("dev@box:~$ cd d\\ndev@box:~/d$ make\\ncc a.c")
    ('dev@box:~$', 'dev@box:~/d$ make\\ncc a.c')
    """
    lines = screen.split("\n")
    if is_idle(lines[-1]):
        return lines[-1]
    start = next((place for place in reversed(range(len(lines))) if PROMPT.search(lines[place])), len(lines) - 1)
    return "\n".join(lines[start:])


def behind_carried(before: str, capture: str) -> str:
    """Return what a capture shows behind the end of the capture before, with which it begins.

    Args:
        before: The capture before.
        capture: The capture.

    >>> behind_carried("dev@box:~$ cd d\\ndev@box:~/d$", "dev@box:~/d$ cat a\\nhi\\ndev@box:~/d$")
    'cat a\\nhi\\ndev@box:~/d$'
    """
    ahead = carried(before)
    if not capture.startswith(ahead):
        return capture
    return capture[len(ahead) :].removeprefix(" " if is_idle(ahead) else "\n") or capture


def behind_prompt(screen: str) -> str:
    """Return a capture without the prompt with which it begins.

    >>> behind_prompt("dev@box:~$ ls\\na.txt\\ndev@box:~$"), behind_prompt("dev@box:~$")
    ('ls\\na.txt\\ndev@box:~$', 'dev@box:~$')
    """
    match = PROMPT.match(screen)
    return screen[match.end() + 1 :] if match and screen[match.end() :].startswith(" ") else screen


def keystrokes(action: str) -> list[str] | None:
    """Return what each entry of an action types; None where the action is no batch, and no command line either.

    >>> keystrokes("ls"), keystrokes('[{"keystrokes": "ls"}, {"keystrokes": "Enter"}]'), keystrokes("[1]")
    (['ls\\n'], ['ls', 'Enter'], None)
    """
    if not action.lstrip().startswith("["):
        return [action.rstrip("\r\n") + "\n"]
    try:
        batch: Any = json.loads(action)
        typed = [entry["keystrokes"] for entry in batch]
    except (ValueError, TypeError, LookupError, RecursionError):
        return None
    return typed if all(isinstance(text, str) for text in typed) else None


LONGEST_PROMPT = 5_000
"""Characters at the end of a text in which a prompt is looked for, so that the cost stays bounded."""

_PROMPT = re.compile(r"(?P<who>[\w.-]+@[\w.-]+):[~/][^\n$#]*[$#] ?\n?\Z")


class TerminalObservations(Observations):
    """Captures, which begin with what the last one ended with, and end with a prompt."""

    lists_act = True

    def has_form(self, predicted: str, truth: str, before: str) -> bool:
        """Whether the prompt of the same user and host stands at the end.

        >>> truth = "dev@box:/srv$ pwd\\ndev@box:/srv$"
        >>> has_form = TerminalObservations().has_form
        >>> has_form("dev@box:~$ ls\\ndev@box:~$", truth, ""), has_form("dev@box:~$ ls\\n", truth, "")
        (True, False)
        """
        due = _prompted(truth)
        return due is None or _prompted(predicted) in (due, _prompted(before) or due)

    def is_whole(self, text: str, first: str, asks: bool) -> bool:
        """Whether the prompt stands at the end again, behind a line that only reads."""
        return not asks or _prompted(first) in (None, _prompted(text))

    def behind_repetition(self, before: str, observation: str) -> str:
        """Return a capture without the prompt line of the one before."""
        return behind_carried(before, observation)

    def output(self, observation: str) -> str:
        """Return a capture without the prompt with which it begins."""
        return behind_prompt(observation)


def _prompted(text: str) -> str | None:
    """Return the user and host of the prompt at the end of a text."""
    match = _PROMPT.search(text[-LONGEST_PROMPT:])
    return match["who"] if match else None


def asks(action: Any, tools: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a line only reads files: a pipeline of programs that read, without variables and the time.

    >>> asks("cat a.txt | sort", ()), asks("sort a.txt > b.txt", ()), asks("date", ()), asks("cd app", ())
    (True, False, False, False)
    """
    if isinstance(action, list):
        action = action[0].get("keystrokes") if len(action) == 1 and isinstance(action[0], Mapping) else None
    if not isinstance(action, str) or _MOMENT.search(action):
        return False
    line = command_line(action.rstrip("\n"))
    return line is not None and line.reads and not line.target


_MOMENT = re.compile(r"\$|`|\b(?:date|cd|history|uptime|sleep|ps|top|stat|ls -l\w*|find)\b")
"""What a line shows of the moment, or of the shell rather than of files."""
