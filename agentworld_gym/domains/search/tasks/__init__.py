"""The families of search tasks.

The questions stand in the themes (`domain_specs/scenarios/search/`). At level 1 a question names the thing that it asks
about, except in the family `bridge`; each further level describes the thing by one more thing.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from types import MappingProxyType

from agentworld_gym.core.domain.task import Split
from agentworld_gym.core.tasks.family import Family, TaskDraft
from agentworld_gym.domains.search.tasks.question_tasks import draft


def _family(questions: str, nearest: int = 0) -> Family:
    def family(rng: random.Random, level: int, split: Split) -> TaskDraft:
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
"""Name → family. In their order they ask for one value; one value that is found by way of another thing; a sum or
count; a comparison of two things; the most or least; the thing that meets two conditions; a list; a table; a span of
time; a part of a whole."""
