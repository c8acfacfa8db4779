"""How similar two worlds are, by the words of their names, tables and tools; no model is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from agentworld_gym.domains.mcp.synth.draft import Brief

ALIKE = 0.6
"""From which similarity on two worlds are too alike. The five scenarios of this package are at most 0.06 alike."""

ALIKE_BRIEFS = 85.0
"""From which similarity of titles or names on, from 0 to 100, two briefs are too alike."""

_NAME, _TABLES, _TOOLS = 0.2, 0.4, 0.4
"""The weights of the three parts."""


@dataclass(frozen=True)
class Profile:
    """What a world is compared by."""

    name: str
    """The name of the world."""

    title: str
    """Its title."""

    tables: frozenset[str]
    """The names of its tables."""

    tools: frozenset[str]
    """The names of its tools."""

    grown_from: str | None = None
    """The scenario that it grew from, if it did."""

    drawn: frozenset[str] = frozenset()
    """What the seed of a grown world decided: its words and the values of its policies, each as a text."""

    @classmethod
    def of(cls, name: str, title: str, tables: Iterable[str], tools: Iterable[str]) -> Profile:
        """Return the profile of a world; plurals of tables count as singulars, and so do those in tools."""
        return cls(name, title, frozenset(map(_stem, tables)), frozenset(map(_stem, tools)))


def similarity(one: Profile, other: Profile) -> float:
    """Return how similar two worlds are, from 0 to 1.

    It is a weighted mean of the similarity of the titles (0.2), and of the shares of tables (0.4) and of tools (0.4)
    that both have among those that one of them has. Worlds that grew from one scenario share all of these: of them only
    what their seeds decided is compared.

    >>> shop = Profile.of("shop", "Online shop", ["orders", "products"], ["get_order", "list_orders"])
    >>> store = Profile.of("store", "Web store", ["order", "product"], ["get_order", "list_order"])
    >>> bank = Profile.of("bank", "Retail bank", ["accounts", "cards"], ["get_account", "list_cards"])
    >>> similarity(shop, store) > 0.6 > 0.1 > similarity(shop, bank)
    True
    """
    if one.grown_from is not None and one.grown_from == other.grown_from:
        return _jaccard(one.drawn, other.drawn)
    words = fuzz.token_sort_ratio(one.title.lower(), other.title.lower()) / 100
    titles = max(0.0, 2 * words - 1)  # Any two titles share half of their letters.
    return _NAME * titles + _TABLES * _jaccard(one.tables, other.tables) + _TOOLS * _jaccard(one.tools, other.tools)


def nearest(profile: Profile, others: Sequence[Profile]) -> tuple[float, Profile | None]:
    """Return the similarity to the most similar of some worlds, and that world."""
    return max(((similarity(profile, other), other) for other in others), key=lambda pair: pair[0], default=(0.0, None))


def alike_brief(brief: Brief, others: Iterable[Brief]) -> Brief | None:
    """Return the first of some briefs that one is too much like; None where there is none.

    >>> clinic = Brief(name="vet_clinic", title="Veterinary clinic", description="Appointments of a small clinic.")
    >>> other = Brief(name="clinic_vet", title="Clinic, veterinary", description="A clinic for animals in a town.")
    >>> alike_brief(clinic, [other]) is other
    True
    """
    return next((other for other in others if _same_words(brief, other)), None)


def _same_words(one: Brief, other: Brief) -> bool:
    pairs = ((one.name.replace("_", " "), other.name.replace("_", " ")), (one.title.lower(), other.title.lower()))
    return any(fuzz.token_sort_ratio(first, second) >= ALIKE_BRIEFS for first, second in pairs)


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one or other else 0.0


def _stem(name: str) -> str:
    """Return a name whose words stand in the singular.

    >>> _stem("list_categories"), _stem("addresses"), _stem("orders")
    ('list_category', 'address', 'order')
    """
    return "_".join(map(_singular, name.lower().split("_")))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "ches", "shes", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3 else word
