"""A history of turns, and the screen on which the next action is done."""

from __future__ import annotations

import pytest

from agentworld_gym.core.screens.history import ScreenHistory

CART = '### Snapshot\n- link "Cart" [ref=e4]'
SHOP = '### Snapshot\n- link "Shop" [ref=e9]'
ERROR = "### Error\nThere is no such element."


def web(*observations: str) -> ScreenHistory[str]:
    history = ScreenHistory[str]("web", observations[0])
    for number, observation in enumerate(observations[1:], 1):
        history.append(f"click('e{number}')", observation)
    return history


def test_before_the_first_turn_all_is_the_first_observation() -> None:
    history = web(CART)
    assert history.observation == history.screen == history.screen_before == CART
    assert (history.turns, history.next_turn) == ([], 1)


def test_a_turn_moves_the_screen_on() -> None:
    history = web(CART, SHOP)
    assert history.turns == [("click('e1')", SHOP)]
    assert (history.screen_before, history.screen, history.observation) == (CART, SHOP, SHOP)
    assert history.next_turn == 2


def test_an_error_leaves_the_screen_as_it_is() -> None:
    history = web(CART, SHOP, ERROR)
    assert (history.screen_before, history.screen, history.observation) == (SHOP, SHOP, ERROR)


def test_elsewhere_every_observation_is_the_screen() -> None:
    history = ScreenHistory[str]("terminal", "")
    history.append("cat no.txt", ERROR)
    assert (history.screen_before, history.screen) == ("", ERROR)


def test_a_correction_replaces_the_last_observation_alone() -> None:
    history = web(CART, SHOP, SHOP)
    history.correct(CART)
    assert history.turns == [("click('e1')", SHOP), ("click('e2')", CART)]
    assert (history.screen_before, history.screen) == (SHOP, CART)
    history.correct(ERROR)
    assert (history.screen_before, history.screen) == (SHOP, SHOP), "the screen is that of the turn before"


def test_without_a_turn_there_is_nothing_to_correct() -> None:
    with pytest.raises(IndexError):
        web(CART).correct(SHOP)


def test_a_fork_goes_its_own_way() -> None:
    history = web(CART, SHOP)
    fork = history.fork()
    assert fork == history
    fork.append("go_back()", CART)
    assert (history.next_turn, history.screen) == (2, SHOP)
    assert (fork.next_turn, fork.screen_before, fork.screen) == (3, SHOP, CART)
