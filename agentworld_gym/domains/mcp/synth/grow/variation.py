"""Draws the values of the policies of grown worlds, and writes them into texts."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any

from agentworld_gym.domains.mcp.synth.grow.growth import PolicyRecipe

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
