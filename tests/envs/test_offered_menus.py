"""Menus of worlds that tell which actions can be done."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import FREE_PLAY, Task
from agentworld_gym.envs.menu import Menu
from agentworld_gym.envs.text_encoder import TextEncoder

ENCODER = TextEncoder(max_menu=4)
OFFERS = st.lists(st.sampled_from(["look", "go east", "go west", "take lamp", "drop lamp"]), min_size=1, max_size=4)


def menu_of(offered: list[str], *fixed: str) -> Menu:
    """Return the menu of an episode that begins with some offers."""
    task = Task(id="t", domain="terminal", instruction="Take the lamp.", family=FREE_PLAY, success=(), menu=fixed)
    return Menu(ENCODER, load_spec("terminal"), task, "A hall.", offered)


def offers_of(menu: Menu) -> list[str | None]:
    """Return what each choice does, as far as it is on offer."""
    return list(menu.offers)


def test_entries_of_the_task_keep_their_places_and_others_stand_behind_them() -> None:
    menu = menu_of(["look", "go west"], "go east", "go west")
    assert offers_of(menu) == [None, "go west", "look"]
    assert menu.masks().tolist() == [False, True, True, False]
    menu.observe(2, "A cellar.", ["go east", "take lamp"])
    assert offers_of(menu) == ["go east", None, None, "take lamp"]


def test_a_new_action_takes_the_place_that_was_not_on_offer_longest() -> None:
    menu = menu_of(["a", "b", "c", "d"])
    menu.observe(0, "", ["a", "b", "c"])
    menu.observe(0, "", ["a", "b"])
    menu.observe(0, "", ["a", "b", "e"])
    assert offers_of(menu) == ["a", "b", None, "e"]


def test_where_all_places_are_taken_by_what_can_be_done_the_rest_is_left_out() -> None:
    menu = menu_of(["a", "b", "c", "d"])
    menu.observe(0, "", ["a", "b", "c", "d", "e"])
    assert offers_of(menu) == ["a", "b", "c", "d"]


def test_nothing_to_do_leaves_finish() -> None:
    menu = menu_of(["look"])
    menu.observe(0, "The end.", [])
    assert menu.action(0) == "finish" and menu.masks().tolist() == [True, False, False, False]


def test_a_place_that_was_taken_over_is_described_as_if_it_had_been_there() -> None:
    menu, fresh = menu_of(["look", "go east"]), menu_of(["look", "take lamp"])
    menu.encoder.place(menu.memory, 1, "take lamp")
    np.testing.assert_array_equal(menu.vector()[ENCODER.context_size :], fresh.vector()[ENCODER.context_size :])


@given(st.lists(OFFERS, min_size=1, max_size=6))
def test_every_choice_on_offer_is_an_action_that_can_be_done(turns: list[list[str]]) -> None:
    menu = menu_of(turns[0], "go east")
    for offered in turns[1:]:
        menu.observe(int(np.flatnonzero(menu.masks())[0]), "A hall.", offered)
        shown = [action for action in offers_of(menu) if action is not None]
        assert set(shown) <= set(offered) and len(shown) == len(set(shown)) and shown
        assert menu.vector().shape == (ENCODER.size,) and len(menu.actions) <= ENCODER.max_menu
