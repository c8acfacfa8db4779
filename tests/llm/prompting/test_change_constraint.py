"""Constrained decoding in the state form: what can be read can be written, and nothing else."""

from __future__ import annotations

import random
from typing import Any

import pytest

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.core.contracts import PIECE
from agentworld_gym.core.domain.view import Choices, compact
from agentworld_gym.llm.prompting.change_constraint import ChangeConstraint
from agentworld_gym.llm.prompting.state_changes import applied, write_change
from agentworld_gym.llm.prompting.state_references import References

STATE: dict[str, Any] = {
    "tab": 0,
    "tabs": [{"pages": [{"url": "/a", "fields": {"name": "Al"}}]}],
    "cart": [{"id": "jana,108", "quantity": 1}, {"id": "zoë", "quantity": 2}],
    "note": "Milk",
    "size": 2_000_000,
    "price": 9.5,
}
PLACE = ("tabs", 0, "pages", 0)


def value(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.randrange(8 if depth < 3 else 4)
    if kind < 4:
        return rng.choice([None, True, 1.5, 0, 2_000_000, "", "a b", 'a "b" \\ \n', "~/0", "é" * 60])
    if kind == 4:
        return [{"id": number, "v": value(rng, depth + 1)} for number in rng.sample(range(6), rng.randrange(5))]
    if kind == 5:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(["a", "b/c", "d~ e", "ü"]): value(rng, depth + 1) for _ in range(rng.randrange(4))}


@pytest.mark.parametrize("seed", range(100))
def test_every_beginning_of_a_change_that_is_written_is_allowed(seed: int) -> None:
    rng = random.Random(seed)
    before, after = ({key: value(rng) for key in "xyz"} for _ in range(2))
    change = write_change(before, after, ("x",))
    allows = ChangeConstraint(before, ("x",))
    assert all(allows(change[:end]) for end in range(len(change)))
    assert allows(change, whole=True)


@pytest.mark.parametrize(
    ("begun", "is_allowed"),
    {
        "cart/jana": True,
        "cart/lotta": False,
        "cart/10": False,
        "cart/jana,108/quantity = 2\n-.fields": True,
        'note = "Eggs", "': False,
        'note = {"a": [1': True,
        'note = {"a" 1': False,
        "note = NaN": False,
        'note += " and': True,
        "tabs += ": False,
        "price += -2.5": True,
        "price += -": True,
        "price += 2": True,
        'price += "': False,
        "price += t": False,
        "size += -60": True,
        "size += 0.": False,
        "note += 3": False,
        ".fields/name := no": True,
        ".fields/name := nob": False,
        "+cart {": True,
        "+note ": False,
        "+.. {": True,
        "-cart/zo": True,
        "-cart/2": False,
        "-.focus": True,
        ">cart/z": True,
        ">cart/a": False,
        "note = 1 \n ": True,
        "hello there": False,
    }.items(),
)
def test_what_names_nothing_or_is_no_json_is_refused_where_it_begins_to_be_wrong(begun: str, is_allowed: bool) -> None:
    assert ChangeConstraint(STATE, PLACE)(begun) is is_allowed


def test_later_lines_are_held_against_the_state_that_the_earlier_ones_leave() -> None:
    allows = ChangeConstraint(STATE, PLACE)
    assert allows('+cart {"id":"lotta"}\ncart/lot')
    assert not allows("-cart/zoë\ncart/z")


def test_a_character_that_lacks_some_bytes_may_be_any_that_is_not_ascii() -> None:
    allows = ChangeConstraint(STATE, PLACE)
    assert allows("cart/zo" + PIECE)
    assert not allows("cart/z" + PIECE)
    assert not allows("cart/" + PIECE)


@pytest.mark.parametrize("answer", ["same", "-.focus", "cart/zoë/quantity = 3", "cart/zoë/quantity = ", "cart/zo", "-"])
def test_a_whole_answer_is_allowed_if_and_only_if_it_can_be_read(answer: str) -> None:
    try:
        applied(STATE, answer, PLACE)
        readable = True
    except AnswerError:
        readable = False
    assert ChangeConstraint(STATE, PLACE)(answer, whole=True) is readable


def chosen(state: Any, path: tuple[str, ...]) -> Choices | None:
    """A colour is one of the known ones, and the key of what is added to the cart begins with who is known."""
    if path[-1] == "colour":
        return (frozenset(["red", "rose", *([state["note"]] if state["note"] != "Milk" else [])]),)
    return (["jana", "zoë"], None) if path == ("cart", "+", "id") else None


