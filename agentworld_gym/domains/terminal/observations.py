"""How captures of a terminal are compared."""

from __future__ import annotations

import re

from agentworld_gym.core.screens.observations import Observations
from agentworld_gym.domains.terminal.screen_texts import behind_carried, behind_prompt

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
