"""How the reports of a coding agent's tools are compared."""

from __future__ import annotations

import re
from typing import Any

from agentworld_gym.core.screens.observations import Observations, Translation
from agentworld_gym.domains.swe import claude_code

_ENVELOPE = re.compile(
    r"(?m)^(?:Command|Directory|Output|Stdout|Stderr|Error|Exit Code|Signal|Background PIDs|Process Group PGID):"
)
_NUMBERED = re.compile(r"(?m)^ *\d+[\t→]")


class CodeObservations(Observations):
    """Reports of commands, which have an envelope of labels, and files, whose lines are numbered."""

    def has_form(self, predicted: str, truth: str, before: str) -> bool:
        """Whether the labels of the envelope are the same, or lines are numbered where they are due.

        >>> has_form = CodeObservations().has_form
        >>> has_form("     1\\ta", "     1\\tb", ""), has_form("a", "     1\\tb", "")
        (True, False)
        """
        if truth.startswith("Command:"):
            return predicted.startswith("Command:") and _ENVELOPE.findall(predicted) == _ENVELOPE.findall(truth)
        return _NUMBERED.search(predicted) is not None or _NUMBERED.match(truth) is None


def _readings(translated: str, call: Any) -> tuple[str, ...]:
    return (translated,) if claude_code.is_report(translated, call) else ()


CLAUDE_CODE = Translation(claude_code.as_report, re.compile(r"(?!)"), _readings)
"""The dialect of Claude Code."""
