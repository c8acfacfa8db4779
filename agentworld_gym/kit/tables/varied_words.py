"""Varies the word lists of a scenario: coined names, other pairs of first and last names, other numbers."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import Field, model_validator

from agentworld_gym.base.documents.strict import Strict


class WordRecipe(Strict):
    """How a word list varies: its entries are written anew, or it is made of pairs of other words."""

    text: str | dict[str, str] | None = None
    """A template of each entry, or templates by key of entries that are mappings. `{coined}` is a name that no other
    entry has, `{coined_lower}` the same in lower case, `{whole}` what stood there, and `{last}` its last word."""
    scale: dict[str, float] = Field(default_factory=dict)
    """The keys of entries whose numbers vary, and by which share of themselves at most."""
    pairs: tuple[str, str] | None = None
    """Two common word lists; an entry is a word of the first and one of the second."""
    count: int = Field(default=0, ge=0)
    """The number of pairs."""

    @model_validator(mode="after")
    def _one_kind(self) -> WordRecipe:
        if (self.pairs is None) != (self.count == 0):
            raise ValueError("`pairs` and `count` together")
        if (self.pairs is None) == (self.text is None and not self.scale):
            raise ValueError("either pairs, or text or scale")
        return self


def _sounds(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ONSETS = _sounds("b bl br c d dr f fl g gl h j k l m n p pr qu r s st t tr v w z")
VOWELS = _sounds("a e i o u ai ea io ou")
CODAS = _sounds("b ck ft l ld ll m n nd nt r rk rn s st th x")
"""What coined names are made of: two syllables and an end."""

_NAME = re.compile(r"\{(\w+)\}")


def coined_names(rng: random.Random) -> Iterator[str]:
    """Yield names that can be spoken and that nothing has, each once.

    >>> from itertools import islice
    >>> list(islice(coined_names(random.Random(5)), 3)) == list(islice(coined_names(random.Random(5)), 3))
    True
    """
    seen: set[str] = set()
    while True:
        name = "".join(rng.choice(sounds) for sounds in (ONSETS, VOWELS, ONSETS, VOWELS, CODAS)).capitalize()
        # No name is the beginning of another, so that a search for one does not find the other.
        if not any(name.startswith(other) or other.startswith(name) for other in seen):
            seen.add(name)
            yield name


def varied_words(
    words: Sequence[Any],
    recipe: WordRecipe,
    common: Mapping[str, Sequence[Any]],
    names: Iterator[str],
    rng: random.Random,
) -> list[Any]:
    """Return the entries of a word list as they are in one world, in another order.

    Args:
        words: The entries.
        recipe: How they vary.
        common: The word lists that pairs are made of.
        names: The coined names, of which each entry takes one.
        rng: The random numbers.
    """
    if recipe.pairs is not None:
        first, last = (list(common[name]) for name in recipe.pairs)
        rng.shuffle(last)
        pairs = {f"{rng.choice(first)} {last[place % len(last)]}": None for place in range(recipe.count)}
        return list(pairs)
    entries = [_varied(entry, recipe, next(names), rng) for entry in words]
    rng.shuffle(entries)
    return entries


def _varied(entry: Any, recipe: WordRecipe, coined: str, rng: random.Random) -> Any:
    if not isinstance(entry, Mapping):
        assert isinstance(recipe.text, str)
        return _fill_template(recipe.text, str(entry), coined)
    varied = dict(entry)
    if isinstance(recipe.text, dict):
        varied |= {key: _fill_template(text, str(entry[key]), coined) for key, text in recipe.text.items()}
    for key, share in recipe.scale.items():
        number = entry[key] * rng.uniform(1 - share, 1 + share)
        varied[key] = round(number / 100) * 100 if isinstance(entry[key], int) else round(number, 2)
    return varied


def _fill_template(template: str, whole: str, coined: str) -> str:
    parts = {"coined": coined, "coined_lower": coined.lower(), "whole": whole, "last": whole.split()[-1]}
    return _NAME.sub(lambda match: parts.get(match[1], match[0]), template)


def all_varied(
    words: Mapping[str, Sequence[Any]],
    recipes: Mapping[str, WordRecipe],
    common: Mapping[str, Sequence[Any]],
    rng: random.Random,
) -> dict[str, list[Any]]:
    """Return the word lists that recipes vary, as they are in one world.

    Args:
        words: The lists of the scenario.
        recipes: How lists vary, by their names.
        common: The lists that every scenario has.
        rng: The random numbers.
    """
    names = coined_names(rng)
    return {
        name: varied_words(words.get(name, common.get(name, ())), recipe, common, names, rng)
        for name, recipe in recipes.items()
    }
