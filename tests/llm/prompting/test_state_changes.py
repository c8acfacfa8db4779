"""The notation of the state form: what a change looks like, and that reading it gives the state."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.llm.prompting.state_changes import applied, write_change

PLACE = ("tasks", "notes", 1)
STATE: dict[str, Any] = {
    "front": "notes",
    "tasks": {
        "notes": [{"screen": "main"}, {"screen": "note", "note": 2}],
        "clock": [{"screen": "main"}, {"screen": "x"}],
    },
    "notes": [{"id": 2, "text": "Milk", "done": False}, {"id": 5, "text": "", "done": True}, {"id": 7, "text": "a"}],
    "laps": [12, 9],
    "clock": 1_772_617_260,
    "grants": {"files/files": "denied"},
    "snack": None,
}


def counted(path: tuple[str, ...]) -> bool:
    """Balances are told by how much they grow."""
    return path[-1] == "balance"


def changed(**more: Any) -> dict[str, Any]:
    return {**STATE, **more}


EXAMPLES = {
    "same": changed(),
    'front = "clock"': changed(front="clock"),
    "clock += 60": changed(clock=STATE["clock"] + 60),
    'grants/files~1files = "allowed"': changed(grants={"files/files": "allowed"}),
    'snack = {"text":"Gone"}': changed(snack={"text": "Gone"}),
    "-.": changed(tasks={**STATE["tasks"], "notes": [{"screen": "main"}]}),
    '+.. {"screen":"menu"}': changed(tasks={**STATE["tasks"], "notes": [*STATE["tasks"]["notes"], {"screen": "menu"}]}),
    ".scroll/list = 126": changed(
        tasks={**STATE["tasks"], "notes": [{"screen": "main"}, {"screen": "note", "note": 2, "scroll": {"list": 126}}]}
    ),
    '. = {"screen":"edit"}': changed(tasks={**STATE["tasks"], "notes": [{"screen": "main"}, {"screen": "edit"}]}),
    'tasks/clock = [{"screen":"main"}]': changed(tasks={**STATE["tasks"], "clock": [{"screen": "main"}]}),
    'notes/2/text += " and\\neggs"': changed(
        notes=[{"id": 2, "text": "Milk and\neggs", "done": False}, *STATE["notes"][1:]]
    ),
    "notes/2/done = true": changed(notes=[{"id": 2, "text": "Milk", "done": True}, *STATE["notes"][1:]]),
    "-notes/5": changed(notes=[STATE["notes"][0], STATE["notes"][2]]),
    ">notes/2": changed(notes=[*STATE["notes"][1:], STATE["notes"][0]]),
    '+notes {"id":9}': changed(notes=[*STATE["notes"], {"id": 9}]),
    '^notes {"id":9}': changed(notes=[{"id": 9}, *STATE["notes"]]),
    "notes = []": changed(notes=[]),
    "^laps 3": changed(laps=[3, 12, 9]),
    "-laps/0": changed(laps=[9]),
}


@pytest.mark.parametrize(("change", "after"), EXAMPLES.items(), ids=EXAMPLES.keys())
def test_a_change_is_one_short_line(change: str, after: dict[str, Any]) -> None:
    assert write_change(STATE, after, PLACE) == change
    assert applied(STATE, change, PLACE) == after


def value(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.randrange(8 if depth < 3 else 4)
    if kind < 4:
        return rng.choice([None, True, 1, 0, 2_000_000, "", "a b", "a bc", "~/0"])
    if kind == 4:
        return [{"id": number, "v": value(rng, depth + 1)} for number in rng.sample(range(6), rng.randrange(5))]
    if kind == 5:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(["a", "b/c", "d~ e", "~1"]): value(rng, depth + 1) for _ in range(rng.randrange(4))}


@pytest.mark.parametrize("seed", range(300))
def test_reading_a_change_gives_the_state_that_it_was_written_for(seed: int) -> None:
    rng = random.Random(seed)
    before, after = ({key: value(rng) for key in "xyz"} for _ in range(2))
    place = ("x",)
    assert applied(before, write_change(before, after, place), place) == after


@pytest.mark.parametrize(
    "wrong",
    [
        "hello",
        "notes/3/done = true",
        "-notes/3",
        "+front 1",
        "laps/7 = 1",
        "front := nobody",
        "front += 1",
        "snack = {",
        "-laps/x",
        "-front/x",
        "= 3",
    ],
)
def test_a_change_that_does_not_fit_says_which_line(wrong: str) -> None:
    with pytest.raises(AnswerError, match="does not fit the state"):
        applied(STATE, f'front = "clock"\n{wrong}', PLACE)


LETTER = {"text": "A letter that is too long to be written once more, from Lea.", "read": True}


def test_a_long_value_that_stands_elsewhere_is_named_by_its_path() -> None:
    before = {"in": {"a": LETTER, "b": {"text": "Milk"}}}
    moved = {"in": {"b": {"text": "Milk"}, "c": LETTER}}
    assert write_change(before, moved, ("x",)) == "-in/a\nin/c := in/a"
    assert applied(before, "-in/a\nin/c := in/a", ("x",)) == moved
    assert applied(before, "in/a := in/b\nin/b := in/a", ("x",)) == {"in": {"a": {"text": "Milk"}, "b": LETTER}}


def test_an_object_of_which_much_changes_is_written_whole() -> None:
    before, after = ({"row": dict.fromkeys("abcdef", value)} for value in (1, 2))
    assert write_change(before, after, ("x",)) == 'row = {"a":2,"b":2,"c":2,"d":2,"e":2,"f":2}'


def test_references_stand_for_a_limited_number_of_characters() -> None:
    before = {"long": "a" * 300_000}
    with pytest.raises(AnswerError, match="stand for more than"):
        applied(before, "\n".join(f"x{number} := long" for number in range(5)), ("x",))


def test_the_state_before_stays_as_it_was() -> None:
    before = {"laps": [1], "front": "a"}
    applied(before, "^laps 2\n-front", ("laps", 0))
    assert before == {"laps": [1], "front": "a"}


def test_a_key_that_an_object_does_not_have_is_gone_already() -> None:
    assert applied(STATE, "-tasks/chess", PLACE) == STATE


CENTS = st.integers(-(10**9), 10**9).map(lambda cents: cents / 100)
NUMBERS = st.integers() | CENTS | st.floats(allow_nan=False, allow_infinity=False)


@given(NUMBERS, NUMBERS)
def test_a_balance_that_grows_has_the_very_number_it_should_have(old: float, new: float) -> None:
    before, after = {"accounts": [{"id": 1, "balance": old}]}, {"accounts": [{"id": 1, "balance": new}]}
    change = write_change(before, after, (), counted)
    read = applied(before, change, ())["accounts"][0]["balance"]
    assert (type(read), read) == (type(new), new)


@given(CENTS, CENTS)
def test_amounts_of_money_are_told_by_the_cent(old: float, more: float) -> None:
    new = round(old + more, 2)
    change = write_change({"balance": old}, {"balance": new}, (), counted)
    assert change == ("same" if new == old else f".balance += {round(new - old, 2)}")


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ({"balance": 10.25}, {"balance": 0.0}, ".balance += -10.25"),
        ({"balance": 5}, {"balance": 3}, ".balance += -2"),
        ({"balance": 5}, {"balance": 3.5}, ".balance = 3.5"),
        ({"balance": 5.0}, {"balance": None}, ".balance = null"),
        ({"balance": True}, {"balance": False}, ".balance = false"),
        ({"limit": 10.25}, {"limit": 0.0}, ".limit = 0.0"),
        ({}, {"balance": 3.5}, ".balance = 3.5"),
    ],
)
def test_only_a_number_that_counts_is_told_by_how_much_it_grows(before: Any, after: Any, change: str) -> None:
    assert write_change(before, after, (), counted) == change
    assert applied(before, change, ()) == after


@pytest.mark.parametrize("change", ['.balance += "1"', ".balance += true", ".balance += 1e999", ".stock += 0.5"])
def test_a_number_grows_by_no_text_and_a_whole_one_by_no_fraction(change: str) -> None:
    with pytest.raises(AnswerError, match="does not fit the state"):
        applied({"balance": 2.5, "stock": 3}, change, ())
