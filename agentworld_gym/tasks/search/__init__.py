"""The families of search tasks.

The questions themselves stand in the themes (`domain_specs/scenarios/search/`); a level adds how far the thing that is
asked about lies from the one that is named. All but `bridge` name it at level 1.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from types import MappingProxyType

from agentworld_gym.domain.task import Split
from agentworld_gym.tasks.family import Draft, Family
from agentworld_gym.tasks.search.question_tasks import draft


def _family(questions: str, nearest: int = 0) -> Family:
    def family(rng: random.Random, level: int, split: Split) -> Draft:
        return draft(rng, level, split, questions, level - 1 + nearest)

    return family


FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "lookup": _family("lookup"),
        "bridge": _family("lookup", nearest=1),
        "aggregate": _family("aggregate"),
        "comparison": _family("comparison"),
        "superlative": _family("superlative"),
        "intersection": _family("intersection"),
        "listing": _family("listing"),
        "wide_table": _family("wide_table"),
        "dates": _family("dates"),
        "share": _family("share"),
    }
)
"""Name → family: one value; one value behind others; a sum or count; two things side by side; the most or least of
some; the one thing of which two things hold; a list; a table; a span of time; a part of a whole."""
