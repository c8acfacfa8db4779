"""Draws what differs between grown worlds: values of policies, coined names, and numbers."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentworld_gym.synth.grow.growth import PolicyRecipe, WordRecipe


def _sounds(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ONSETS = _sounds("b bl br c d dr f fl g gl h j k l m n p pr qu r s st t tr v w z")
VOWELS = _sounds("a e i o u ai ea io ou")
CODAS = _sounds("b ck ft l ld ll m n nd nt r rk rn s st th x")
"""What coined names are made of: two syllables and an end."""

_NAME = re.compile(r"\{(\w+)\}")


def drawn_policies(recipes: Mapping[str, PolicyRecipe], rng: random.Random) -> dict[str, str | int | float]:
    """Draw the values of policies.

    >>> recipes = {"days": PolicyRecipe(integer=(7, 7)), "gold_days": PolicyRecipe(integer=(3, 3), plus="days")}
    >>> drawn_policies(recipes, random.Random(0))
    {'days': 7, 'gold_days': 10}
    """
    values: dict[str, str | int | float] = {}
    for name, recipe in recipes.items():
        if recipe.choice is not None:
            values[name] = rng.choice(recipe.choice)
        else:
            assert recipe.integer is not None
            base = values[recipe.plus] if recipe.plus is not None else 0
            assert isinstance(base, int)
            values[name] = base + rng.randint(*recipe.integer)
    return values


def with_policies(data: Any, policies: Mapping[str, Any]) -> Any:
    """Replace `{policy}` in all texts of some data; other names in braces stay.

    >>> with_policies(["{days} days for order {order_id}"], {"days": 7})
    ['7 days for order {order_id}']
    """
    if isinstance(data, str):
        return _NAME.sub(lambda match: str(policies.get(match[1], match[0])), data)
    if isinstance(data, Mapping):
        return {key: with_policies(value, policies) for key, value in data.items()}
    return [with_policies(value, policies) for value in data] if isinstance(data, list | tuple) else data


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
        return _written(recipe.text, str(entry), coined)
    varied = dict(entry)
    if isinstance(recipe.text, dict):
        varied |= {key: _written(text, str(entry[key]), coined) for key, text in recipe.text.items()}
    for key, share in recipe.scale.items():
        number = entry[key] * rng.uniform(1 - share, 1 + share)
        varied[key] = round(number / 100) * 100 if isinstance(entry[key], int) else round(number, 2)
    return varied


def _written(template: str, whole: str, coined: str) -> str:
    parts = {"coined": coined, "coined_lower": coined.lower(), "whole": whole, "last": whole.split()[-1]}
    return str(with_policies(template, parts))
