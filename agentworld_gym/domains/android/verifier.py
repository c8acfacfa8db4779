"""The rules of Android: indexed lines of elements whose indices count up and whose bounds enclose something."""

from __future__ import annotations

import re

from agentworld_gym.core.screens import read_screen
from agentworld_gym.recipe.rl.verifiers.truth import RuleVerifier, Truth

_ERROR = re.compile(r"(?m)^(?:Error\b|.*\b(?:no element|not installed|cannot )\b)")


def checks(truth: Truth, prediction: str) -> dict[str, bool]:
    """Check that indices, number and classes of the elements are those of the truth, and that no bounds are inside
    out.
    """
    nodes, predicted = read_screen("android", truth.text), read_screen("android", prediction)
    if not nodes:
        return {"screen": not predicted}
    return {
        "indices": [node.handle for node in predicted] == [node.handle for node in nodes],
        "classes": [node.role for node in predicted] == [node.role for node in nodes],
        "bounds": all(node.box is not None and node.box.width >= 0 and node.box.height >= 0 for node in predicted),
    }


VERIFIER = RuleVerifier(_ERROR, checks)
"""The rules."""
