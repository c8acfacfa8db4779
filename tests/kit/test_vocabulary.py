"""The words of generated tasks: each split has its own, so that a test holds names that no training task held."""

from __future__ import annotations

import json
import re
from itertools import combinations

import pytest

from agentworld_gym.base.documents.strict import read_yaml
from agentworld_gym.core.domain.task import Split, split_seed
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.domains.desktop.tasks import vocabulary as desktop
from agentworld_gym.domains.mcp.tasks.scene import service_of
from agentworld_gym.domains.search.engine.theme import load_theme, theme_names
from agentworld_gym.domains.search.tasks.questions import world_of_split
from agentworld_gym.domains.swe.tasks.repository import templates
from agentworld_gym.kit.tables.word_lists import held_out_words
from agentworld_gym.kit.vocabulary import FOLDERS, KEYS, NAMES, STEMS, WORDS, WordPool, common_pool

SPLITS: tuple[Split, ...] = ("train", "validation", "test")
POOLS = {
    **{f"terminal {place}": pool for place, pool in enumerate((WORDS, NAMES, STEMS, FOLDERS, KEYS))},
    **{f"desktop {name}": pool for name, pool in vars(desktop).items() if isinstance(pool, WordPool)},
    **{f"common {kind}": common_pool(kind) for kind in held_out_words()["test"]},
}


@pytest.mark.parametrize("name", POOLS)
def test_no_entry_stands_in_two_splits(name: str) -> None:
    pools = [{entry.lower() for entry in POOLS[name].of(split)} for split in SPLITS]
    assert all(pools)
    assert not [one & other for one, other in combinations(pools, 2) if one & other]


@pytest.mark.parametrize("split", ["validation", "test"])
def test_content_words_are_never_parts_of_other_words_of_the_split(split: Split) -> None:
    everything = {word for pool in (WORDS, NAMES, STEMS, FOLDERS, KEYS) for word in pool.of(split)}
    everything |= {"mode", "open", "closed", "keep", "drop", "copy", "script"}
    for word in (*WORDS.of(split), *NAMES.of(split), *KEYS.of(split)):
        assert not [other for other in everything if word in other and word != other]


@pytest.mark.parametrize("family", sorted(families("terminal")))
def test_a_test_task_of_the_terminal_holds_no_content_word_of_training(family: str) -> None:
    task = generate("terminal", family, 3, split_seed("test", 1))
    words = set(re.findall(r"[a-z]+", json.dumps([task.state["files"], task.expert])))
    assert not words & set(WORDS)
    assert words & {*WORDS.of("test"), *NAMES.of("test")}


@pytest.mark.parametrize("scenario", ["bank", "hr", "office", "shop", "tracker"])
def test_the_rows_of_a_tool_server_bear_other_names_in_each_split(scenario: str) -> None:
    kind = {"bank": "merchants", "hr": "titles", "office": "partners", "shop": "goods", "tracker": "parts"}[scenario]
    lists = [set(map(str, service_of(scenario, split).scenario.words[kind])) for split in SPLITS]
    assert not [one & other for one, other in combinations(lists, 2) if one & other]


@pytest.mark.parametrize("theme", theme_names())
def test_the_webs_of_a_search_bear_other_names_in_each_split(theme: str) -> None:
    editions = [world_of_split(theme, split, 0).recipe.words for split in SPLITS]
    named = [kind for kind in editions[0] if editions[0][kind] != editions[2][kind]]
    assert {"given", "family"} <= set(named) and len(named) >= 4
    for kind in named:
        lists = [{str(entry).lower() for entry in words[kind]} for words in editions]
        assert not [one & other for one, other in combinations(lists, 2) if one & other]
        assert len({len(words[kind]) for words in editions}) == 1


def test_what_a_training_search_is_made_of_has_not_changed() -> None:
    task = generate("search", "lookup", 1, split_seed("train", 1))
    assert task.state["theme"] in theme_names()
    theme = load_theme(task.state["theme"])
    written = read_yaml(theme.path / "theme.yaml")["words"]
    assert theme.words == {kind: tuple(entries) for kind, entries in written.items()}


@pytest.mark.parametrize("name", sorted(templates()))
def test_the_packages_of_repositories_are_others_in_each_split(name: str) -> None:
    packages = [set(templates()[name].parameters(split)["package"]) for split in SPLITS]
    assert not [one & other for one, other in combinations(packages, 2) if one & other]
