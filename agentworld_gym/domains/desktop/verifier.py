"""The rules of Desktop: the table of the accessibility tree, with seven columns, and a place and a size for each
element.
"""

from __future__ import annotations

import re

from agentworld_gym.core.screens import read_screen
from agentworld_gym.recipe.rl.verifiers.truth import RuleVerifier, Truth

_ERROR = re.compile(r"(?m)^(?:Traceback |\w*Error: )")
WIDTH, HEIGHT = 1920, 1080


def checks(truth: Truth, prediction: str) -> dict[str, bool]:
    """Check that the header, the number of rows and their tags are those of the truth, and that places lie on the
    screen.
    """
    rows, predicted = read_screen("desktop", truth.text), read_screen("desktop", prediction)
    if not rows:
        return {"screen": not predicted}
    return {
        "header": truth.text.split("\n", 1)[0] == prediction.split("\n", 1)[0],
        "rows": [node.role for node in rows] == [node.role for node in predicted],
        "places": all(
            node.box is not None and node.box.x <= WIDTH and node.box.y <= HEIGHT and node.box.width <= WIDTH
            for node in predicted
        ),
    }


VERIFIER = RuleVerifier(_ERROR, checks)
"""The rules."""
