"""The scorer of answers: exact words, numbers within a tolerance, dates, lists and tables by F1."""

from __future__ import annotations

import random
import re
from datetime import date

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentworld_gym.core.domain.answer_scoring import (
    close,
    dates_in,
    item_f1,
    items_of,
    normalised,
    number_in,
    numbers_in,
    row_f1,
    rows_of,
)
from agentworld_gym.core.domain.task import Expect

# Numbers


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("42", 42),
        ("  +42.  ", 42),
        ("−42 °C", -42),
        ("1,234,567.5", 1234567.5),
        ("12 500 tonnes", 12500),
        ("12'500", 12500),
        ("12\u00a0500", 12500),
        ("1_000", 1000),
        (".5", 0.5),
        ("1e3", 1000),
        ("about 3.7 m2", 3.7),
        ("200 m² in all", 200),
        ("$1,200", 1200),
        ("€3", 3),
        ("12 %", 12),
        ("12%", 12),
        ("12th", 12),
        ("1.2 million", 1.2e6),
        ("3 hundred", 300),
        ("twelve harbours", 12),
        ("Twenty-one", 21),
        ("forty two", 42),
        ("five thousand", 5000),
        ("42 (that is 42.0)", 42),
        ("27m", 27),
        ("The answer is: 7.", 7),
        ("１２", 12),
    ],
)
def test_the_number_of_a_text(text: str, number: float) -> None:
    assert number_in(text) == pytest.approx(number)
    assert close(text, number)


@pytest.mark.parametrize(
    "text", ["", "none", "3 or 4", "3, 4", "41 42", "1,5", "3-4", "12 of 40", "Q3", "CO2", "km2", "abc1"]
)
def test_texts_without_one_number(text: str) -> None:
    assert number_in(text) is None
    assert not close(text, 3)


@pytest.mark.parametrize("text", ["41..42", "41...42", "41.50..42.50", "1.2.3", "41.-42", "it is 41, .. 42 .43.44"])
def test_a_number_behind_another_ones_point_is_a_second_number(text: str) -> None:
    assert number_in(text) is None


@pytest.mark.parametrize("text", ["41 m2 of P2.5", "in v1.2.3 it was 41", "41.", "41..."])
def test_digits_within_a_name_are_no_number(text: str) -> None:
    assert number_in(text) == 41


def test_words_count_only_where_there_are_no_digits() -> None:
    assert number_in("one of the 12 ships") == 12
    assert numbers_in("one of the 12 ships") == [12.0, 1.0]


@given(
    st.integers(-(10**12), 10**12),
    st.sampled_from(["{}", "{:,}", "{:_}", "about {} m", "It is {:,} tonnes.", "**{}**", "{:,} %"]),
)
def test_a_whole_number_is_read_in_every_form(number: int, form: str) -> None:
    assert number_in(form.format(number)) == number


@given(st.decimals(-(10**6), 10**6, places=3), st.floats(0, 100))
def test_the_tolerance_is_absolute_and_ends_where_it_says(number: object, tolerance: float) -> None:
    right = float(str(number))
    assert close(f"{number}", right, tolerance)
    assert close(f"{right + 0.9 * tolerance:.6f}", right, tolerance + 1e-5)
    assert not close(f"{right + tolerance + 1:.6f}", right, tolerance)


# Dates

MONTHS = re.findall(r"\w+", "January February March April May June July August September October November December")


@given(st.dates(date(1000, 1, 1), date(9999, 12, 31)))
def test_a_date_is_one_in_every_form(day: date) -> None:
    month = MONTHS[day.month - 1]
    forms = [
        day.isoformat(),
        f"{day.day} {month} {day.year:04}",
        f"{day.day} {month[:3]} {day.year:04}",
        f"{month} {day.day}, {day.year:04}",
        f"{month[:3].upper()} {day.day}, {day.year:04}",
        f"the {day.day}th of {month} {day.year:04}",
    ]
    assert {tuple(dates_in(f"It was on {form}.")) for form in forms} == {(day.isoformat(),)}
    assert {normalised(form.removeprefix("the ")) for form in forms} == {day.isoformat()}
    assert item_f1("; ".join([forms[3], "x"]), [forms[0], "X"]) == 1
    assert item_f1(", ".join(["x", forms[3]]), [forms[0], "X"]) == 1


