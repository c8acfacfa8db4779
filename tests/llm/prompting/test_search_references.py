"""Searches by reference: the model says what a search is about, and the index of the domain prints what there is."""

from __future__ import annotations

import pickle
from functools import cache
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from search_web import SOME, SPEC, lake

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.base.errors import AnswerError
from agentworld_gym.base.text.escaping import escape
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import Failure, FailureKind, Observation
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines import Controls
from agentworld_gym.core.engines.catalog import load_index
from agentworld_gym.domains.search.engine.machine import SearchMachine
from agentworld_gym.llm.generators.scripted import ScriptedGenerator
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions
from agentworld_gym.llm.rows.rerendering import prompts_for, rendered_turns, task_of
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.worlds.language import LanguageWorld
from agentworld_gym.worlds.language_session import LanguageSession

PAGES = [lake("Lake Orvel"), lake("Lake Tarn"), lake("Big Water")]
QUERY = '{"name": "web_search", "arguments": {"query": "lake orvel"}}'
ORVEL = "[1] https://lakes.example/lake-orvel\nTitle: Lake Orvel - Lakes\nSnippet: Lake Orvel lies in the north."


def prompts() -> Prompts:
    return Prompts(SPEC, PromptOptions(profile="compact", index=load_index("search")))


def task(**fields: Any) -> Task:
    plain = {"domain": "search", "success": [{"answer": {"equals": "Lake Orvel"}}], "state": {"pages": PAGES}}
    return Task(id="lakes", instruction="Which lake?", **{**plain, **fields})


@cache
def recorded(controls: float) -> tuple[Row, ...]:
    config = CollectConfig(profile="compact", controls_share=controls, max_turns=8)
    recorder = Recorder([SPEC], config, seed=4)
    return tuple(row for number in range(8) if (row := recorder.row(number)) is not None)


@pytest.mark.parametrize("controls", [0.0, 1.0])
def test_recorded_steps_come_back_and_searches_are_what_the_call_asks_for(controls: float) -> None:
    searches = 0
    for row in recorded(controls):
        asked = prompts_for(row)
        played = task_of(row)
        assert played is not None
        for turn in rendered_turns(row, asked, played):
            answer = asked.answer(played, turn.screen, turn.observation, turn.action)
            assert asked.read(played, turn.screen, answer, turn.action) == turn.observation
            if turn.observation.startswith("[1] http"):
                searches += 1
                assert answer == "@"
    assert searches


def test_the_index_ranks_what_the_answer_says_whatever_the_call_asks_for() -> None:
    known, played = prompts(), task()
    shown = known.read(played, "", "@? lake orvel", '{"name": "web_search", "arguments": {"query": "big water"}}')
    assert shown.startswith(ORVEL)
    assert known.read(played, "", "@? lake orvel\n@? big water").count("Title: ") == 6
    assert known.answer(played, "", shown, QUERY) == "@"
    assert known.read(played, "", "@", QUERY) == shown
    assert known.answer(played, "", shown).startswith("[1] @https://lakes.example/lake-orvel")


def test_hits_that_the_index_does_not_find_stay_written_out() -> None:
    known, played = prompts(), task()
    shown = ORVEL.replace("north", "south") + "\nDate: N/A"
    assert known.answer(played, "", shown, QUERY) == (
        "[1] @https://lakes.example/lake-orvel\nLake Orvel lies in the south."
    )


def test_an_address_means_what_the_page_reader_shows_there() -> None:
    known, played = prompts(), task()
    for url, shown in (
        ("https://lakes.example/lake-orvel", "# Lake Orvel\n\nLake Orvel lies in the north."),
        ("https://lakes.example/nothing", "Error: HTTP 404 Not Found for https://lakes.example/nothing"),
        ("https://nowhere.example/", "Error: could not resolve host nowhere.example"),
    ):
        opens = f'{{"name": "web_extractor", "arguments": {{"url": "{url}"}}}}'
        assert known.read(played, "", f"@{url}") == shown
        assert known.answer(played, "", shown, opens) == "@"
        assert known.read(played, "", "@", opens) == shown


NOTES = '{"name": "dict_memory", "arguments": {"operation": "add", "dict": {"depth": "112 m", "coast": "long {so}"}}}'


@pytest.mark.parametrize(
    ("shown", "answer"),
    [
        ("Successfully added items of ['depth', 'coast'] to memory.", "Successfully added items of {keys} to memory."),
        ("Successfully updated items of ['coast'] in memory.", "Successfully updated items of ['{key/1}'] in memory."),
        ("depth: 112 m", "{key}: 112 m"),
        ("Key not found", "Key not found"),
        ("a brace } and {key}", "a brace }} and {{key}}"),
    ],
)
def test_answers_about_notes_name_the_keys_of_the_call(shown: str, answer: str) -> None:
    assert prompts().answer(task(), "", shown, NOTES) == answer
    assert prompts().read(task(), "", answer, NOTES) == shown


