"""The rules of Web: the sections of an answer, the page it stands on, and a snapshot whose references name one node
each.
"""

from __future__ import annotations

import re

from agentworld_gym.core.screens import read_screen
from agentworld_gym.domains.web.screen_texts import location
from agentworld_gym.recipe.rl.verifiers.truth import RuleVerifier, Truth

_ERROR = re.compile(r"(?m)^### (?:Error|Result\n(?:Error|Ref ))|^Error:|^TimeoutError|net::ERR_")
_SECTION = re.compile(r"(?m)^### (.*)$")


def checks(truth: Truth, prediction: str) -> dict[str, bool]:
    """Check that sections, page and number of nodes are those of the truth, and that no reference stands twice."""
    nodes, predicted = read_screen("web", truth.text), read_screen("web", prediction)
    checks = {
        "sections": _SECTION.findall(truth.text) == _SECTION.findall(prediction),
        "page": location(truth.text) == location(prediction),
    }
    if nodes:
        handles = [node.handle for node in predicted if node.handle is not None]
        checks["references"] = len(handles) == len(set(handles))
        checks["nodes"] = len(nodes) == len(predicted)
    return checks


VERIFIER = RuleVerifier(_ERROR, checks)
"""The rules."""
