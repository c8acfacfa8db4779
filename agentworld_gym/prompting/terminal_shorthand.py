r"""Captures of a terminal without what the capture before has shown already, for small models.

A capture begins with the prompt line on which the last one ended, or with all that stood there since a command was
entered that still runs. A small model knows both from its prompt, so that its answer begins with what was typed or
printed after them. Whether they belong before an answer is told by the action, whose echo comes first.

>>> ended = "dev@box:~$ cd d\ndev@box:~/d$"
>>> shown = "dev@box:~/d$ cat a\nhi\ndev@box:~/d$"
>>> without_carried(ended, "cat a", shown)
'cat a\nhi\ndev@box:~/d$'
>>> with_carried(ended, "cat a", 'cat a\nhi\ndev@box:~/d$') == shown
True
"""

from __future__ import annotations

from agentworld_gym.screens.terminal import PROMPT, carried, echo_of, is_idle, keystrokes

WHOLE = "\\\n"
"""Begins the answer that is a whole capture where nothing else tells that it is one."""

FULL_SCREEN = 40
"""The number of lines from which on a capture has lost its first ones."""


def without_carried(before: str, action: str | None, capture: str) -> str:
    """Return a capture without what the capture before has shown already.

    Args:
        before: The capture before.
        action: The action as the agent wrote it; None where it is not known.
        capture: The capture.
    """
    ahead = carried(before)
    answers = [capture]
    if capture.startswith(ahead):
        rest = capture[len(ahead) :]
        short = rest.removeprefix(" " if is_idle(ahead) else "\n")
        # An empty answer is a screen that stays as it was. A screen that was cleared looks the same.
        waits = action is None or not any(keystrokes(action) or ())
        answers = [short, capture] if short or waits else [capture, short]
    return next((answer for answer in answers if with_carried(before, action, answer) == capture), WHOLE + capture)


def with_carried(before: str, action: str | None, answer: str) -> str:
    """Return the capture that an answer stands for: the inverse of `without_carried`, defined for every text.

    The arguments are those of `without_carried`.
    """
    ahead = carried(before)
    if answer.startswith(WHOLE):
        return answer.removeprefix(WHOLE)
    if not ahead or not _goes_on(is_idle(ahead), action, answer):
        return answer
    if not answer:
        return ahead
    if is_idle(ahead):
        return f"{ahead}{'' if answer.startswith(_BREAK) else ' '}{answer}"
    return f"{ahead}\n{answer}"


def _goes_on(idle: bool, action: str | None, answer: str) -> bool:
    """Whether an answer is what was typed or printed after the end of the capture before."""
    typed = None if action is None else keystrokes(action)
    if action is not None and not typed:
        return False
    echo = None if action is None else echo_of(action)
    first, *others = answer.split("\n")
    if echo is not None and (echo or idle):
        return first.strip() == echo.strip()
    return len(others) + 1 < FULL_SCREEN and not (idle and PROMPT.match(first))


_BREAK = "\n"
