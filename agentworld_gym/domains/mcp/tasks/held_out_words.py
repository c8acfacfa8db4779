"""The words that the databases of tool tasks are made of in each split."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import lru_cache

from pydantic import ConfigDict

from agentworld_gym.base.documents.strict import Strict, read_yaml, validated
from agentworld_gym.core.domain.task import Split
from agentworld_gym.domains.mcp.engine.scenario import scenario_names
from agentworld_gym.domains.mcp.engine.service import Service, load_service
from agentworld_gym.kit.tables.varied_words import WordRecipe, all_varied
from agentworld_gym.kit.vocabulary import common_pool


class _Growth(Strict):
    model_config = ConfigDict(extra="ignore")

    words: dict[str, WordRecipe]


def service_of(scenario: str, split: Split) -> Service:
    """Return the service of a scenario, whose rows of a seed hold the words of a split.

    The scenarios of the package vary their lists by the recipes by which worlds grow from them, so that people, goods
    and firms of each split bear names of their own. A scenario from elsewhere has the same words in all splits.

    Raises:
        SpecError: there is no such scenario, or one of its files is wrong.

    >>> service_of("bank", "test").scenario.words["branches"] == service_of("bank", "train").scenario.words["branches"]
    False
    """
    return (
        load_service(scenario) if split == "train" or scenario not in scenario_names() else _held_out(scenario, split)
    )


@lru_cache(maxsize=16)
def _held_out(name: str, split: Split) -> Service:
    service = load_service(name)
    scenario = service.scenario
    file = scenario.folder / "growth.yaml"
    recipes = validated(_Growth, read_yaml(file), file).words
    common = {kind: common_pool(kind).of(split) for kind in ("people", "cities", "streets", "companies", "rooms")}
    names = [name.split() for name in common["people"]]
    pairs = {"first_names": sorted({first for first, _ in names}), "last_names": sorted({last for _, last in names})}
    varied = all_varied(scenario.words, recipes, {**scenario.words, **pairs}, random.Random(f"{name}/{split}"))
    words = {name: tuple(entries) for name, entries in {**scenario.words, **common, **varied}.items()}
    return replace(service, scenario=replace(scenario, words=words))
