"""The rules of Search: numbered hits with addresses, titles, snippets and dates; pages; the sentences of the memory."""

from __future__ import annotations

import re

from agentworld_gym.recipe.rl.verifiers.truth import RuleVerifier, Truth

_ERROR = re.compile(r"^(?:Error\b|Key not found$)", re.MULTILINE)
YEARS = 30
"""The most years between a date and the true one in its place."""

_HIT = re.compile(r"(?m)^\[(?P<number>\d{1,4})\] (?P<address>\S+)\nTitle: (?P<title>.*)$")
_DATE = re.compile(r"(?m)^Date: [A-Z][a-z]{2} \d{1,2}, (\d{4})$")


def checks(truth: Truth, prediction: str) -> dict[str, bool]:
    """Check that hits are as many and numbered alike, that known pages keep their titles, and that dates lie near the
    true ones.
    """
    true, predicted = list(_HIT.finditer(truth.text)), list(_HIT.finditer(prediction))
    if not true:
        return {"hits": not predicted}
    titles = {hit["address"]: hit["title"] for text in (*truth.shown, truth.text) for hit in _HIT.finditer(text)}
    years, dated = _years(truth.text), _years(prediction)
    return {
        "hits": [hit["number"] for hit in true] == [hit["number"] for hit in predicted],
        "titles": all(titles.get(hit["address"], hit["title"]) == hit["title"] for hit in predicted),
        "dates": len(years) == len(dated)
        and all(abs(one - other) <= YEARS for one, other in zip(years, dated, strict=True)),
    }


def _years(text: str) -> list[int]:
    return [int(date[1]) for date in _DATE.finditer(text)]


VERIFIER = RuleVerifier(_ERROR, checks)
"""The rules."""
