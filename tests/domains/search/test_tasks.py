"""Generated search tasks: solvable by their expert, by nothing less, and proved by the pages of their world."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.agents.policies.following import play
from agentworld_gym.agents.policies.scripted import menu_policy
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.checks.checks import output_of
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task, load_task, split_of, split_seed
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.core.tasks.control_cases import control_cases
from agentworld_gym.core.tasks.family import MENU_MIN
from agentworld_gym.domains.search.engine.answer_leaks import LeakDetector
from agentworld_gym.domains.search.engine.fictional_world import build_world
from agentworld_gym.domains.search.engine.machine import SearchMachine
from agentworld_gym.domains.search.engine.state import Hidden
from agentworld_gym.domains.search.engine.theme import load_theme, theme_names
from agentworld_gym.domains.search.tasks.questions import WORLDS, ProvedQuestion, ask, pose
from agentworld_gym.envs.options import EnvOptions

FAMILIES = sorted(families("search"))
HANDWRITTEN = sorted((Path(__file__).parents[3] / "domain_specs" / "tasks" / "search").glob("*.yaml"))
SEEDS = range(3)
OUTPUT = re.compile(load_spec("search").observation.output or "")

every_level = pytest.mark.parametrize(("family", "level"), [(f, level) for f in FAMILIES for level in (1, 2, 3)])
every_theme = pytest.mark.parametrize("theme", theme_names())
every_handwritten = pytest.mark.parametrize("path", HANDWRITTEN, ids=lambda path: path.stem)
any_task = st.builds(generate, st.just("search"), st.sampled_from(FAMILIES), st.integers(1, 3), st.integers(0, 10**6))

Look = Callable[[str, str], None]


def score(task: Task, actions: Iterable[str], look: Look = lambda action, shown: None) -> float:
    """The weighted share of the checks that hold after some actions; `look` is shown each action and what it gave."""
    machine = SearchMachine.start(task.state, 0, hidden=task.hidden)
    done: list[str] = []
    answer = ""
    for action in actions:
        if action.startswith("finish"):
            answer = action.removeprefix("finish:").strip()
            break
        look(action, machine.act(json.loads(action)))
        done.append(action)
    passed = 0.0
    for check in task.success:
        if check.answer is not None:
            passed += check.weight * check.answer.score(answer)
        elif check.action is not None:
            passed += check.weight * any(map(check.action.holds, done))
        else:
            assert check.probe is not None and check.expect is not None
            shown = machine.fork().act(json.loads(check.probe))
            passed += check.weight * check.expect.score(output_of(shown, OUTPUT))
    return round(passed / sum(check.weight for check in task.success), 9)


def results(shown: str) -> list[str]:
    """Address, title and snippet of each hit."""
    return re.findall(r"^\[\d+\] (\S+\nTitle: .*\nSnippet: .*)$", shown, re.MULTILINE)


class Watch:
    """Tests a walk: no result tells the answer, and every page that is opened has been found before."""

    def __init__(self, task: Task) -> None:
        self.guard, self.found, self.searches = LeakDetector(Hidden.of(task.hidden).secrets), "", 0

    def __call__(self, action: str, shown: str) -> None:
        name, arguments = json.loads(action).values()
        if name == "web_search":
            self.searches += 1
            self.found += shown
            assert results(shown)
            assert not [hit for hit in results(shown) if self.guard.leaks(hit)]
        elif name == "web_extractor":
            assert f"{arguments['url']}\n" in self.found
            assert shown.startswith("# ")


@every_level
def test_expert_finds_everything_and_the_start_is_worth_nothing(family: str, level: int) -> None:
    for seed in SEEDS:
        task = generate("search", family, level, seed)
        watch = Watch(task)
        assert score(task, []) == score(task, ["finish"]) == 0.0, task.id
        assert score(task, task.expert, watch) == 1.0, task.id
        assert watch.searches >= level


@every_level
def test_neither_the_note_nor_the_answer_is_enough(family: str, level: int) -> None:
    task = generate("search", family, level, 6)
    notes = [action for action in task.expert if "dict_memory" in action]
    assert len(notes) == 1
    assert 0 < score(task, [action for action in task.expert if action not in notes]) < 1
    for action in task.menu:
        if action.startswith("finish") and action != task.expert[-1]:
            assert score(task, [*notes, action]) < 1, action


def test_random_choices_seldom_succeed() -> None:
    won = tried = 0
    for family in FAMILIES:
        for level in (1, 2, 3):
            for seed in range(2):
                task = generate("search", family, level, seed)
                for walk in range(5):
                    tried += 1
                    won += score(task, menu_policy(task, random.Random(walk))) == 1.0
    assert tried == 300 and won < tried / 14


@settings(max_examples=40, deadline=None)
@given(any_task)
def test_shape_of_a_task(task: Task) -> None:
    assert Task.model_validate(task.model_dump()) == task
    assert task.seed is not None and task.split == split_of(task.seed)
    assert task.expert[-1].startswith("finish: ") and len(task.expert) >= 2 * task.level + 2
    assert MENU_MIN <= 12 <= len(task.menu) <= 16 and len(set(task.menu)) == len(task.menu)
    assert set(task.expert) <= set(task.menu)
    assert sum(action.startswith("finish: ") for action in task.menu) >= 4
    assert sum(check.weight for check in task.success) == pytest.approx(1)
    urls = [page["url"] for page in task.state["pages"]]
    assert urls == sorted(urls) and set(task.hidden["proof"]) < set(urls)
    assert not LeakDetector(Hidden.of(task.hidden).secrets).leaks(task.hidden["question"])


@settings(max_examples=30, deadline=None)
@given(any_task)
def test_no_world_is_in_two_splits(task: Task) -> None:
    assert split_of(task.state["seed"]) == task.split


def test_the_worlds_of_a_split_are_bounded() -> None:
    for split, count in WORLDS.items():
        assert {split_of(split_seed(split, index)) for index in range(count)} == {split}


@settings(max_examples=25, deadline=None)
@given(any_task)
def test_the_pages_of_a_task_are_those_of_its_world(task: Task) -> None:
    world = {page.url: page for page in build_world(task.state["theme"], task.state["seed"]).pages}
    for page in task.state["pages"]:
        same = world[page["url"]]
        assert (page["title"], page["date"], page["content"] + "\n") == (same.title, same.date, same.body)


def asked(family: str, hops: int, seed: int) -> ProvedQuestion:
    return ask(random.Random(f"{family}/{hops}/{seed}"), "train", family, hops)


def names(question: ProvedQuestion) -> list[str]:
    """The things on the way to what a question is about, by name, that one last."""
    theme, tables = question.world.recipe, question.world.tables()
    found = []
    for stop in question.stops[: question.hops]:
        recipe, _, row = stop.page.key.partition("/")
        table = theme.pages[recipe].of
        assert table is not None
        found.append(str(tables[table][int(row) - 1][theme.tables[table].label]))
    return [*found, question.subject]


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_each_page_on_the_way_leads_to_the_next_and_none_leads_past_it(hops: int) -> None:
    """A question names its first thing only; each further name stands on the page before, and nowhere earlier."""
    for seed in range(12):
        question = asked("lookup", hops, seed)
        way = names(question)
        assert way[0] in question.text
        for position, (stop, name) in enumerate(zip(question.stops, way[1:], strict=False)):
            assert name in stop.page.body
            assert name not in question.text
            assert name in question.stops[position + 1].query
        for first, third in zip(way, way[2:], strict=False):
            assert not [page.url for page in question.world.pages if first in page.body and third in page.body]


@every_level
def test_a_third_level_has_six_steps_that_need_each_other(family: str, level: int) -> None:
    """Search and page in turns: a page stands in the results of the search before, a search names what a page told."""
    if level == 3:
        task = generate("search", family, 3, 2)
        plan = [json.loads(action) for action in task.expert[:-1]]
        tools = [step["name"] for step in plan if step["name"] != "dict_memory"]
        assert tools[:6] == ["web_search", "web_extractor"] * 3 or "queries" in plan[5]["arguments"]
        assert len(plan) >= 6


@pytest.mark.parametrize("family", sorted({*FAMILIES} - {"bridge"}))
def test_the_answer_is_what_sql_says_and_the_pages_prove_it(family: str) -> None:
    for seed in range(6):
        question = asked(family, seed % 2, seed)
        rows = question.world.connect().execute(question.sql).fetchall()
        cells = [f"{cell:.12g}" if isinstance(cell, float) else str(cell) for row in rows for cell in row]
        assert question.expect.holds(question.answer)
        assert [part.strip() for part in re.split(r"[;|]", question.answer)] == cells
        assert not any(question.expect.holds(answer) for answer in question.wrong)
        if family in ("lookup", "superlative", "intersection", "listing", "wide_table"):
            last = question.stops[-1].page.body.replace(",", "")
            assert all(cell in last for cell in cells), (question.text, cells)


@pytest.mark.parametrize("family", ["listing", "wide_table"])
def test_the_right_list_is_not_told_by_what_the_offers_have_in_common(family: str) -> None:
    """Of six offers, chance finds one in six; the one that resembles the others most is right no more often."""
    found = 0
    for seed in range(60):
        task = generate("search", family, 1, seed)
        offers = [action for action in task.menu if action.startswith("finish: ")]
        parts = [set(offer.removeprefix("finish: ").split("; ")) for offer in offers]
        nearest = max(
            range(len(offers)), key=lambda n: sum(len(parts[n] & part) / len(parts[n] | part) for part in parts)
        )
        found += offers[nearest] == task.expert[-1]
    assert found <= 24


def test_an_agent_reads_first_what_is_named_in_its_question() -> None:
    """The answer stands on the last of ten results, whose title has fewer words of the question than others have."""
    task = generate("search", "listing", 1, 1065087)
    case = next(case for case in control_cases("search") if case.control == "truncated-output")
    runner = EnvOptions(spec="search", max_steps=60).runner()
    options = {"task": task.model_dump(), "controls": {case.control: case.strength}}
    success, _ = play(runner, case.aware, 785432, options)
    assert success
    runner.close()


@every_theme
def test_every_pattern_of_a_theme_gives_questions(theme: str) -> None:
    for question in load_theme(theme).questions:
        rng = random.Random(question.ask[0])
        posed = (pose(rng, build_world(theme, split_seed("train", n % 4)), question, 0) for n in range(300))
        found = next((one for one in posed if one is not None), None)
        assert found is not None, question.ask[0]
        assert len(found.wrong) >= 5 and found.subject not in found.others
        assert not re.search(r"[{}]|\bNone\b", found.text)


@pytest.mark.parametrize(
    "change",
    [{"answer": "SELECT colour FROM harbours"}, {"ask": ("How deep is {harbour}?",)}, {"values": "SELEKT 1"}],
)
def test_a_broken_pattern_names_its_theme(change: dict[str, Any]) -> None:
    world = build_world("harbours", 0)
    question = next(question for question in world.recipe.questions if question.key == "depth")
    with pytest.raises(SpecError, match=r"theme\.yaml: questions \(depth\)"):
        pose(random.Random(1), world, question.model_copy(update=change), 0)


@every_theme
def test_every_route_of_a_theme_is_told_by_its_page(theme: str) -> None:
    world = build_world(theme, 2)
    recipe, tables = world.recipe, world.tables()
    pages = {page.key: page for page in world.pages}
    for route in recipe.routes:
        target = recipe.target(route)
        told = 0
        for row in tables[route.start]:
            page = pages.get(f"{route.page}/{row['id']}")
            if page is not None:
                assert str(tables[target][row[route.by] - 1][recipe.tables[target].label]) in page.body
                told += 1
        assert told >= 6, route.phrase


@every_theme
def test_a_theme_asks_in_most_ways(theme: str) -> None:
    asks = {question.family for question in load_theme(theme).questions}
    assert asks <= {*FAMILIES}
    assert len(asks) >= 8


@every_handwritten
def test_handwritten_tasks(path: Path) -> None:
    task = load_task(path, "search")
    watch = Watch(task)
    assert score(task, []) == score(task, ["finish"]) == 0.0
    assert score(task, task.expert, watch) == 1.0
    assert watch.searches
    for action in task.menu:
        if action.startswith("finish") and action != task.expert[-1]:
            assert score(task, [*task.expert[:-1], action]) < 1
    won = sum(score(task, menu_policy(task, random.Random(seed))) == 1.0 for seed in range(40))
    assert won <= 8


@every_handwritten
def test_handwritten_tasks_agree_with_their_world(path: Path) -> None:
    state = load_task(path, "search").state
    if "theme" in state:
        world = {page.url: page for page in build_world(state["theme"], state["seed"]).pages}
        for page in state["pages"]:
            assert page["content"].strip() == world[page["url"]].body.strip()
            assert page["title"] == world[page["url"]].title


def test_there_are_handwritten_tasks() -> None:
    assert len(HANDWRITTEN) >= 11