def test_days_that_do_not_exist_are_no_dates() -> None:
    assert dates_in("31 February 2020, 2020-13-01, 0 May 1900, May 1900") == []


# Words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Aldermoor Glassworks", "the  ALDERMOOR glassworks."),
        ("`Aldermoor`", '"aldermoor"'),
        ("O’Hara", "O'Hara"),
        ("1868–1871", "1868-1871"),
        ("1,200", "1200.0"),
        ("Straße", "STRASSE"),
        ("**Tornsay**", "Tornsay"),
        ("Yes!", "yes"),
    ],
)
def test_texts_that_are_the_same(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(
    ("one", "other"), [("Tornsay", "Tornsay Head"), ("12", "12.5"), ("-3", "3"), ("C", "C++"), ("the", "")]
)
def test_texts_that_differ(one: str, other: str) -> None:
    assert normalised(one) != normalised(other)


@given(st.text(max_size=60))
def test_normal_form_is_stable(text: str) -> None:
    assume("the" not in text.casefold())
    assert normalised(normalised(text)) == normalised(text)


# Lists

RIGHT = ["Corrie Ness", "Tornsay", "Salt and Stone", "Hallan Head, North"]


@pytest.mark.parametrize(
    "text",
    [
        "Corrie Ness; Tornsay; Salt and Stone; Hallan Head, North",
        "Corrie Ness, Tornsay, Salt and Stone; Hallan Head, North",
        "- Hallan Head, North\n- Salt and Stone\n- Tornsay\n- Corrie Ness",
        "1. Tornsay\n2. Corrie Ness\n3) Hallan Head, North\n4. Salt and Stone\n",
        '["Corrie Ness", "Tornsay", "Salt and Stone", "Hallan Head, North"]',
        "They are: Corrie Ness; Tornsay; the Salt and Stone; Hallan Head, North.",
        "**Corrie Ness**; *Tornsay*; `Salt and Stone`; 'Hallan Head, North'",
    ],
)
def test_a_right_list_in_any_dress(text: str) -> None:
    assert item_f1(text, RIGHT) == 1


def test_and_joins_items() -> None:
    assert items_of("a, b and c") == ["a", "b", "c"]
    assert items_of("a, b, and c") == ["a", "b", "c"]
    assert items_of("a & b") == ["a", "b"]
    assert item_f1("Tornsay, Inverbeck and Corrie Ness", ["Corrie Ness", "Inverbeck", "Tornsay"]) == 1


def test_thousands_do_not_part_a_list() -> None:
    assert items_of("1,200; 3,400") == ["1200", "3400"]
    assert items_of("1,200, 3,400 and 7") == ["1200", "3400", "7"]


def test_units_and_signs_beside_a_right_number_do_no_harm() -> None:
    assert item_f1("1,200 m; 7 %; $9", ["1200", "7", "9"]) == 1
    assert item_f1("1,200 metres of cable", ["1200"]) == 0


def test_missing_surplus_and_repeated_items_cost() -> None:
    assert item_f1("a; b", ["a", "b", "c"]) == pytest.approx(0.8)
    assert item_f1("a; b; c; d", ["a", "b", "c"]) == pytest.approx(6 / 7)
    assert item_f1("a; a; b", ["a", "b"]) == pytest.approx(0.8)
    assert item_f1("", ["a"]) == 0
    assert item_f1("x", ["a"]) == 0


words = st.text("abcdefgh", min_size=1, max_size=6)


@given(
    st.lists(words, min_size=1, max_size=6, unique=True), st.sampled_from(["; ", ", ", "\n", ";", "\n- "]), st.randoms()
)
def test_order_and_separators_do_not_matter(items: list[str], separator: str, rng: random.Random) -> None:
    mixed = rng.sample(items, len(items))
    assert item_f1(separator.join(mixed), items) == 1
    assert Expect(items=tuple(items)).holds(separator.join(mixed))


@given(st.lists(words, max_size=5), st.lists(words, min_size=1, max_size=5))
def test_f1_is_that_of_the_multisets(given_items: list[str], right: list[str]) -> None:
    score = item_f1("; ".join(given_items), right)
    assert 0 <= score <= 1
    assert (score == 1) == (sorted(given_items) == sorted(right))
    assert score == pytest.approx(item_f1("; ".join(right), given_items) if given_items else 0)


# Tables

ROWS = [["Tornsay", "1868", "1,200"], ["Corrie Ness", "1871", "980.5"]]


@pytest.mark.parametrize(
    "text",
    [
        "Tornsay | 1868 | 1200\nCorrie Ness | 1871 | 980.5",
        "Corrie Ness | 1871 | 980.50; Tornsay | 1868 | 1,200",
        "| name | lit | cost |\n| --- | ---: | :-: |\n| Tornsay | 1868 | 1,200 |\n| Corrie Ness | 1871 | 980.5 |",
        "name | lit | cost\n--- | --- | ---\n**Tornsay** | 1868 | $1,200\nCorrie Ness | 1871 | 980.5 t",
        "Tornsay\t1868\t1200\nCorrie Ness\t1871\t980.5",
        "- Tornsay, 1868, 1,200\n- Corrie Ness, 1871, 980.5",
        '[["Tornsay", 1868, 1200], ["Corrie Ness", "1871", 980.5]]',
        '[{"name": "Tornsay", "lit": 1868, "cost": 1200}, {"name": "Corrie Ness", "lit": 1871, "cost": 980.5}]',
    ],
)
def test_a_right_table_in_any_dress(text: str) -> None:
    assert row_f1(text, ROWS) == 1
    assert Expect(rows=tuple(map(tuple, ROWS))).holds(text)


def test_a_row_counts_when_all_of_it_is_right() -> None:
    assert row_f1("Tornsay | 1868 | 1200\nCorrie Ness | 1870 | 980.5", ROWS) == 0.5
    assert row_f1("Tornsay | 1868", ROWS) == 0
    assert row_f1("1868 | Tornsay | 1200", ROWS) == 0


def test_a_head_is_no_row_only_above_a_rule() -> None:
    assert rows_of("a | b\n--- | ---\nc | d") == [("c", "d")]
    assert rows_of("a | b\nc | d") == [("a", "b"), ("c", "d")]
    assert rows_of("--- | ---\nc | d") == [("c", "d")]


cells = st.text("abc123", min_size=1, max_size=4).filter(lambda cell: normalised(cell) == cell)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=5), st.randoms())
def test_rows_in_any_order(rows: list[tuple[str, str]], rng: random.Random) -> None:
    mixed = rng.sample(rows, len(rows))
    assert row_f1("\n".join(" | ".join(row) for row in mixed), rows) == 1
    assert row_f1("\n".join(f"| {one} | {two} |" for one, two in mixed), rows) == 1


# Whatever an agent answers


@given(st.text(max_size=200), st.lists(st.text(max_size=20), min_size=1, max_size=4))
def test_any_answer_gets_a_score(text: str, right: list[str]) -> None:
    assert 0 <= item_f1(text, right) <= 1
    assert 0 <= row_f1(text, [right, right]) <= 1
    assert isinstance(close(text, 1.0, 0.5), bool)
    dates_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "1" * 50_000,
        "1," * 30_000,
        "1,111" * 10_000,
        "[" * 50_000,
        "and " * 20_000,
        "a | " * 20_000,
        "- - " * 20_000,
        "1 " * 30_000,
        "\n---" * 20_000,
    ],
    ids=lambda text: ascii(text[:8]),
)
def test_long_answers_are_scored_soon(text: str) -> None:
    assert item_f1(text, ["a"]) < 1
    assert row_f1(text, [["a", "b"]]) < 1
    assert not close(text, 3)
