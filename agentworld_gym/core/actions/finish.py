"""The agent's verb for "done": `finish`, or `finish: ANSWER`, in every domain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

VERB = "finish"

FINISH_TOOL: Mapping[str, Any] = {
    "name": VERB,
    "description": "Ends the episode, once the task is done.",
    "parameters": {
        "type": "object",
        "properties": {"answer": {"type": "string", "description": "The answer, where the task asks for one."}},
        "additionalProperties": False,
    },
}
"""The verb as a tool, for agents that call tools. A tolerant reader takes its call for the verb."""


@dataclass(frozen=True, slots=True)
class Finish:
    """The end of an episode as its agent declares it; `answer` is what follows the colon, None where there is none."""

    answer: str | None = None


def read_finish(text: str) -> Finish | None:
    """Read an action that ends the episode; None for any other action.

    >>> read_finish("finish"), read_finish(" finish : 42"), read_finish("finish_report.sh")
    (Finish(answer=None), Finish(answer='42'), None)
    """
    stripped = text.strip()
    if not stripped.startswith(VERB):
        return None
    rest = stripped.removeprefix(VERB).lstrip()
    if not rest:
        return Finish()
    return Finish(rest[1:].strip()) if rest.startswith(":") else None


def finishes(text: str) -> bool:
    """Whether an action ends the episode.

    >>> finishes("finish: 42"), finishes("finish_report.sh")
    (True, False)
    """
    return read_finish(text) is not None