@pytest.mark.parametrize(
    ("begun", "is_allowed"),
    {
        '.colour = "': True,
        '.colour = "r': True,
        '.colour = "ro': True,
        '.colour = "b': False,
        '.colour = "red"': True,
        '.colour = "r"': False,
        ".colour = null": True,
        '.colour = "r\\u': False,
        '+cart {"id":"zo\\u00e': True,
        '+cart {"id":"zo\\u00eb,1"': True,
        '+cart {"id":"z\\': False,
        '.fields/name = "b"': True,
        '+cart {"id":"za': False,
        '+cart {"id":"zo': True,
        f'+cart {{"id":"zo{PIECE}': True,
        f'+cart {{"id":"z{PIECE}': False,
        '+cart {"id":"jana",': False,
        '+cart {"id":"jan,1': False,
        '+cart {"id":"jana,1","quantity":1,"colour":"re': True,
        '+cart {"id":"jana,1","quantity":1,"colour":"rex': False,
        '+cart {"id":"jana,1","colour":"ros","quantity"': False,
        'note = "blue"\n.colour = "blue"': True,
    }.items(),
)
def test_where_only_some_texts_can_stand_no_other_one_is_begun(begun: str, is_allowed: bool) -> None:
    assert ChangeConstraint(STATE, PLACE, chosen)(begun) is is_allowed


KNOWN = References({"user": "jana", "guest": "lotta", "text": "rose", "colour": "blue", "number": 7}, {})


@pytest.mark.parametrize(
    ("begun", "is_allowed"),
    {
        '.colour = "{': True,
        '.colour = "{te': True,
        '.colour = "{text}': True,
        '.colour = "{text}"': True,
        '.colour = "{text}s': False,
        '.colour = "{user}': False,
        '.colour = "{us': False,
        '.colour = "{nu': False,
        '.colour = "{}"': False,
        '.colour = "}': False,
        '+cart {"id":"{': True,
        '+cart {"id":"{user},{number}"': True,
        '+cart {"id":"{user}"': False,
        '+cart {"id":"{user}a': False,
        '+cart {"id":"{gu': False,
        '+cart {"id":"j{': False,
        'note = "blue"\n.colour = "{}"': True,
    }.items(),
)
def test_a_name_stands_where_what_it_means_can_stand(begun: str, is_allowed: bool) -> None:
    assert ChangeConstraint(STATE, PLACE, chosen, KNOWN)(begun) is is_allowed


@pytest.mark.parametrize("seed", range(20))
def test_where_any_text_can_stand_choices_refuse_nothing(seed: int) -> None:
    rng = random.Random(seed)
    before, after = ({key: value(rng) for key in "xyz"} for _ in range(2))
    change = write_change(before, after, ("x",))
    allows = ChangeConstraint(before, ("x",), lambda state, path: None)
    assert all(allows(change[:end]) for end in range(len(change)))


def test_where_the_view_does_not_know_the_state_any_text_can_stand() -> None:
    def unknown(state: Any, path: tuple[str, ...]) -> Choices | None:
        raise AnswerError("no such state")

    assert ChangeConstraint(STATE, PLACE, unknown)('.colour = "b')


NAMED = References({"text": "rose", "n": 7, 'a"b': 8, "a\nb": "x", "+": "blue"}, {})
FIELDS: dict[str, Any] = {"n": 1, "a b": 2, "list": [], "front": {"n": 1}}


@pytest.mark.parametrize(
    "answer",
    [
        '.n += "{}"',
        'a~sb += "{n}"',
        'n += "{a\\"b}"',
        'x = "{a\\nb}"',
        'x = {"+":"{}"}',
        'x/+ = "{}"',
        "-n ",
        'x = "{{text}}"',
    ],
)
def test_what_can_be_read_is_allowed_from_its_first_character_on(answer: str) -> None:
    allows = ChangeConstraint(FIELDS, ("front",), lambda _, path: None, NAMED)
    assert allows(answer, whole=True)
    assert [answer[:end] for end in range(len(answer) + 1) if not allows(answer[:end])] == []


@pytest.mark.parametrize("begun", ["-n = {x}", "-n = 5", ">n n", 'x = {"":"{}', "b/" * 24, f'{"b/" * 24}b = "x"'])
def test_what_can_never_be_read_is_refused_and_is_no_error(begun: str) -> None:
    allows = ChangeConstraint(FIELDS, ("front",), references=NAMED)
    assert not allows(begun)
    assert not allows(begun, whole=True)


@pytest.mark.parametrize("begun", ['x = {"+":"{}"}', 'x/+ = "{}"'])
def test_a_field_that_is_called_like_an_added_entry_is_one(begun: str) -> None:
    assert ChangeConstraint(FIELDS, ("front",), lambda _, path: (("blue",),), NAMED)(begun)


@pytest.mark.parametrize("option", ["{a", 'say "a"', "a\\b"])
def test_a_choice_may_hold_braces_and_what_json_escapes(option: str) -> None:
    answer = f"x = {compact(option.replace('{', '{{'))}"
    allows = ChangeConstraint(FIELDS, ("front",), lambda _, path: ((option,),), NAMED)
    assert [answer[:end] for end in range(len(answer) + 1) if not allows(answer[:end])] == []