@pytest.mark.parametrize(("answer", "action"), [("@", NOTES), ("@", None), ("{name}", NOTES), ("}", NOTES)])
def test_what_the_call_does_not_give_cannot_be_read(answer: str, action: str | None) -> None:
    with pytest.raises(AnswerError):
        prompts().read(task(), "", answer, action)


CONTROLS = ["misleading-snippets", "stale-data", "incomplete-results", "pagination"]


@pytest.mark.parametrize("name", CONTROLS)
def test_controls_strike_in_the_index_as_they_do_in_the_engine(name: str) -> None:
    hidden = {"answer": "north", "wrong": ["south"]}
    played = task(controls={name: 0.7}, control_seed=9, hidden=hidden)
    state = {"pages": PAGES}
    machine = SearchMachine.start(state, 0, Controls({name: 0.7}, 9), hidden)
    for query in ("lake", "lake orvel", "big water"):
        shown = machine.act({"name": "web_search", "arguments": {"query": query}})
        assert prompts().read(played, "", f"@? {query}") == shown
    shown = machine.act({"name": "web_extractor", "arguments": {"url": PAGES[1]["url"]}})
    assert prompts().read(played, "", f"@{PAGES[1]['url']}") == shown


@pytest.mark.parametrize("answer", ["@? a\n" * 6 + "@? a", "@? a\n\nand more", "@? a\n[2] @x", "@? "])
def test_a_search_of_too_many_queries_or_of_anything_else_cannot_be_read(answer: str) -> None:
    with pytest.raises(AnswerError):
        prompts().read(task(), "", answer)


LINES = [
    "@",
    "{key}",
    "depth",
    "@? lake",
    "@https://lakes.example/lake-orvel",
    "\\@? lake",
    "",
    "x",
    *ORVEL.split("\n"),
]


@given(
    st.lists(st.sampled_from(LINES)).map("\n".join),
    st.sampled_from(
        [QUERY, NOTES, None, "not JSON", '{"arguments": {"url": "https://lakes.example/lake-orvel"}}', "[1]"]
    ),
    st.sampled_from([{}, {"stale-data": 1.0}]),
)
@example("@? lake orvel", QUERY, {})
@example("@", None, {})
@example("# Lake Orvel\n\nLake Orvel lies in the north.", None, {"stale-data": 1.0})
def test_every_text_comes_back(text: str, action: str | None, controls: dict[str, float]) -> None:
    known, played = prompts(), task(controls=controls)
    assert known.read(played, "", known.answer(played, "", text, action), action) == text


def test_the_world_prints_hits_without_its_engine_and_fails_on_what_is_no_search(monkeypatch: Any) -> None:
    def acted(*_: Any) -> None:
        raise AssertionError("a language world asked the engine")

    monkeypatch.setattr(SearchMachine, "start", acted)
    monkeypatch.setattr(SearchMachine, "act", acted)
    said = iter(["@? lake orvel\n@? ", "@? lake orvel", "@https://lakes.example/lake-orvel"])
    world = LanguageWorld(SPEC, prompts(), ScriptedGenerator(lambda _: escape(next(said))), Sampling())
    (session,) = world.begin([task()], [0])
    assert isinstance(session, LanguageSession)
    parser = ActionParser(SPEC)
    (failed,) = world.step([session], [parser.parse(QUERY)])
    assert isinstance(failed, Failure) and failed.kind is FailureKind.MALFORMED and failed.retryable
    (found,) = world.step([session], [parser.parse(QUERY)])
    assert isinstance(found, Observation) and found.text.startswith(ORVEL)
    assert session.history[-1]["content"] == escape("@")
    assert {"bm25s", "scenarios"} <= set(world.fingerprint.parts)


def test_a_world_draws_its_controls_from_the_episode_where_they_have_no_seed_of_their_own() -> None:
    world = LanguageWorld(SPEC, prompts(), ScriptedGenerator(lambda _: "@? lake"), Sampling())
    sessions = world.begin([task(controls={"stale-data": 0.5})] * 2, [5, 6])
    assert [session.task.control_seed for session in sessions if isinstance(session, LanguageSession)] == [5, 6]


def test_pages_that_the_index_prints_are_named_in_the_prompt_and_not_told_unless_a_control_is_in_force() -> None:
    text = "Lake Orvel lies in the north."
    assert text not in prompts().system(task()) and "https://lakes.example/lake-orvel" in prompts().system(task())
    assert text in prompts().system(task(), {"stale-data": 1.0})
    assert text in Prompts(SPEC, PromptOptions(profile="compact")).system(task())


def test_a_state_that_no_engine_starts_from_is_told_and_referred_to_as_before() -> None:
    told = task(state={"pages": PAGES, "weather": "rain"})
    assert "Lake Orvel lies in the north." in prompts().system(told)
    with pytest.raises(AnswerError):
        prompts().read(told, "", "@? lake")


def test_prompts_with_an_index_are_pickled_and_have_a_digest_of_their_own() -> None:
    twin = pickle.loads(pickle.dumps(prompts()))
    assert twin.digest == prompts().digest != Prompts(SPEC, PromptOptions(profile="compact")).digest
    assert twin.read(task(state=SOME), "", "@? harbour").startswith("[1] ")
