"""Explorers: agents without an aim, that try what can be done in a task."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.agents.collect.config import CollectConfig, PolicyName
from agentworld_gym.agents.collect.policies import policy_shares
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.agents.collect.recording_file import collect
from agentworld_gym.agents.policies.exploring import (
    OfferedExplorer,
    explore,
    explore_beside,
    explorer,
    explorer_names,
)
from agentworld_gym.agents.policies.following import follow
from agentworld_gym.agents.policies.scripted import mixed_policy
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import ActionKind
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task, load_task
from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.envs.env import AgentWorldEnv
from agentworld_gym.llm.rows.row import Row

SPECS = Path(__file__).resolve().parents[3] / "domain_specs"
DOMAINS = sorted(explorer_names())
HANDWRITTEN = [path for domain in DOMAINS for path in sorted((SPECS / "tasks" / domain).glob("*.yaml"))]

every_domain = pytest.mark.parametrize("domain", DOMAINS)


@cache
def world(domain: str) -> AgentWorldEnv:
    return AgentWorldEnv(spec=domain, world="grounded")


def went(task: Task, actions: ActionStream) -> list[tuple[str, str]]:
    """The actions of a stream, and what each of them showed."""
    env = world(task.domain)
    env.reset(seed=0, options={"task": task.model_copy(update={"max_steps": 60})})
    turns: list[tuple[str, str]] = []

    def watched() -> ActionStream:
        action = next(actions, None)
        while action is not None:
            try:
                shown = yield action
            except Exception as error:
                follow_up = actions.throw(error)
            else:
                turns.append((action, shown))
                try:
                    follow_up = actions.send(shown)
                except StopIteration:
                    return
            action = follow_up

    follow(env, watched())
    return turns


@cache
def sessions(domain: str, policy: PolicyName, count: int) -> tuple[Row, ...]:
    recorder = Recorder([load_spec(domain)], CollectConfig(policies={policy: 1.0}, probe_share=0.0), seed=3)
    return tuple(row for number in range(count) if (row := recorder.row(number)) is not None)


def played(row: Row) -> Task:
    assert row.seed is not None and row.level is not None
    return generate(row.domain, row.family, row.level, row.seed)


def actions(domain: str) -> Iterator[tuple[str, str]]:
    for row in sessions(domain, "explore", 6):
        yield from zip(row.actions, row.observations, strict=True)


@every_domain
@pytest.mark.parametrize("policy", ["explore", "blend"])
def test_sessions_are_the_same_when_they_are_played_again(domain: str, policy: PolicyName) -> None:
    rows = sessions(domain, policy, 6)[-1:]  # alone, without those before it
    recorder = Recorder([load_spec(domain)], CollectConfig(policies={policy: 1.0}, probe_share=0.0), seed=3)
    assert [recorder.row(row.number or 0) for row in rows] == list(rows)


@every_domain
def test_an_explorer_never_finishes_and_makes_the_turns_it_is_asked_for(domain: str) -> None:
    rows = sessions(domain, "explore", 6)
    assert all(row.finish is None and 8 <= len(row.actions) <= 20 for row in rows)
    assert all(row.success is False for row in rows)


@settings(max_examples=5, deadline=None)
@given(st.data())
@every_domain
def test_every_family_can_be_explored(domain: str, data: st.DataObject) -> None:
    family = data.draw(st.sampled_from(sorted(families(domain))))
    task = generate(domain, family, data.draw(st.integers(1, 3)), data.draw(st.integers(0, 10_000)))
    count = data.draw(st.integers(0, 12))
    turns = went(task, explore(task, random.Random(data.draw(st.integers(0, 10_000))), count))
    parser = ActionParser(load_spec(domain))
    assert len(turns) == count
    for action, shown in turns:
        assert parser.parse(action, task.tools).kind is not ActionKind.FINISH
        assert isinstance(shown, str)


@pytest.mark.parametrize("path", HANDWRITTEN, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_handwritten_tasks_can_be_explored(path: Path) -> None:
    task = load_task(path, path.parent.name)
    assert len(went(task, explore(task, random.Random(1), 8))) == 8


@every_domain
def test_most_actions_are_right_and_a_few_cannot_be_read(domain: str) -> None:
    parser, read = ActionParser(load_spec(domain)), []
    for row in sessions(domain, "explore", 6):
        tools = played(row).tools
        read += [parser.parse(action, tools).error is None for action in row.actions]
    assert sum(read) / len(read) > 0.85
    if domain in ("mcp", "search", "swe"):
        assert not all(read)


@every_domain
def test_actions_are_rarely_done_twice_and_mostly_change_what_is_seen(domain: str) -> None:
    repeated = changed = count = 0
    for row in sessions(domain, "explore", 6):
        before = (row.first_observation, *row.observations)
        seen = Counter(zip(before, row.actions, strict=False))
        repeated += sum(times - 1 for times in seen.values())
        changed += sum(first != second for first, second in zip(before, row.observations, strict=False))
        count += len(row.actions)
    assert repeated / count < 0.05 and changed / count > 0.65


@pytest.mark.parametrize("domain", sorted(set(DOMAINS) - {"mcp"}))
def test_the_state_changes_often(domain: str) -> None:
    changes = [bool(change) for row in sessions(domain, "explore", 6) for change in row.changes]
    assert sum(changes) / len(changes) > 0.15


EXPECTED = {
    "search": {"web_extractor", "web_search", "dict_memory"},
    "swe": {"read_file", "edit", "search_file_content", "glob", "list_directory", "write_file", "todo_write"}
    | {"run_shell_command"},
    "web": {"browser_click", "browser_type", "browser_navigate", "browser_navigate_back", "browser_select_option"},
    "android": {"click", "input_text", "open_app", "navigate_back"},
}


@pytest.mark.parametrize("domain", sorted(EXPECTED))
def test_all_kinds_of_actions_are_used(domain: str) -> None:
    calls = [json.loads(action) for row in sessions(domain, "explore", 12) for action in row.actions]
    assert {call.get("name") or call["action_type"] for call in calls} >= EXPECTED[domain]


def test_a_desktop_is_used_by_mouse_and_keys() -> None:
    text = "\n".join(action for action, _ in actions("desktop"))
    for name in ("click", "doubleClick", "rightClick", "write", "press", "hotkey"):
        assert f"pyautogui.{name}(" in text
    assert "subprocess.Popen(" in text and "DONE" not in text.split() and "FAIL" not in text.split()


def test_tools_are_called_with_what_the_tables_hold() -> None:
    known: Counter[bool] = Counter()
    for row in sessions("mcp", "explore", 6):
        state = json.dumps(played(row).state)
        for action in row.actions:
            for key, value in json.loads(action)["arguments"].items():
                if key.endswith("_id") and isinstance(value, int):
                    known[str(value) in state] += 1
    assert known[True] > 4 * known[False]


def test_a_shell_of_an_explorer_runs_no_tests() -> None:
    assert not any("pytest" in action for action, _ in actions("swe") if "run_shell_command" in action)


def test_a_browser_stays_on_the_sites_of_the_task() -> None:
    for row in sessions("web", "explore", 6):
        for action in row.actions:
            call = json.loads(action)
            if call["name"] == "browser_navigate":
                assert urlsplit(call["arguments"]["url"]).netloc.endswith(".example")


@every_domain
def test_a_blend_keeps_what_the_expert_does_and_finishes_last(domain: str) -> None:
    family = sorted(families(domain))[0]
    task = generate(domain, family, 1, 4)
    alone = [action for action, _ in went(task, mixed_policy(task, random.Random(0), 0.0))]
    beside = [
        action
        for action, _ in went(
            task, explore_beside(mixed_policy(task, random.Random(0), 0.0), task, random.Random(0), 0)
        )
    ]
    assert beside == alone, "without explored actions it is the expert alone"
    finished = 0
    for seed in range(4):
        actions = explore_beside(mixed_policy(task, random.Random(0), 0.0), task, random.Random(seed), 6)
        blended = [action for action, _ in went(task, actions)]
        assert not any(action.startswith("finish") for action in blended[:-1])
        finished += bool(blended) and blended[-1].startswith("finish")
    assert finished == 4


@every_domain
def test_a_blend_explores_beside_the_task(domain: str) -> None:
    rows = sessions(domain, "blend", 6)
    own = 0
    for row in rows:
        task = played(row)
        plain = {action for action in (*task.menu, *task.expert) if "@{" not in action}
        own += sum(action in plain for action in row.actions)
    assert any(row.finish is not None for row in rows)
    if domain in ("mcp", "search", "swe"):
        assert 0.2 < own / sum(len(row.actions) for row in rows) < 0.9


def test_a_recording_of_explorers_does_not_depend_on_workers(tmp_path: Path) -> None:
    specs = [load_spec(domain) for domain in ("mcp", "web", "android")]
    config = CollectConfig(policies={"explore": 1.0, "blend": 1.0})
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    collect(specs, one, 9, 5, config)
    collect(specs, two, 9, 5, config, workers=2)
    assert one.read_bytes() == two.read_bytes()


def test_a_domain_without_an_explorer_is_named() -> None:
    task = generate("terminal", "archive", 1, 0)
    with pytest.raises(SpecError, match="domain: got 'terminal'"):
        explorer(task, random.Random(0))


def test_what_has_to_be_computed_is_written_into_files_and_read() -> None:
    config = CollectConfig(policies={"compute": 1.0}, probe_share=0.0)
    recorder = Recorder([load_spec("terminal")], config, seed=5)
    rows = [row for number in range(20) if (row := recorder.row(number)) is not None]
    turns = [turn for row in rows for turn in zip(row.actions, row.changes, strict=True)]
    writing = [changes for action, changes in turns if "> " in action]
    assert 0.2 < len(writing) / len(turns) < 0.6
    assert sum(bool(changes) for changes in writing) > 0.9 * len(writing)
    assert any(action.startswith("cat ") for action, _ in turns)


def test_only_the_terminal_has_a_policy_that_computes() -> None:
    assert policy_shares("terminal", {"compute": 1.0}) == {"compute": 1.0}
    assert policy_shares("mcp", {"compute": 1.0, "menu": 1.0}) == {"menu": 1.0}


def test_what_is_not_offered_is_tried_too_but_never_what_nothing_has_named() -> None:
    rooms = {"a hall": ["go east"], "a cellar": ["go west", "take lamp"]}
    explorer = OfferedExplorer(random.Random(0), 400, menu=["take coin"])
    chosen = [(room, explorer.choose(room, rooms[room])) for _ in range(200) for room in rooms]
    refused = [action for room, action in chosen if action not in rooms[room]]
    assert 0.15 < len(refused) / len(chosen) < 0.35
    assert set(refused) == {"take coin", "go east", "go west", "take lamp"}


def test_where_a_world_tells_no_actions_its_menu_is_explored_but_never_its_end() -> None:
    explorer = OfferedExplorer(random.Random(0), 50, menu=["go east", "wait", "finish"])
    assert {explorer.choose("a hall", None) for _ in range(50)} == {"go east", "wait"}
    with pytest.raises(SpecError, match=r"menu: got .*, expected the actions to try"):
        OfferedExplorer(random.Random(0), 50).choose("a hall", None)


def test_a_world_with_nothing_but_offers_is_explored_by_them_alone() -> None:
    explorer = OfferedExplorer(random.Random(0), 50)
    assert {explorer.choose("a hall", ["go east", "wait"]) for _ in range(50)} == {"go east", "wait"}
    assert explorer.choose("a hall", ["go east", "wait"]) is None, "these were enough"
