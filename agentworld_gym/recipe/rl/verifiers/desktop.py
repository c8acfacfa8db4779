"""Desktop: the table of the accessibility tree, seven columns a row, every element with a place and a size."""

from __future__ import annotations

import re

from agentworld_gym.recipe.rl.verifiers.truth import Truth
from agentworld_gym.screens import read_screen

ERROR = re.compile(r"(?m)^(?:Traceback |\w*Error: )")
WIDTH, HEIGHT = 1920, 1080


def checks(truth: Truth, prediction: str) -> dict[str, bool]:
    """The header is there, as many rows can be read as there should be, and no element has another tag."""
    rows, given = read_screen("desktop", truth.text), read_screen("desktop", prediction)
    if not rows:
        return {"screen": not given}
    return {
        "header": truth.text.split("\n", 1)[0] == prediction.split("\n", 1)[0],
        "rows": [node.role for node in rows] == [node.role for node in given],
        "places": all(
            node.box is not None and node.box.x <= WIDTH and node.box.y <= HEIGHT and node.box.width <= WIDTH
            for node in given
        ),
    }
