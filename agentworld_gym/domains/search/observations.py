"""How hits and pages are compared."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from agentworld_gym.core.screens.observations import Observations

_HIT = re.compile(r"(?m)^\[(\d{1,4})\] \S+$")


class SearchObservations(Observations):
    """Hits, which count from 1, and pages, in which letter case means nothing."""

    def normalised(self, text: str) -> str:
        """Return the text without what means nothing, in lower case."""
        return super().normalised(text).casefold()

    def has_form(self, predicted: str, truth: str, before: str) -> bool:
        """Whether hits stand where hits are due, and count up from 1.

        >>> has_form = SearchObservations().has_form
        >>> has_form("[1] a\\n[2] b", "[1] c", ""), has_form("[3] a", "[1] c", "")
        (True, False)
        """
        hits = _hits(predicted)
        in_order = all(number in (last + 1, 1) for last, number in zip([0, *hits], hits, strict=False))
        return in_order and bool(hits) == bool(_hits(truth))


def _hits(text: str) -> list[int]:
    return [int(number) for number in _HIT.findall(text)]


def asks(action: Any, tools: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a call only looks at pages or at notes.

    >>> asks({"name": "web_extractor"}, ()), asks({"name": "dict_memory", "arguments": {"operation": "add"}}, ())
    (True, False)
    """
    if not isinstance(action, Mapping):
        return False
    arguments = action.get("arguments")
    operation = arguments.get("operation") if isinstance(arguments, Mapping) else None
    return action.get("name") in ("web_search", "web_extractor") or operation in ("retrieve", "retrieve_all")
