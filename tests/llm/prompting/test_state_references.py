"""References in the texts of a change: what is known stands as its name, and reading gives the value again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.core.contracts import PIECE
from agentworld_gym.llm.prompting.change_constraint import ChangeConstraint
from agentworld_gym.llm.prompting.state_changes import applied, write_change
from agentworld_gym.llm.prompting.state_references import References

GIVEN: dict[str, Any] = {
    "amount": 56.96,
    "-amount": -56.96,
    "payee_id": 306,
    "quantity": 2,
    "body": "See you at nine. {Ana}",
    "tags": ["red", "new"],
    "now": "2026-04-15T10:20:00Z",
}
FOUND: dict[str, Any] = {
    "payments/7/payee": "Helix Broadband",
    "payees/306/name": "Helix Broadband",
    "payees/306/iban": "ZZ12",
    "accounts/1/balance": 118.30,
    "accounts/1/level": 4,
    "rooms/3/seats": 12,
}
KNOWN = References(GIVEN, FOUND)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (56.96, "{amount}"),
        (-56.96, "{-amount}"),
        (["red", "new"], "{tags}"),
        (GIVEN["body"], "{body}"),
        ({"payee_id": 306, "quantity": 2, "at": GIVEN["now"]}, {"payee_id": "{}", "quantity": "{}", "at": "{now}"}),
        ("Re: Helix Broadband", "Re: {payments/7/payee}"),
        ("118.3 left in 306, and 12 seats", "{accounts/1/balance} left in {payee_id}, and {rooms/3/seats} seats"),
        ("3060", "3060"),
        ("a {brace}", "a {{brace}}"),
        ("306", "306"),
        (306.0, 306.0),
        (2, 2),
        (4, 4),
        (None, None),
    ],
    ids=str,
)
def test_what_is_known_stands_as_its_name(value: Any, told: Any) -> None:
    assert KNOWN.with_names(value, "field") == told
    assert KNOWN.meant(told, "field") == value


def test_the_name_of_the_field_comes_first_and_a_row_of_the_same_table_last() -> None:
    assert KNOWN.with_names("Helix Broadband", "name") == "{payees/306/name}"
    assert KNOWN.with_names({"payee": "Helix Broadband"}, "payments") == {"payee": "{payees/306/name}"}
    assert KNOWN.with_names({"payee": "Helix Broadband"}, "orders") == {"payee": "{payments/7/payee}"}


TEXTS = st.text(max_size=6) | st.sampled_from([*filter(lambda value: isinstance(value, str), GIVEN.values()), "{", "}"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*GIVEN, "id"]), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(["amount", "-amount", "a/b", "#a", "id", "now"])


KNOWN_VALUES = st.dictionaries(NAMES, VALUES, max_size=3)


@settings(max_examples=60)
@given(value=VALUES, given_values=KNOWN_VALUES, found=KNOWN_VALUES)
def test_reading_gives_the_value_again(value: Any, given_values: dict[str, Any], found: dict[str, Any]) -> None:
    references = References(given_values, found)
    told = references.with_names(value, "amount")
    assert repr(references.meant(told, "amount")) == repr(value)


@settings(max_examples=60)
@given(value=TEXTS | st.lists(TEXTS | st.sampled_from(["306", " ", "118.3"])).map("".join))
def test_every_beginning_of_a_text_that_is_written_may_begin_one(value: str) -> None:
    told = KNOWN.with_names(value, "name")
    assert all(KNOWN.may_begin(told[:end], "name", whole=False) for end in range(len(told)))
    assert KNOWN.may_begin(told, "name", whole=True)


@pytest.mark.parametrize("text", ["{nobody}", "{}", "a { b", "}", "{am"])
def test_a_name_that_nothing_has_and_a_lone_brace_are_refused(text: str) -> None:
    assert not KNOWN.may_begin(text, "field", whole=True)
    with pytest.raises((LookupError, ValueError)):
        KNOWN.meant(text, "field")


@pytest.mark.parametrize(
    ("text", "may"), {"": True, "{a": True, "{body": False, "{amount}": True, "{}": True, "a": False}.items()
)
def test_a_number_grows_by_the_name_of_a_number(text: str, may: bool) -> None:
    assert KNOWN.may_begin_number(text, "amount", float, whole=False) is may
    assert KNOWN.may_begin_number(text, "amount", float, whole=True) is (may and text.endswith("}"))


def test_a_whole_number_grows_by_no_decimal_one() -> None:
    assert KNOWN.may_begin_number("{quantity", "stock", int, whole=False)
    assert not KNOWN.may_begin_number("{amount", "stock", int, whole=False)


def test_a_list_within_a_text_is_json() -> None:
    assert KNOWN.meant("Labels: {tags}", "note") == 'Labels: ["red","new"]'


def test_a_list_that_a_change_has_taken_may_change_again() -> None:
    change = 'labels = "{tags}"\n+labels "hot"'
    first, second = (applied({"labels": []}, change, (), KNOWN) for _ in range(2))
    assert first == second == {"labels": ["red", "new", "hot"]}


STATE = {"goods": [{"id": 1, "amount": 2.5, "title": "Lamp"}], "tags": ["old"]}


@pytest.mark.parametrize(
    "line",
    [
        'goods/1/amount += "{}"',
        'goods/1/title += " for {body}"',
        'goods/1/title = ["{body}", {"amount": "{}", "all": ["{now}"]}]',
        '+goods {"title": {"amount": "{}"}}',
        '+tags "{payees/306/name}"',
        'tags = "{}"',
    ],
)
def test_every_beginning_of_a_line_with_names_is_allowed(line: str) -> None:
    allows = ChangeConstraint(STATE, (), references=KNOWN)
    assert allows(line, whole=True)
    assert [line[:end] for end in range(len(line) + 1) if not allows(line[:end])] == []


@pytest.mark.parametrize(
    ("begun", "refused"),
    [
        ('goods/1/title += "{', "z"),
        ('goods/1/title = ["{', "z"),
        ('+goods {"title": {"amount": "{', "z"),
        ('+tags "{', "z"),
        ("..", " = "),
    ],
)
def test_a_name_that_nothing_has_is_refused_where_it_begins(begun: str, refused: str) -> None:
    allows = ChangeConstraint(STATE, (), references=KNOWN)
    assert allows(begun) and not allows(begun + refused)


FOLDER: dict[str, Any] = {
    "home": {"a b.txt": {"text": ["Milk, butter and bread", "Eggs, if they have any", ""]}, "c.txt": {"text": ["x"]}},
    "front": {"path": "~/a b.txt"},
}
PLACES = References(
    {"File name": "a b.txt", "typed": "list.txt"},
    {},
    {"home": ("home",), "File name": ("home", "a b.txt"), "typed": ("home", "list.txt"), "path": ("home", "a b.txt")},
)


@pytest.mark.parametrize(
    ("home", "change"),
    [
        ({"list.txt": FOLDER["home"]["a b.txt"]}, "-{File name}\n-{home}/c.txt\n{typed} := {File name}"),
        (FOLDER["home"] | {"c.txt": {"text": ["x", "y"]}}, '+{home}/c.txt/text "y"'),
        (FOLDER["home"] | {"list.txt": {"text": ["a b.txt"]}}, '{typed}/text = ["{File name}"]'),
        (FOLDER["home"] | {"{typed}": 1}, "{home}/{typed} = 1"),
    ],
)
def test_a_path_begins_with_the_name_of_the_longest_place(home: dict[str, Any], change: str) -> None:
    after = FOLDER | {"home": home}
    assert sorted(write_change(FOLDER, after, ("front",), references=PLACES).split("\n")) == change.split("\n")
    assert applied(FOLDER, change, ("front",), PLACES) == after
    allows = ChangeConstraint(FOLDER, ("front",), references=PLACES)
    assert [change[:end] for end in range(len(change) + 1) if not allows(change[:end])] == []
    assert allows(change, whole=True)


@pytest.mark.parametrize(
    "line", ["{nowhere}/text = 1", "-{}", "{typed = 1", "{typed}s = 1", "{typed} := {nowhere}", "{"]
)
def test_a_place_that_nothing_has_is_refused(line: str) -> None:
    allows = ChangeConstraint(FOLDER, ("front",), references=PLACES)
    assert not allows(line, whole=True)
    with pytest.raises(AnswerError):
        applied(FOLDER, line, ("front",), PLACES)


@pytest.mark.parametrize(
    ("begun", "refused"),
    [
        ("{", "n"),
        ("-{", "}"),
        ("{typed", " ="),
        ("{typed}", "s"),
        ("{typed} := {", "n"),
        ("{typed} := {File name}", "s"),
        ("{ty", PIECE),
    ],
)
def test_a_place_that_nothing_has_is_refused_where_it_begins_to_be_wrong(begun: str, refused: str) -> None:
    allows = ChangeConstraint(FOLDER, ("front",), references=PLACES)
    assert allows(begun) and not allows(begun + refused)


def test_braces_begin_no_place_where_none_has_a_name() -> None:
    assert applied({}, '{typed}/a = "{amount}"', (), KNOWN) == {"{typed}": {"a": 56.96}}


def test_where_places_could_have_names_and_none_has_a_brace_begins_no_path() -> None:
    with pytest.raises(AnswerError):
        applied({}, "{typed}/a = 1", (), References({}, {}, {}))
    assert not ChangeConstraint({}, (), references=References({}, {}, {}))("{")


def test_an_empty_name_stands_for_nothing() -> None:
    known = References({"": "Kettle"}, {"": "Lamp"})
    assert known.with_names("Kettle", "name") == "Kettle"
    assert known.with_names("A Lamp", "name") == "A Lamp"


def test_a_text_of_a_book_is_not_sought_within_others() -> None:
    book = "ab " * 300_000
    assert References({"text": book}, {}).with_names(f"{book}!", "name") == f"{book}!"


@pytest.mark.parametrize("line", ["x := {typed}", ">{typed}", "+{typed}", "^{typed}"])
def test_a_name_stands_for_a_whole_step(line: str) -> None:
    known = References({}, {}, {"typed": ("home", "c")})
    assert not ChangeConstraint({"home": {"c.txt": [1]}}, ("home",), references=known)(line)
