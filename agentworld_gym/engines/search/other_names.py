"""The names of things in another edition of a theme: people, places and ships of a web that bear coined names.

What a thing is called differs, and what it is does not: kinds, colours, crops and other common words stay.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from agentworld_gym.engines.tables.varied_words import WordRecipe, all_varied

_PLACES = ("onset", "place", "dale", "region")
_PEOPLE = ("given", "family", "founder_word", "bell_second")
_FIRMS = ("nursery_word", "line_word", "yard_word", "guild_word", "operator_word", "stadium_word", "show_word")
_THINGS = ("fruit_first", "fruit_second", "ship_first", "ship_second", "hull_first", "hull_second", "code_second")
_RECIPES = {
    **{name: WordRecipe(text="{coined}") for name in (*_PLACES, *_PEOPLE, *_FIRMS, *_THINGS)},
    "maker": WordRecipe(text="{coined} {last}"),
}
"""How the word lists that hold names are written anew, by what the themes call them."""


def other_names(words: Mapping[str, Sequence[str | int | float]], edition: str) -> dict[str, tuple[str, ...]]:
    """Return the word lists of a theme that hold names, with the names of another edition.

    Args:
        words: The word lists of the theme.
        edition: The text from which names are coined; another one gives others.

    >>> words = {"given": ("Oda", "Livia"), "soil": ("chalk", "clay")}
    >>> sorted(other_names(words, "apples+test")), len(other_names(words, "apples+test")["given"])
    (['given'], 2)
    """
    recipes = {name: recipe for name, recipe in _RECIPES.items() if name in words}
    varied = all_varied(words, recipes, {}, random.Random(edition))
    return {name: tuple(entries) for name, entries in varied.items()}
