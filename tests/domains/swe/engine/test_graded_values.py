"""What a graded program returns costs the grader time and memory that are linear in what it may return."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentworld_gym.domains.swe.engine.python.backends import open_sandbox
from agentworld_gym.domains.swe.engine.python.bubblewrap import usable
from agentworld_gym.domains.swe.engine.python.grading import values
from agentworld_gym.domains.swe.engine.python.grading.grader import MAX_RECORDS, RECORDS, grade
from agentworld_gym.domains.swe.engine.python.grading.values import InvalidRecord, Thing, read
from agentworld_gym.domains.swe.engine.python.sandbox import PythonResult, PythonSandbox

needed = pytest.mark.skipif(not usable(), reason="bubblewrap cannot run here")
in_both = pytest.mark.parametrize("sandbox", ["monty", pytest.param("bubblewrap", marks=needed)])

MERSENNE = 2**61 - 1
"""Integers that differ by a multiple of it have one hash in CPython."""
TESTS = {"t.py": "import a\n\ndef test_it():\n    assert a.f() == a.f()\n"}


@pytest.fixture
def comparisons(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often objects of the program were compared, in its only item."""
    count, compare = [0], Thing.__eq__

    def counted(self: Thing, other: object) -> bool:
        count[0] += 1
        return compare(self, other)

    monkeypatch.setattr(Thing, "__eq__", counted)
    return count


def plain(number: int) -> Any:
    return ["object", "A", True, []]


def with_fields(number: int) -> Any:
    return ["object", "A", True, [["x", ["int", str(number)]], ["y", ["list", [["int", str(number)]]]]]]


def in_tuples(number: int) -> Any:
    return ["tuple", [plain(number), with_fields(number)]]


@pytest.mark.parametrize("part", [plain, with_fields, in_tuples])
def test_a_set_of_many_objects_of_one_class_compares_few_of_them(
    part: Callable[[int], Any], comparisons: list[int]
) -> None:
    assert len(read(["set", [part(number) for number in range(5_000)]])) == 5_000
    assert len(read(["dict", [[part(number), ["none"]] for number in range(5_000)]])) == 5_000
    assert comparisons[0] < 1_000


def colliding_integers(number: int) -> Any:
    return ["int", str(number * MERSENNE)]


def colliding_tuples(number: int) -> Any:
    return ["tuple", [colliding_integers(number), ["int", "1"]]]


def colliding_objects(number: int) -> Any:
    return ["object", "A", True, [["x", colliding_integers(number)]]]


def colliding_floats(number: int) -> Any:
    return ["float", repr(2.0 ** (61 * (number % 16)))]


@pytest.mark.parametrize("part", [colliding_integers, colliding_tuples, colliding_objects, colliding_floats])
def test_a_set_whose_parts_collide_on_purpose_is_no_value(part: Callable[[int], Any]) -> None:
    with pytest.raises(InvalidRecord, match="share a hash"):
        read(["set", [part(number) for number in range(200)]])
    with pytest.raises(InvalidRecord, match="share a hash"):
        read(["dict", [[part(number), ["none"]] for number in range(200)]])
    assert len(read(["list", [part(number) for number in range(200)]])) == 200


data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(data, data)
def test_equal_objects_have_equal_hashes_whatever_their_fields_hold(one: Any, other: Any) -> None:
    left, right = (Thing("A", True, (("x", value),)) for value in (one, other))
    assert hash(left) == hash(Thing("A", False, (("x", one),)))
    if left == right:
        assert hash(left) == hash(right)


def test_equal_objects_are_one_part_of_a_set() -> None:
    """As they are in the program, whose class is a dataclass that can be hashed."""
    assert len(read(["set", [with_fields(1), with_fields(1), with_fields(2)]])) == 2
    assert read(with_fields(1)) in read(["set", [with_fields(1)]])
    assert read(plain(1)) not in read(["set", [plain(1)]])


@in_both
def test_a_program_that_returns_sets_of_objects_and_of_colliding_integers_is_graded(
    sandbox: str, comparisons: list[int]
) -> None:
    text = """
class A:
    pass


def objects():
    return {A() for _ in range(5_000)}


def integers():
    return {n * (2**61 - 1) for n in range(1_000)}


def right():
    return {1, 2, 3}
"""
    tests = "import a\n\n" + "".join(
        f"def test_{name}():\n    assert a.{name}() == {{1, 2, 3}}\n\n" for name in ("objects", "integers", "right")
    )
    told = grade(open_sandbox(sandbox), {"/w/a.py": text}, {"t.py": tests}, root="/w", timeout_s=10)
    assert told.passed == ("t.py::test_right",)
    assert comparisons[0] < 1_000


class Liar:
    """A sandbox whose program left a text where its records should stand."""

    def __init__(self, text: str) -> None:
        self.text = text

    def run(self, files: dict[str, str], argv: list[str], **_: object) -> PythonResult:
        return PythonResult("", "", 0, {RECORDS: self.text})


def test_more_records_than_may_be_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [[place, "value", ["int", "1"]] for place in range(3)]
    text = json.dumps(rows)
    assert grade(cast(PythonSandbox, Liar(text)), {}, TESTS, root="/w", timeout_s=1).whole
    longer = text + " " * (MAX_RECORDS + 1 - len(text))
    monkeypatch.setattr(values, "read", None)
    assert not grade(cast(PythonSandbox, Liar(longer)), {}, TESTS, root="/w", timeout_s=1).whole


def test_the_text_of_an_exception_is_searched_as_far_as_a_bound() -> None:
    """A pattern with two stars takes the square of its length, and nobody writes such messages."""
    tests = {"t.py": "import pytest\nimport a\n\ndef test_it():\n    with pytest.raises(ValueError, match='x.*y'):\n"
             "        a.f()\n"}  # fmt: skip
    for text, passes in (("x and y", True), ("x" * 9_000 + "y", True), ("x" * 200_000 + "y", False)):
        rows = [[place, "raised", ["ValueError"], text] for place in range(3)]
        told = grade(cast(PythonSandbox, Liar(json.dumps(rows))), {}, tests, root="/w", timeout_s=1)
        assert told.whole is passes
