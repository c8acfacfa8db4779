"""What explorers met of a system: which actions they took, which pages they saw, and what kinds of answers came."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.core.actions.naming import verb

NAMED = 12
"""How many actions, tools and pages are told by name."""

HEAD = 400
"""How far into an answer the address of its page may stand."""

_ADDRESS = re.compile(r"https?://[^\s\"'<>)\]}]+")


class Coverage(Strict):
    """What explorers met."""

    actions: dict[str, int]
    """How many times each kind of action was taken: its tool, its type or its first word."""

    tools: int
    """How many tools there are; 0 where the domain has none."""

    unmet: tuple[str, ...]
    """The tools that nobody called."""

    refused: tuple[str, ...]
    """The tools that answered every call by an error, so that nobody knows what they do."""

    pages: dict[str, int]
    """How many times each page was shown, by its address without what follows `?` and `#`."""

    screens: int
    """How many different answers there were."""

    kinds: dict[str, int]
    """The kinds of answers, and how many of each were met."""

    @property
    def called(self) -> int:
        """How many of the tools were called."""
        return self.tools - len(self.unmet)


def coverage_of(actions: Sequence[str], shown: Sequence[str], tools: Iterable[str]) -> Coverage:
    """Return what some actions and their answers cover; an action that a failure followed has no answer.

    >>> met = coverage_of(["look", "go east", "go west"], ["A hall.", "A room.", "A hall."], [])
    >>> met.actions, met.screens, met.kinds
    ({'go': 2, 'look': 1}, 2, {'text': 3})
    >>> coverage_of(['{"name": "sell", "arguments": {}}'], ["Error: no"], ["sell"]).refused
    ('sell',)
    """
    taken = Counter(map(verb, actions))
    names = list(dict.fromkeys(tools))
    answered = {verb(action) for action, text in zip(actions, shown, strict=True) if kind_of(text) != "error"}
    addresses = (_ADDRESS.search(text[:HEAD]) for text in shown)
    return Coverage(
        actions=dict(taken.most_common()),
        tools=len(names),
        unmet=tuple(name for name in names if name not in taken),
        refused=tuple(name for name in names if name in taken and name not in answered),
        pages=dict(Counter(re.split(r"[?#]", found[0])[0] for found in addresses if found).most_common()),
        screens=len(set(shown)),
        kinds=dict(Counter(map(kind_of, shown)).most_common()),
    )


def kind_of(text: str) -> str:
    """Return what an answer is: JSON, an error, nothing, or another text.

    >>> kind_of(" "), kind_of("Error: no such file"), kind_of('{"a": 1}'), kind_of("A hall.")
    ('empty', 'error', 'JSON', 'text')
    """
    if not text.strip():
        return "empty"
    if "error" in text[:60].lower():
        return "error"
    try:
        json.loads(text)
        return "JSON"
    except (ValueError, RecursionError):
        return "text"


def lines_of(met: Coverage) -> Iterator[tuple[str, str]]:
    """Yield the lines of a report that tell what was met."""
    some = [f"{met.called} of {met.tools} tools"] if met.tools else []
    some.append(f"{met.screens} different answers")
    yield "covered", "; ".join([*some, ", ".join(f"{count} {kind}" for kind, count in met.kinds.items())])
    yield "actions", _named(met.actions) or "none"
    if met.unmet:
        rest = f" and {len(met.unmet) - NAMED} others" if len(met.unmet) > NAMED else ""
        yield "not called", ", ".join(met.unmet[:NAMED]) + rest
    if met.refused:
        yield "refused", f"every call of {', '.join(met.refused[:NAMED])}: what they do was not tested"
    if met.pages:
        yield "pages", f"{len(met.pages)}: {_named(met.pages)}"


def _named(counts: dict[str, int]) -> str:
    told = [f"{name} {count}" for name, count in list(counts.items())[:NAMED]]
    rest = f" and {len(counts) - NAMED} others" if len(counts) > NAMED else ""
    return ", ".join(told) + rest
