"""References: exact for every text, short where engines show what the state holds, and read the same everywhere."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentworld_gym.actions.parser import ActionParser
from agentworld_gym.contracts import Failure, FailureKind, Observation
from agentworld_gym.domain.sampling import Sampling
from agentworld_gym.domain.spec import load_spec
from agentworld_gym.domain.task import Task
from agentworld_gym.engines.catalog import load_index
from agentworld_gym.engines.search.state import StatedPage
from agentworld_gym.engines.swe import SweEngine
from agentworld_gym.errors import AnswerError
from agentworld_gym.generators.scripted import ScriptedGenerator
from agentworld_gym.judging.bench_rows import bench_row
from agentworld_gym.prompting.prompt import Prompts
from agentworld_gym.prompting.references import (
    REFERRING_DOMAINS,
    Hit,
    TableRows,
    TextBlocks,
    UnknownReference,
    references_of,
)
from agentworld_gym.prompting.references.contract import LONGEST
from agentworld_gym.prompting.references.task_state import KEPT
from agentworld_gym.recipe.collect.config import CollectConfig
from agentworld_gym.recipe.collect.recorder import Recorder
from agentworld_gym.recipe.data.samples_from_rows import cpt_sample
from agentworld_gym.sessions.rerendering import observation_meant, task_of
from agentworld_gym.sessions.row import Row
from agentworld_gym.text.escaping import escape, unescape
from agentworld_gym.worlds.language import LanguageWorld

SHARES = {"mcp": 0.8, "search": 0.95, "swe": 0.85}
"""What is left of the characters, at most."""

READING = {"mcp": "-get_", "search": "web_extractor", "swe": "read_file"}
"""In the names of the tools that show what the state holds."""

FRUIT = TextBlocks(
    {
        "fruit": ("apples", "pears", "melons", "figs", "plums"),
        "twice": ("north", "south", "east"),
        "again": ("north", "south", "east"),
    },
    {"https://a.example/x": Hit("X", "2024-05-11")},
)
SHOP = TableRows(
    {
        "orders": [
            {"id": 7, "item": "lamp é", "total": 38.4, "sent": None},
            {"id": 8, "item": "bulb", "total": 4, "sent": True},
        ],
        "parts": [{"order_id": 7, "n": 1, "name": "foot"}, {"order_id": 7, "n": 2, "name": "shade"}],
        "odd names": [{"id": 1, "item": "rod"}],
    }
)


# The law

WORDS = st.sampled_from(
    ["@", "\\", "a", "b", ":1-3", "Output: ", "[1] ", "\n", "x\ny\nz", "Title: ", "{", "}", '"', "="]
)
TEXTS = st.text(max_size=20) | st.lists(WORDS, max_size=12).map("".join)
NAMES = st.sampled_from(["a", "b", "a:1-3", "x y", "@", ""]) | st.text(max_size=4)
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=3)
COLUMNS = st.sampled_from(["id", "name", "an odd one", "ü", "~"])
ROWS = st.lists(st.dictionaries(COLUMNS, SCALARS | st.lists(SCALARS, max_size=2), max_size=4), max_size=4)
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(COLUMNS, inner, max_size=4))


def said_of(known: TextBlocks) -> list[str]:
    return [*known._blocks, *("\n".join(lines) for lines in known._blocks.values())]


@settings(max_examples=300)
@given(text=TEXTS, texts=st.dictionaries(NAMES, TEXTS, max_size=4), data=st.data())
def test_any_text_comes_back_whatever_blocks_there_are(text: str, texts: dict[str, str], data: st.DataObject) -> None:
    known = TextBlocks(
        {name: held.split("\n") for name, held in texts.items()}, {name: Hit(name, "N/A") for name in texts}
    )
    shown = data.draw(
        st.lists(st.sampled_from([text, *said_of(known), "Snippet: @", "Date: N/A", "[1] a"]), max_size=6)
    )
    for one in (text, "\n".join(shown), known.refer(text)):
        assert known.resolve(known.refer(one)) == one


@settings(max_examples=300)
@given(text=TEXTS, data=JSON, tables=st.dictionaries(st.sampled_from(["t", "orders", "odd name"]), ROWS))
@example(text='[{"id": 1e3}, {"id": 1.0}]', data={"id": 1.0}, tables={"t": [{"id": 1}, {"id": 1.0, "name": True}]})
@example(text="[" * 900, data=None, tables={})
@example(text='{"a": "\\', data={"id": 1, "name": [{"id": 1, "name": 2}]}, tables={"t": [{"id": 1, "name": 2}]})
def test_any_text_comes_back_whatever_rows_there_are(text: str, data: Any, tables: dict[str, Any]) -> None:
    known = TableRows(tables)
    rows = [row for held in tables.values() for row in held]
    for shown in (data, rows, {"rows": rows, "count": len(rows)}, [{**row, "more": data} for row in rows]):
        for one in (text, json.dumps(shown, ensure_ascii=False), json.dumps(shown), known.refer(json.dumps(shown))):
            assert known.resolve(known.refer(one)) == one


@given(text=TEXTS | st.text('@~{}[]":=,orders7id \\\n'))
@example(text="[" * 90 + "@orders:7")
@example(text="[1] @https://a.example/x")
def test_whatever_is_read_is_a_text_or_a_typed_error(text: str) -> None:
    for known in (FRUIT, SHOP):
        try:
            assert isinstance(known.resolve(text), str)
        except AnswerError as error:
            assert isinstance(error, UnknownReference) and str(pickle.loads(pickle.dumps(error))) == str(error)


# The bound


def test_references_stand_for_so_many_characters_and_no_more() -> None:
    known = TextBlocks({"half": ("x" * (LONGEST // 2),), "rest": ("y" * (LONGEST - LONGEST // 2),)})
    assert len(known.resolve("@half\nand\n@rest")) == LONGEST + len("\nand\n")
    for text in ("@half\n@half\n@half", "@half\n" * 10**5):
        with pytest.raises(UnknownReference, match="at most 1_000_000 characters"):
            known.resolve(text)


def doubled(times: int) -> str:
    """A list in which the fields of an item, repeated by the next one, hold such a list again."""
    text = "1"
    for _ in range(times):
        text = f"[@orders:7{{n={text}}}, @orders:8{{~}}]"
    return text


def test_fields_that_repeat_fields_stop_at_the_bound() -> None:
    assert SHOP.resolve(doubled(2)) == '[{"n": [{"n": 1}, {"n": 1}]}, {"n": [{"n": 1}, {"n": 1}]}]'
    for text in (doubled(28), doubled(10).replace("1}", '"' + "x" * 1000 + '"}', 1)):
        with pytest.raises(UnknownReference, match="at most 1_000_000 characters"):
            SHOP.resolve(text)


@pytest.mark.parametrize("spare", [-1, 0])
def test_what_is_counted_is_the_text(spare: int) -> None:
    short = '{"rows": [@orders:7, @orders:8{id,odd=[],"more"={}}, []], "text": "%s"}'
    full = (
        '{"rows": [{"id": 7, "item": "lamp é", "total": 38.4, "sent": null}, {"id": 8, "odd": [], "more": {}}, []], '
        '"text": "%s"}'
    )
    text = "x" * (LONGEST - len(full % "") - spare)
    if spare < 0:
        with pytest.raises(UnknownReference, match="at most"):
            SHOP.resolve(short % text)
    else:
        assert SHOP.resolve(short % text) == full % text


@pytest.mark.parametrize("count", [LONGEST, LONGEST + 1])
def test_longer_texts_are_written_without_references(count: int) -> None:
    lines = ("apples", "@", "x" * (count - len("apples\n@\n")))
    known = TextBlocks({"long": lines})
    text = "\n".join(lines)
    assert known.refer(text) == ("@long" if count == LONGEST else text.replace("@", "\\@"))
    assert known.resolve(known.refer(text)) == text
    row = {"id": 7, "text": "x" * (count - len('{"id": 7, "text": ""}'))}
    assert TableRows({"t": [row]}).refer(json.dumps(row)) == ("@t:7" if count == LONGEST else json.dumps(row))


def test_a_string_that_never_ends_is_read_once() -> None:
    text = '["' + '\\"' * 400_000
    assert SHOP.refer(text) == text
    assert SHOP.refer(text + "@") == "\\" + text + "@"  # no string, as nothing ends it


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
    text = "Fruit:\npears\nmelons\nfigs\nplums\nOutput: apples\npears\nmelons\nfigs\nplums\n@"
    assert FRUIT.refer(text) == "Fruit:\n@fruit:2-5\nOutput: @fruit\n\\@"
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


def test_blocks_are_what_the_engines_show() -> None:
    lines = ["import os", "", "x" * 2000, "y = '@'"]
    state = {"files": {"/repo/a.py": "\n".join(lines) + "\n"}}
    files = references_of("swe", state)
    read = {"name": "read_file", "arguments": {"absolute_path": "/repo/a.py"}}
    machine = SweEngine("monty").start(state, 0)
    assert files and files.resolve("@/repo/a.py") == machine.act(read)
    assert files.resolve("@#/repo/a.py") == machine.observation_in("claude-code")
    assert files.resolve("Output: @/repo/a.py:2-4") == "Output: " + "\n".join(lines[1:])
    assert files.resolve("@=/repo/a.py:2-4") == "\n".join(lines[1:])
    for content in ("# Lake\n\nDeep.\n", "Deep.\n"):
        page = {"url": "https://a.example/x", "title": " A  lake", "content": content}
        shown = StatedPage.model_validate(page).page()
        pages = references_of("search", {"pages": [page]})
        assert pages and pages.resolve("@https://a.example/x") == shown.body.strip()
        assert pages.resolve("[1] @https://a.example/x\nS").endswith(f"Title: {shown.title}\nSnippet: S\nDate: N/A")


# Rows


@pytest.mark.parametrize(
    ("shown", "short"),
    [
        ({"id": 7, "item": "lamp é", "total": 38.4, "sent": None}, "@orders:7"),
        ({"id": 7, "total": 39.9, "item": "lamp é"}, "@orders:7{id,total=39.9,item}"),
        ({"id": 8, "sent": 1}, "@orders:8{id,sent=1}"),
        ({"id": 9, "item": "bulb", "total": 4}, '{"id": 9, "item": "bulb", "total": 4}'),
        ({"item": "bulb", "total": 4}, "@orders:8{item,total}"),
        ({"item": "bulb", "odd key": 4}, '{"item": "bulb", "odd key": 4}'),
        ({"id": 8, "item": "bulb", "odd key": 4}, '@orders:8{id,item,"odd key"=4}'),
        ({"order_id": 7, "n": 2}, "@parts:7/2{order_id,n}"),
        ({"order_id": 7, "all": 2}, '{"order_id": 7, "all": 2}'),  # two rows are as like
        ({"n": 2, "name": "shade"}, '{"n": 2, "name": "shade"}'),  # of no order
        ({"id": 1, "item": "rod"}, '{"id": 1, "item": "rod"}'),
        (
            {"order_id": 7, "parts": [{"n": 1, "name": "foot"}, {"n": 2, "name": "bulb"}]},
            '{"order_id": 7, "parts": [@parts:7/1{n,name}, @parts:7/2{n,name="bulb"}]}',
        ),
        ({"rows": [{"id": 7, "total": 1}, {"id": 8, "total": 1}]}, '{"rows": [@orders:7{id,total=1}, @orders:8{~}]}'),
    ],
)
def test_an_object_is_written_as_the_row_it_shows(shown: Any, short: str) -> None:
    text = json.dumps(shown, ensure_ascii=False)
    assert SHOP.refer(text) == short
    assert SHOP.resolve(short) == text


@pytest.mark.parametrize("text", ["@orders:7", '{"order": @orders:7}', "\\@orders:7", '[@"', "\\\\[@]", "@ noon"])
def test_what_looks_like_a_reference_to_a_row_comes_back_with_a_backslash(text: str) -> None:
    assert SHOP.refer(text) == "\\" + text
    assert SHOP.resolve("\\" + text) == text


@pytest.mark.parametrize(
    "wrong",
    [
        "@orders:9",
        "@none:1",
        "@orders:7{none}",
        "@orders:7{id",
        "@orders:7 and",
        "[@orders:7{~}]",
        '{"a":@orders:7}',
        "@",
    ],
)
def test_a_row_that_is_not_there_is_an_error(wrong: str) -> None:
    with pytest.raises(UnknownReference, match="the reference"):
        SHOP.resolve(wrong)


# Sessions


@cache
def sessions(domain: str) -> tuple[tuple[Row, Task], ...]:
    config = CollectConfig(profile="compact", controls_share=0.3, max_turns=8)
    recorder = Recorder([load_spec(domain)], config, seed=4)
    rows = [row for number in range(8) if (row := recorder.row(number)) is not None]
    return tuple((row, task) for row in rows if (task := task_of(row)) is not None)


def steps(domain: str) -> Iterator[tuple[Row, Task, str, str]]:
    for row, task in sessions(domain):
        for action, shown in zip(row.actions, row.observations, strict=True):
            yield row, task, action, shown


@pytest.mark.parametrize("domain", sorted(REFERRING_DOMAINS))
def test_recorded_observations_come_back_and_are_shorter(domain: str) -> None:
    prompts = Prompts(load_spec(domain), profile="compact")
    plain = short = reading = referred = 0
    for _, task, action, shown in steps(domain):
        answer = prompts.answer(task, "", shown)
        assert prompts.read(task, "", answer) == shown
        plain, short = plain + len(shown), short + len(answer)
        if READING[domain] in action:
            reading, referred = reading + 1, referred + (answer != shown)
    print(f"{domain}: {short / plain:.2f} of {plain} characters, {referred} of {reading} answers of {READING[domain]}")
    assert short < SHARES[domain] * plain and referred > 0.7 * reading > 0


@pytest.mark.parametrize("domain", sorted(REFERRING_DOMAINS))
def test_rows_samples_and_the_bench_write_and_read_the_same(domain: str) -> None:
    prompts = Prompts(load_spec(domain), profile="compact", index=load_index(domain))
    for row, task in sessions(domain)[:3]:
        seen = zip(row.observations, row.actions, strict=True)
        answers = [prompts.answer(task, "", shown, action) for shown, action in seen]
        assert [unescape(text) for text in row.response] == answers
        assert [message["content"] for message in cpt_sample(row, prompts).messages[2::2]] == [*row.response]
        for turn, answer in zip(row.turns(), answers, strict=True):
            assert observation_meant(turn, prompts, "", answer) == turn.observations[-1]
            assert bench_row(turn, 1).observation(answer) == turn.observations[-1]
        assert bench_row(row, 1).observation("@nothing of the kind") == "@nothing of the kind"


@pytest.mark.parametrize("domain", sorted(REFERRING_DOMAINS))
def test_a_world_shows_what_its_model_refers_to_and_fails_where_nothing_is_there(domain: str) -> None:
    spec = load_spec(domain)
    prompts, parser = Prompts(spec, profile="compact"), ActionParser(spec)
    _, task, action, shown = next(step for step in steps(domain) if "@" in prompts.answer(step[1], "", step[3]))
    answer = prompts.answer(task, "", shown)
    said = iter(["@nothing:1", escape(answer), "fine"])
    world = LanguageWorld(spec, prompts, ScriptedGenerator(lambda _: next(said)), Sampling())
    (opened,) = world.begin([task], [0])
    assert not isinstance(opened, Failure)
    (failed,) = world.step([opened], [parser.parse(action, task.tools)])
    assert isinstance(failed, Failure) and failed.kind is FailureKind.MALFORMED and failed.retryable
    (found,) = world.step([opened], [parser.parse(action, task.tools)])
    assert isinstance(found, Observation) and found.text == opened.observation == shown
    assert world.messages(opened, parser.parse(action, task.tools))[2]["content"] == escape(answer)
    world.correct(opened, "@")
    assert prompts.read(task, "", unescape(opened.history[-1]["content"])) == "@"


def test_the_states_last_asked_for_keep_their_references() -> None:
    first, *others = ({"files": {"/a": "x"}} for _ in range(200))
    found = references_of("swe", first)
    for state in others:
        references_of("swe", state)
    assert references_of("swe", first) is found
    references_of("swe", {"files": {"/a": "x" * KEPT}})
    assert references_of("swe", first) is not found


@pytest.mark.parametrize("domain", sorted(REFERRING_DOMAINS))
def test_other_profiles_and_states_that_hold_nothing_have_no_references(domain: str) -> None:
    _, task, _, shown = next(steps(domain))
    bare = task.model_copy(update={"state": {}})
    full, compact = (Prompts(load_spec(domain), profile=profile) for profile in ("full", "compact"))
    for prompts, held in ((full, task), (compact, bare), (compact, None)):
        for text in (shown, "@x", "\\@x"):
            assert prompts.answer(held, "", text) == prompts.read(held, "", text) == text
    for state in ({"tables": 3, "pages": 3, "files": 3}, {"tables": {"t": 3}, "pages": [3], "files": {"/a": 3}}):
        assert references_of(domain, state) is None


def test_an_error_names_no_examples_where_the_state_holds_nothing() -> None:
    with pytest.raises(UnknownReference, match="'@lake': expected no reference, as the state holds no texts"):
        TextBlocks({}).resolve("@lake")
