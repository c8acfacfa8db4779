"""References to pages: exact for every text, short where the search shows what the state holds, and read everywhere."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.base.errors import AnswerError
from agentworld_gym.base.text.escaping import unescape
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import Failure, FailureKind, Observation
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines.catalog import load_index
from agentworld_gym.domains.search.engine.state import StatedPage
from agentworld_gym.llm.generators.scripted import ScriptedGenerator
from agentworld_gym.llm.judging.bench_rows import bench_row
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions
from agentworld_gym.llm.prompting.references import (
    PageHit,
    TextBlocks,
    UnknownReference,
    page_references,
)
from agentworld_gym.llm.prompting.references.contract import LONGEST
from agentworld_gym.llm.prompting.references.task_state import KEPT
from agentworld_gym.llm.rows.rerendering import observation_meant, task_of
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.rows.samples_from_rows import cpt_sample
from agentworld_gym.worlds.language import LanguageWorld

FRUIT = TextBlocks(
    {
        "fruit": ("apples", "pears", "melons", "figs", "plums"),
        "twice": ("north", "south", "east"),
        "again": ("north", "south", "east"),
    },
    {"https://a.example/x": PageHit("X", "2024-05-11")},
)

# The law

WORDS = st.sampled_from(["@", "\\", "a", "b", ":1-3", "[1] ", "\n", "x\ny\nz", "Title: ", "{", "}", '"', "="])
TEXTS = st.text(max_size=20) | st.lists(WORDS, max_size=12).map("".join)
NAMES = st.sampled_from(["a", "b", "a:1-3", "x y", "@", ""]) | st.text(max_size=4)


def said_of(known: TextBlocks) -> list[str]:
    return [*known._blocks, *("\n".join(lines) for lines in known._blocks.values())]


@settings(max_examples=300)
@given(text=TEXTS, texts=st.dictionaries(NAMES, TEXTS, max_size=4), data=st.data())
def test_any_text_comes_back_whatever_blocks_there_are(text: str, texts: dict[str, str], data: st.DataObject) -> None:
    known = TextBlocks(
        {name: held.split("\n") for name, held in texts.items()}, {name: PageHit(name, "N/A") for name in texts}
    )
    shown = data.draw(
        st.lists(st.sampled_from([text, *said_of(known), "Snippet: @", "Date: N/A", "[1] a"]), max_size=6)
    )
    for one in (text, "\n".join(shown), known.refer(text)):
        assert known.resolve(known.refer(one)) == one


@given(text=TEXTS | st.text("@:-fruit15[] \\\n"))
@example(text="[1] @https://a.example/x")
def test_whatever_is_read_is_a_text_or_a_typed_error(text: str) -> None:
    try:
        assert isinstance(FRUIT.resolve(text), str)
    except AnswerError as error:
        assert isinstance(error, UnknownReference) and str(pickle.loads(pickle.dumps(error))) == str(error)


# The bound


def test_references_stand_for_so_many_characters_and_no_more() -> None:
    known = TextBlocks({"half": ("x" * (LONGEST // 2),), "rest": ("y" * (LONGEST - LONGEST // 2),)})
    assert len(known.resolve("@half\nand\n@rest")) == LONGEST + len("\nand\n")
    for text in ("@half\n@half\n@half", "@half\n" * 10**5):
        with pytest.raises(UnknownReference, match="at most 1_000_000 characters"):
            known.resolve(text)


@pytest.mark.parametrize("count", [LONGEST, LONGEST + 1])
def test_longer_texts_are_written_without_references(count: int) -> None:
    lines = ("apples", "@", "x" * (count - len("apples\n@\n")))
    known = TextBlocks({"long": lines})
    text = "\n".join(lines)
    assert known.refer(text) == ("@long" if count == LONGEST else text.replace("@", "\\@"))
    assert known.resolve(known.refer(text)) == text


class Counting(TextBlocks):
    """Counts the lines that are compared."""

    compared = 0

    def _length(self, lines: Sequence[str], at: int, end: int, name: str, first: int) -> int:
        length = super()._length(lines, at, end, name, first)
        self.compared += length
        return length


def test_a_long_run_is_compared_once() -> None:
    lines = [f"line {number}" for number in range(4000)]
    known = Counting({"first": lines, "again": [*lines[:3000], "another end"]})
    assert known.refer("\n".join(["$ cat first", *lines])) == "$ cat first\n@first"
    assert known.compared < 3 * len(lines)


# Blocks


def test_runs_of_a_block_are_named_the_longest_first() -> None:
    text = "Fruit:\npears\nmelons\nfigs\nplums\nAll:\napples\npears\nmelons\nfigs\nplums\n@"
    assert FRUIT.refer(text) == "Fruit:\n@fruit:2-5\nAll:\n@fruit\n\\@"
    assert FRUIT.refer("apples\npears") == "apples\npears"  # too short
    assert FRUIT.refer("north\nsouth\neast\nwest") == "north\nsouth\neast\nwest"  # of two blocks
    assert FRUIT.refer("apples\npears\nmelons\nfigs\nplums") == "@fruit"


def test_a_known_hit_is_its_address_and_its_snippet() -> None:
    hit = "[1] https://a.example/x\nTitle: X\nSnippet: @ it\nDate: 2024-05-11"
    assert FRUIT.refer(f"{hit}\n\n{hit}") == "[1] @https://a.example/x\n@ it\n\n[1] @https://a.example/x\n@ it"
    for other in (hit.replace("X", "Y"), hit.replace("2024", "2023"), hit.replace("Snippet", "Text")):
        assert FRUIT.refer(other) == other


@pytest.mark.parametrize(
    "wrong", ["@none", "@fruit:0-2", "@fruit:4-9", "@fruit:3-2", "[1] @none\nx", "[1] @https://a.example/x"]
)
def test_a_block_that_is_not_there_is_an_error(wrong: str) -> None:
    with pytest.raises(UnknownReference, match=r"the reference '.*@.*': expected"):
        FRUIT.resolve(wrong)


def test_lines_from_one_to_another_are_read_with_dots_too() -> None:
    assert FRUIT.resolve("@fruit:2..4") == FRUIT.resolve("@fruit:2-4") == "pears\nmelons\nfigs"


def test_blocks_are_what_the_page_reader_shows() -> None:
    for content in ("# Lake\n\nDeep.\n", "Deep.\n"):
        page = {"url": "https://a.example/x", "title": " A  lake", "content": content}
        shown = StatedPage.model_validate(page).page()
        pages = page_references({"pages": [page]})
        assert pages and pages.resolve("@https://a.example/x") == shown.body.strip()
        assert pages.resolve("[1] @https://a.example/x\nS").endswith(f"Title: {shown.title}\nSnippet: S\nDate: N/A")


# Sessions


def prompts() -> Prompts:
    return Prompts(load_spec("search"), PromptOptions(profile="compact", index=load_index("search")))


@cache
def sessions() -> tuple[tuple[Row, Task], ...]:
    config = CollectConfig(profile="compact", controls_share=0.3, max_turns=8)
    recorder = Recorder([load_spec("search")], config, seed=4)
    rows = [row for number in range(8) if (row := recorder.row(number)) is not None]
    return tuple((row, task) for row in rows if (task := task_of(row)) is not None)


def steps() -> Iterator[tuple[Task, str, str]]:
    for row, task in sessions():
        for action, shown in zip(row.actions, row.observations, strict=True):
            yield task, action, shown


def test_what_the_page_reader_shows_is_told_by_its_address_where_the_call_is_not_known() -> None:
    plain = short = reading = referred = 0
    for task, action, shown in steps():
        answer = prompts().answer(task, "", shown)
        assert prompts().read(task, "", answer) == shown
        plain, short = plain + len(shown), short + len(answer)
        if "web_extractor" in action:
            reading, referred = reading + 1, referred + (answer != shown)
    assert short < 0.95 * plain and referred > 0.7 * reading > 0


def test_rows_samples_and_the_bench_write_and_read_the_same() -> None:
    for row, task in sessions()[:3]:
        seen = zip(row.observations, row.actions, strict=True)
        answers = [prompts().answer(task, "", shown, action) for shown, action in seen]
        assert [unescape(text) for text in row.response] == answers
        assert [message["content"] for message in cpt_sample(row, prompts()).messages[2::2]] == [*row.response]
        for turn, answer in zip(row.turns(), answers, strict=True):
            assert observation_meant(turn, prompts(), "", answer) == turn.observations[-1]
            assert bench_row(turn, 1).observation(answer) == turn.observations[-1]
        assert bench_row(row, 1).observation("@nothing of the kind") == "@nothing of the kind"


def test_a_world_shows_what_its_model_refers_to_and_fails_where_nothing_is_there() -> None:
    known, parser = prompts(), ActionParser(load_spec("search"))
    task, action, shown = next(step for step in steps() if known.answer(step[0], "", step[2], step[1]) == "@")
    said = iter(["@nothing:1", "@", "fine"])
    world = LanguageWorld(load_spec("search"), known, ScriptedGenerator(lambda _: next(said)), Sampling())
    (opened,) = world.begin([task], [0])
    assert not isinstance(opened, Failure)
    (failed,) = world.step([opened], [parser.parse(action, task.tools)])
    assert isinstance(failed, Failure) and failed.kind is FailureKind.MALFORMED and failed.retryable
    (found,) = world.step([opened], [parser.parse(action, task.tools)])
    assert isinstance(found, Observation) and found.text == opened.observation == shown
    assert world.messages(opened, parser.parse(action, task.tools))[2]["content"] == "@"
    world.correct(opened, "@")
    assert known.read(task, "", unescape(opened.history[-1]["content"])) == "@"


def test_the_states_last_asked_for_keep_their_references() -> None:
    def state(content: str = "x") -> dict[str, Any]:
        return {"pages": [{"url": "https://a.example/x", "content": content}]}

    first, *others = (state() for _ in range(200))
    found = page_references(first)
    for other in others:
        page_references(other)
    assert page_references(first) is found
    page_references(state("x" * KEPT))
    assert page_references(first) is not found


def test_other_profiles_and_states_that_hold_nothing_have_no_references() -> None:
    task, _, shown = next(steps())
    bare = task.model_copy(update={"state": {}})
    for known, held in ((Prompts(load_spec("search")), task), (prompts(), bare), (prompts(), None)):
        for text in (shown, "@x", "\\@x"):
            assert known.answer(held, "", text) == known.read(held, "", text) == text
    assert page_references({"pages": 3}) is page_references({"pages": [3]}) is None


def test_an_error_names_no_examples_where_the_state_holds_nothing() -> None:
    with pytest.raises(UnknownReference, match="'@lake': expected no reference, as the state holds no texts"):
        TextBlocks({}).resolve("@lake")
