"""The rules of SWE: numbered lines of files, and the envelope of a command with its exit code, in both dialects."""

from __future__ import annotations

import re

from agentworld_gym.recipe.rl.verifiers.truth import RuleVerifier, Truth

_ERROR = re.compile(
    r"(?m)^(?:Error\b|.*\b(?:No such file|not found|could not|failed to)\b)"
    r"|^(?:Failed to edit\b|Exit code \d|<tool_use_error>)|^Exit Code: (?!0$)\S+"
)
_FIELD = re.compile(r"(?m)^(Command|Directory|Output|Error|Exit Code|Signal|Background PIDs|Process Group PGID): ?")
_EXIT = re.compile(r"(?m)^Exit Code: (.*)$|\AExit code (\d+)$")
_NUMBERED = re.compile(r"(?m)^ *(\d+)[\t→]")


def checks(truth: Truth, prediction: str) -> dict[str, bool]:
    """Check that the fields of the envelope and its exit code, or the numbers of the lines, are those of the truth."""
    checks: dict[str, bool] = {}
    if fields := _FIELD.findall(truth.text):
        checks["envelope"] = fields == _FIELD.findall(prediction)
    if exits := _EXIT.findall(truth.text):
        checks["exit_code"] = exits == _EXIT.findall(prediction)
    if numbers := _NUMBERED.findall(truth.text):
        checks["numbering"] = numbers == _NUMBERED.findall(prediction)
    return checks


VERIFIER = RuleVerifier(_ERROR, checks)
"""The rules."""
