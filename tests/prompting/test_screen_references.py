"""A whole next screen that refers to the one before: what is written, when it is, and that nothing is lost."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.actions.parser import ActionParser
from agentworld_gym.domain.spec import load_spec
from agentworld_gym.prompting.changes import CHANGE, SCREEN, ChangeError, apply, numbered, predictable_diff, renumbers
from agentworld_gym.prompting.changes.screen_references import OFTEN
from agentworld_gym.prompting.prompt import Prompts
from agentworld_gym.prompting.references.contract import LONGEST
from agentworld_gym.prompting.screen_shorthand import shorten
from agentworld_gym.text.escaping import unescape

HEAD = ["- banner:", "  - link Home", "  - link Orders", "  - searchbox"]
FOOT = ["- contentinfo:", "  - text: Harbour Shop", "  - text: Opened 1987"]


def page(*body: str) -> str:
    return "\n".join([*HEAD, *body, *FOOT])


LIST = page(*(f"- listitem: Lamp {number}" for number in range(5)))
HOME = page(*(f"- paragraph: A word of welcome, number {number}" for number in range(9)))


def written(before: str, after: str) -> list[str]:
    """The lines of an answer below its header."""
    header, *lines = predictable_diff(before, after).split("\n")
    assert header == SCREEN and apply(before, "\n".join([header, *lines])) == after
    return lines


class TestWriting:
    """What an answer refers to."""

    def test_what_both_screens_hold_is_named_by_its_lines(self) -> None:
        body = HOME.split("\n")[4:-3]
        assert written(LIST, HOME) == ["@0..3", *body, "@9..11"]

    def test_so_the_next_turn_has_to_tell_the_numbers(self) -> None:
        assert renumbers(predictable_diff(LIST, HOME))
        assert not renumbers(numbered(HOME))

    def test_a_screen_that_shares_less_than_a_third_is_written_with_its_numbers(self) -> None:
        lines = [f"- text: {number}" for number in range(14)]
        assert written(LIST, page(*lines)) == ["@0..3", *lines, "@9..11"]
        assert predictable_diff(LIST, page(*lines, "- text: 14")) == numbered(page(*lines, "- text: 14"))

    def test_a_screen_that_changes_in_a_few_places_is_written_as_a_change(self) -> None:
        assert predictable_diff(LIST, LIST.replace("Lamp 3", "Bulb")) == f"{CHANGE}\n7~ Lamp 3 => Bulb"

    def test_less_than_three_lines_are_written_out(self) -> None:
        other = [f"- text: {number}" for number in range(9)]
        after = page(*other) + "\n" + "\n".join(HEAD[:2])
        assert written(LIST, after) == ["@0..3", *other, "@9..11", *HEAD[:2]]

    def test_of_several_places_the_longest_run_is_named(self) -> None:
        before = "\n".join([*"abc", "x", *"abcd", "y", *"abc"])
        assert written(before, "\n".join([*"123456789", *"abcd", "10", *"abc"])) == [
            *"123456789",
            "@4..7",
            "10",
            "@9..11",
        ]

    def test_of_runs_as_long_the_next_one_below_the_last_is_named_or_else_the_topmost(self) -> None:
        before = "\n".join([*"abc", "x", *"def", "y", *"abc", "z", *"abc"])
        fresh = [str(number) for number in range(9)]
        assert written(before, "\n".join([*fresh, *"abc", "-", *"def", "-", *"abc"])) == [
            *(*fresh, "@0..2", "-", "@4..6", "-", "@8..10")
        ]
        assert written(before, "\n".join([*fresh, "z", *"abc", "-", *"abc"])) == [*fresh, "@11..14", "-", "@0..2"]

    def test_no_run_begins_with_lines_that_stand_in_too_many_places(self) -> None:
        fresh, rows = [str(number) for number in range(9)], ["row", "cell", "cell"]
        for places, told in ((OFTEN, ["@8..10"]), (OFTEN + 1, rows)):
            before = "\n".join([*HEAD, *FOOT, "list", *rows * places])
            assert written(before, "\n".join([*HEAD, *fresh, *rows, *FOOT])) == ["@0..3", *fresh, *told, "@4..6"]

    def test_so_a_screen_of_equal_lines_is_written_as_soon_as_any(self) -> None:
        before, after = "\n".join("x" * 8000), "\n".join([*"123456789", *"x" * 7900])
        assert predictable_diff(before, after) == numbered(after)

    def test_the_indices_of_a_phone_are_its_numbers(self) -> None:
        row = "[{0}] text={1}".format
        before = "\n".join(row(number, "abcdefgh"[number]) for number in range(8))
        after = "\n".join(row(number, text) for number, text in enumerate("123456789cdefgh"))
        assert written(before, after) == [*(f"text={number}" for number in range(1, 10)), "@2..7"]

    def test_what_looks_like_a_reference_has_a_backslash(self) -> None:
        marked, plain = ["@0..3", "@", "\\@0..3", SCREEN], ["\\", "0| x", "-1", "```", "", " @0..3"]
        body = [*(f"\\{text}" for text in marked), *plain]
        assert written(LIST, page(*marked, *plain)) == ["@0..3", *body, "@9..11"]


class TestReading:
    """What an answer means."""

    STATE = "zero\none\ntwo\nthree"

    @pytest.mark.parametrize(
        ("body", "after"),
        [
            ("@0..1\nnew\n@3-3", "zero\none\nnew\nthree"),
            ("@2..3\n@0-1", "two\nthree\nzero\none"),
            ("@1..2", "one\ntwo"),
            ("@1-@2\r", "one\ntwo"),
            ("@1", "one"),
            ("\\@1", "@1"),
            ("0| x\n-1", "0| x\n-1"),
            ("@3..3\n\n", "three\n\n"),
        ],
    )
    def test_a_reference_is_the_lines_that_it_names(self, body: str, after: str) -> None:
        assert apply(self.STATE, f"{SCREEN}\n{body}") == after
        assert apply(self.STATE, f"```\n@@ Screen @@\n{body}\n```") == after

    @pytest.mark.parametrize("reference", ["@0..4", "@4", "@2..1", "@x", "@", "@1..2-3", "@-1", "@0..999999999"])
    def test_what_names_no_lines_is_told(self, reference: str) -> None:
        with pytest.raises(ChangeError) as raised:
            apply(self.STATE, f"{SCREEN}\nfine\n{reference}")
        expected = "`@N..M`, lines of the screen before, from 0 to 3"
        assert str(raised.value) == f"the change, line 3: got {reference!r}, expected {expected}"
        assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)

    def test_an_index_that_was_left_in_is_dropped_as_in_a_change(self) -> None:
        before = indexed(["A", "B"])
        assert apply(before, f"{SCREEN}\n@0..1\n[2] C") == indexed(["A", "B", "C"])
        assert apply(before, "@@ change\n+1| [2] C") == indexed(["A", "B", "C"])

    def test_where_lines_hold_what_looks_like_an_index_it_stays(self) -> None:
        before = indexed(["[7] A", "B"])
        assert apply(before, f"{SCREEN}\n@0..1\n[2] C") == indexed(["[7] A", "B", "[2] C"])

    def test_a_screen_whose_own_lines_would_lose_what_looks_like_an_index_has_no_references(self) -> None:
        before = indexed(list("abcdefghij"))
        after = indexed([*(f"[{number}] new" for number in range(9)), *"abcdefghij"])
        assert apply(before, predictable_diff(before, after)) == after
        assert not predictable_diff(before, after).startswith(SCREEN)

    def test_references_stand_for_no_more_than_a_million_characters(self) -> None:
        before = "\n".join(["x" * 99_999] * 2)
        fits = f"{SCREEN}\n" + "\n".join(["@0..1"] * 5)
        assert len(apply(before, fits)) == LONGEST - 1
        assert len(apply(before, f"{fits}\n")) == LONGEST
        with pytest.raises(ChangeError, match=r"line 7: got '@0', expected a screen of at most 1,000,000 characters"):
            apply(before, f"{fits}\n@0")

    def test_so_screens_that_refer_to_one_another_do_not_grow_without_end(self) -> None:
        screen = "\n".join("abcdefghijkl")
        with pytest.raises(ChangeError, match="1,000,000"):
            for _ in range(9):
                lines = screen.count("\n")
                screen = apply(screen, "\n".join([SCREEN, *[f"@0..{lines}"] * 12]))
        assert len(screen) <= LONGEST

    def test_a_longer_screen_is_written_without_references(self) -> None:
        before = "\n".join(f"{number} " + "x" * 90_000 for number in range(12))
        after = "\n".join([*"123456789", before])
        assert (
            not predictable_diff(before, after).startswith(SCREEN)
            and apply(before, predictable_diff(before, after)) == after
        )


odd = [
    "@0..2",
    "@1..9",
    "@",
    "\\@0..2",
    "\\\\@",
    SCREEN,
    "@@ full",
    "@@ same",
    "```",
    "0| a",
    "-1",
    "[0] a",
    "",
    " ",
    "\r",
]
line = st.sampled_from([*odd, *"abcd"]) | st.text(max_size=8).map(lambda text: text.replace("\n", ""))
lines = st.lists(line, max_size=20)


class TestExactness:
    """`apply(a, predictable_diff(a, b)) == b`, whatever the texts."""

    @settings(max_examples=500, deadline=None)
    @given(lines, lines)
    def test_of_any_two_texts(self, before: list[str], after: list[str]) -> None:
        for texts in (("\n".join(before), "\n".join(after)), (indexed(before), "\n".join(after))):
            assert apply(texts[0], predictable_diff(*texts)) == texts[1]

    @settings(max_examples=500, deadline=None)
    @given(st.lists(line, min_size=6, max_size=20), lines, st.data())
    def test_of_texts_that_share_runs(self, before: list[str], after: list[str], data: st.DataObject) -> None:
        for _ in range(data.draw(st.integers(1, 3))):
            first, at = data.draw(st.integers(0, len(before) - 3)), data.draw(st.integers(0, len(after)))
            after[at:at] = before[first : first + data.draw(st.integers(3, 9))]
        for texts in (("\n".join(before), "\n".join(after)), (indexed(before), indexed(after))):
            assert apply(texts[0], predictable_diff(*texts)) == texts[1]


def indexed(state: list[str]) -> str:
    return "\n".join(f"[{number}] {text}" for number, text in enumerate(state))


def test_a_small_model_is_told_a_screen_that_it_has_written_with_references() -> None:
    spec = load_spec("web")
    task, action = spec.handwritten_tasks()[0], ActionParser(spec).parse(spec.action.examples[0])
    prompts = Prompts(spec, profile="compact", form="change")
    before, after = (f"### Snapshot\n```yaml\n{shown}\n```" for shown in (LIST, HOME))
    said = [text["content"] for text in prompts.messages(task, [(action, before), (action, after)], action)]
    assert said[4].startswith(SCREEN) and prompts.read(task, before, unescape(said[4])) == after
    assert unescape(said[5]).startswith(numbered(shorten("web", after)))
