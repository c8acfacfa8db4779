"""Sessions whose names are made up."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.core.contracts import Message
from agentworld_gym.llm.rows.samples import Sample
from agentworld_gym.recipe.data.renaming import MadeUpWords, content_words, renamed

NAMES = sorted(content_words())


def session(*texts: str, id: str = "a") -> Sample:
    """A session of a system message and answers."""
    roles = ("system", *("assistant" for _ in texts[1:]))
    messages = tuple(Message(role=role, content=text) for role, text in zip(roles, texts, strict=True))
    return Sample(id=id, domain="web", messages=messages, weights=(1.0,) * (len(texts) - 1))


def contents(sample: Sample) -> list[str]:
    return [message["content"] for message in sample.messages]


def other_word(*texts: str) -> list[str]:
    """The texts of the first of some sessions in which `milo` is replaced."""
    tries = (contents(renamed(session(*texts, id=str(number)), 1.0)) for number in range(50))
    return next(changed for changed in tries if "milo" not in changed[0])


def test_a_name_is_the_same_made_up_word_wherever_it_stands() -> None:
    system, answer = other_word("username: milo", 'data/users/milo/name = "Milo"\nMILO_milo-1149@mail')
    new = system.removeprefix("username: ")
    assert answer == f'data/users/{new}/name = "{new.capitalize()}"\n{new.upper()}_{new}-1149@mail'


def test_the_letter_of_an_escape_belongs_to_no_word() -> None:
    system, answer = other_word("milo", '{"text": "Dear all,\\nmilo\\tMilo"}')
    assert answer == f'{{"text": "Dear all,\\n{system}\\t{system.capitalize()}"}}'


def test_a_word_that_is_cut_off_is_the_beginning_of_the_new_one() -> None:
    system, answer = other_word("milo", "To Mil…")
    assert answer == f"To {system[:3].capitalize()}…"


def test_a_made_up_word_keeps_first_letter_and_length_and_no_list_holds_it() -> None:
    words = MadeUpWords(NAMES)
    for name in NAMES:
        made = words.like(name, random.Random(name))
        assert (made[0], len(made)) == (name[0], len(name))
        assert made not in NAMES


def test_two_names_never_become_one() -> None:
    text = " ".join(NAMES)
    [changed] = contents(renamed(session(text), 1.0))
    assert len(set(changed.split())) == len(NAMES)
    share = sum(old != new for old, new in zip(text.split(), changed.split(), strict=True)) / len(NAMES)
    assert 0.6 < share < 0.9  # some known words stay beside the made-up ones


@pytest.mark.parametrize(("share", "low", "high"), [(0.0, 0, 0), (0.5, 60, 140), (1.0, 170, 200)])
def test_so_many_sessions_are_changed(share: float, low: int, high: int) -> None:
    sessions = [session("milo okafor and petra", id=str(number)) for number in range(200)]
    assert low <= sum(renamed(each, share) != each for each in sessions) <= high


def test_the_same_session_is_changed_in_the_same_way() -> None:
    assert renamed(session("milo okafor"), 1.0) == renamed(session("milo okafor"), 1.0)


LABELS = st.sampled_from(["button", "window", '"focus"', "hotkey", "+..", "2026-03-01T10:00:00Z", "\n", "= "])


@given(st.lists(LABELS | st.sampled_from(NAMES) | st.text(max_size=5), max_size=20), st.integers(0, 99))
def test_all_but_the_names_stays_as_it_is(pieces: list[str], number: int) -> None:
    text = " ".join(pieces)
    [changed] = contents(renamed(session(text or " ", id=str(number)), 1.0))
    between = re.compile(r"[^\W\d_]+")
    assert between.sub("", changed) == between.sub("", text or " ")
    for old, new in zip(between.findall(text), between.findall(changed), strict=True):
        assert old == new or old.lower() in content_words() or changed.count("…")
