"""The rules of the terminal: the prompt line with the echo, the output, and the prompt of the right directory."""

from __future__ import annotations

import re

from agentworld_gym.recipe.rl.verifiers.truth import RuleVerifier, Truth

_PROBLEMS = "No such file|cannot |not found|denied|Is a directory|Not a directory|invalid|missing"
_ERROR = re.compile(rf"(?m)^(?:bash: |[\w./-]+: .*(?:{_PROBLEMS}))")


def checks(truth: Truth, prediction: str) -> dict[str, bool]:
    """Check that the prompt line with the echo of what was typed comes first and the next prompt last, and that there
    are as many lines as in the truth.
    """
    true, predicted = truth.text.split("\n"), prediction.split("\n")
    return {"echo": true[0] == predicted[0], "prompt": true[-1] == predicted[-1], "lines": len(true) == len(predicted)}


VERIFIER = RuleVerifier(_ERROR, checks)
"""The rules."""
