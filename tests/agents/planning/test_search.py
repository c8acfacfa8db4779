"""Searches, on a tree that is no world: words of the letters a and b, of which one is the solution."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.agents.planning.search import BeamSearch, BestOfN, Search, SearchNode, TreeSearch, Try
from agentworld_gym.base.errors import SpecError

SEARCHES = [BestOfN(n=6, depth=4), BeamSearch(width=3, depth=4), TreeSearch(simulations=40, depth=4)]


def node(word: str, solution: str) -> SearchNode:
    """A word is worth its share of right letters; it is over when it is as long as the solution."""
    value = sum(one == other for one, other in zip(word, solution, strict=False)) / len(solution)
    over = len(word) == len(solution)
    episode: Any = SimpleNamespace(observation=word, observations=[word[:end] for end in range(len(word) + 1)])
    return SearchNode(episode, () if over else ("a", "b"), value, over, tuple(word))


def searched(search: Search, solution: str, seed: int = 0, failing: str = "-") -> tuple[SearchNode, list[Try]]:
    """The state that a search returns, and what it tried; the world fails at the action `failing`."""
    root, tries = node("", solution), []
    run = search.run(root, random.Random(seed))
    wave = next(run)
    while True:
        tries += wave
        answers = [
            None if one.action == failing else node("".join(one.node.path) + one.action, solution) for one in wave
        ]
        try:
            wave = run.send(answers)
        except StopIteration as stop:
            return stop.value, tries


@given(st.text("ab", min_size=1, max_size=4), st.integers(0, 5))
def test_beam_and_tree_search_find_what_their_values_lead_to(solution: str, seed: int) -> None:
    for search in SEARCHES[1:]:
        best, _ = searched(search, solution, seed)
        assert "".join(best.path) == solution
        assert best.solved


def test_drawing_more_sequences_finds_more() -> None:
    few, many = (sum(searched(BestOfN(n=n, depth=4), "abba", seed)[0].solved for seed in range(40)) for n in (1, 16))
    assert few < 10 < 20 < many


@given(st.sampled_from(SEARCHES), st.text("ab", min_size=1, max_size=6), st.integers(0, 5))
def test_no_search_tries_more_than_it_says(search: Search, solution: str, seed: int) -> None:
    _, tries = searched(search, solution, seed)
    most = {"BestOfN": 6 * 4, "BeamSearch": 2 + 3 * 3 * 2, "TreeSearch": 40}[type(search).__name__]
    assert len(tries) <= most
    assert all(len(one.node.path) < 4 for one in tries)


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: search.name)
def test_equal_random_numbers_give_equal_searches(search: Search) -> None:
    one, other = (searched(search, "abab", seed=3) for _ in range(2))
    assert one[0].path == other[0].path
    assert [(tried.node.path, tried.action) for tried in one[1]] == [
        (tried.node.path, tried.action) for tried in other[1]
    ]


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: search.name)
def test_where_the_world_fails_the_rest_is_searched(search: Search) -> None:
    best, _ = searched(search, "aaa", failing="b")
    assert set(best.path) == {"a"}


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: search.name)
def test_where_the_world_always_fails_the_root_is_all_there_is(search: Search) -> None:
    root = node("", "a")
    run = search.run(root, random.Random(0))
    tries = next(run)
    with pytest.raises(StopIteration) as stopped:
        while True:
            tries = run.send([None] * len(tries))
    assert stopped.value.value is root


def test_an_episode_that_can_go_on_is_preferred_to_one_that_ended_unsolved() -> None:
    episode: Any = SimpleNamespace(observation="", observations=[""])
    ended, going = SearchNode(episode, (), 0.5, True, ("finish",)), SearchNode(episode, ("a",), 0.5, False, ("a", "a"))
    assert going.rank > ended.rank
    assert SearchNode(episode, (), 1.0, True, ("finish",)).rank > going.rank


@pytest.mark.parametrize(
    ("search", "key"),
    [
        (lambda: BestOfN(n=0), "n"),
        (lambda: BeamSearch(width=0), "width"),
        (lambda: BeamSearch(branch=-1), "branch"),
        (lambda: TreeSearch(simulations=0), "simulations"),
        (lambda: TreeSearch(exploration=-0.1), "exploration"),
    ],
)
def test_a_number_out_of_its_range_is_named(search: Any, key: str) -> None:
    with pytest.raises(SpecError, match=key):
        search()
