"""Generated terminal tasks: solvable by their expert, by nothing less, and the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.agents.policies.scripted import expert_policy, menu_policy, mixed_policy
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.task import Task, load_task, split_of
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.core.tasks.family import MENU_MAX, MENU_MIN
from agentworld_gym.domains.terminal.engine import TerminalMachine
from agentworld_gym.domains.terminal.explorer import explore_actions
from agentworld_gym.kit.vocabulary import FOLDERS, KEYS, NAMES, STEMS, WORDS

FAMILIES = sorted(families("terminal"))
HANDWRITTEN = sorted((Path(__file__).parents[3] / "domain_specs" / "tasks" / "terminal").glob("*.yaml"))
SEEDS = range(12)

every_level = pytest.mark.parametrize(("family", "level"), [(f, level) for f in FAMILIES for level in (1, 2, 3)])
any_task = st.builds(
    generate, st.just("terminal"), st.sampled_from(FAMILIES), st.integers(1, 3), st.integers(0, 2**31 - 1)
)


def enter(machine: TerminalMachine, command: str) -> str:
    """What a command prints, without echo and prompt."""
    return "\n".join(machine.act([{"keystrokes": command + "\n"}]).split("\n")[1:-1])


def score(task: Task, actions: Iterable[str]) -> float:
    """The weighted share of the checks that hold after some actions, of which one that finishes may give an answer."""
    machine = TerminalMachine.start(task.state, 0)
    answer = ""
    for action in actions:
        if action.startswith("finish"):
            answer = action.removeprefix("finish").removeprefix(": ")
            break
        enter(machine, action)
    passed = 0.0
    for check in task.success:
        if check.answer is not None:
            passed += check.weight * check.answer.holds(answer)
            continue
        assert check.probe is not None and check.expect is not None
        passed += check.weight * check.expect.holds(enter(machine.fork(), check.probe))
    return round(passed / sum(check.weight for check in task.success), 9)


def without_finish(actions: Iterable[str]) -> list[str]:
    return [action for action in actions if action != "finish"]


def check_expert(family: str, level: int, seeds: range) -> None:
    for seed in seeds:
        task = generate("terminal", family, level, seed)
        assert score(task, []) == 0.0, task.id
        assert score(task, without_finish(expert_policy(task))) == 1.0, task.id


@every_level
def test_expert_earns_everything_and_the_start_is_worth_nothing(family: str, level: int) -> None:
    check_expert(family, level, SEEDS[:4])


@pytest.mark.slow
@every_level
def test_expert_earns_everything_and_the_start_is_worth_nothing_at_many_seeds(family: str, level: int) -> None:
    check_expert(family, level, SEEDS[4:])


@every_level
def test_every_change_of_the_expert_is_needed(family: str, level: int) -> None:
    """Leaving out a step that changes files loses points; steps that only print are how an agent learns which."""
    task = generate("terminal", family, level, 5)
    plan = without_finish(task.expert)
    reads = ("cat ", "grep ", "wc ", "head ", "tail ", "find ", "sort ", "awk ", "cut ")
    for index, action in enumerate(plan):
        if ">" in action or not action.startswith(reads):
            assert score(task, plan[:index] + plan[index + 1 :]) < 1.0, action


@every_level
def test_random_choices_seldom_succeed(family: str, level: int) -> None:
    wins = 0
    for seed in SEEDS:
        task = generate("terminal", family, level, seed)
        actions = list(menu_policy(task, random.Random(seed)))
        wins += actions[-1] == "finish" and score(task, actions[:-1]) == 1.0
    assert wins <= 2


@settings(max_examples=200, deadline=None)
@given(any_task)
def test_shape_of_a_task(task: Task) -> None:
    assert Task.model_validate(task.model_dump()) == task
    assert task.seed is not None and task.split == split_of(task.seed)
    assert len(task.expert) >= 4 and task.expert[-1] == "finish" and "finish" not in task.expert[:-1]
    assert MENU_MIN <= len(task.menu) <= MENU_MAX[task.level] and len(set(task.menu)) == len(task.menu)
    assert set(task.expert) <= set(task.menu)
    assert task.max_steps == 2 * len(task.expert) + 2
    assert 2 <= len(task.success) <= 4 and sum(check.weight for check in task.success) == pytest.approx(1)
    files = task.state["files"]
    assert 2 <= len(files) <= 7 and all(1 <= text.count("\n") <= 6 for text in files.values())


@every_level
def test_menus_place_the_expert_anywhere(family: str, level: int) -> None:
    places = {task.menu.index(task.expert[0]) for task in (generate("terminal", family, level, s) for s in range(40))}
    assert len(places) > 4


@every_level
def test_files_do_not_tell_which_one_matters(family: str, level: int) -> None:
    """Files are listed by name, so the order of a prompt holds no hint."""
    files = list(generate("terminal", family, level, 3).state["files"])
    assert files == sorted(files)


def test_content_words_are_never_parts_of_other_words() -> None:
    everything = {*WORDS, *NAMES, *STEMS, *FOLDERS, *KEYS, "mode", "open", "closed", "keep", "drop", "copy", "script"}
    assert len(WORDS) + len(NAMES) + len(STEMS) + len(FOLDERS) + len(KEYS) == len({*everything}) - 6
    for word in (*WORDS, *NAMES, *KEYS, "open"):
        assert not [other for other in everything if word in other and word != other]


@pytest.mark.parametrize(
    ("domain", "family", "level", "key"),
    [("terminal", "brew_tea", 1, "family"), ("terminal", "archive", 6, "level"), ("web", "archive", 1, "family")],
)
def test_wrong_arguments_are_named(domain: str, family: str, level: int, key: str) -> None:
    with pytest.raises(SpecError, match=f": {key}: got "):
        generate(domain, family, level, 0)


@settings(max_examples=60, deadline=None)
@given(any_task, st.integers(0, 1000), st.integers(0, 12))
def test_exploring_never_changes_the_outcome(task: Task, seed: int, before: int) -> None:
    plan = without_finish(task.expert)
    looks = explore_actions(task, random.Random(seed), 15)
    assert len(looks) == 15
    assert score(task, [*plan[:before], *looks, *plan[before:]]) == 1.0


@settings(max_examples=60, deadline=None)
@given(any_task, st.integers(0, 1000), st.floats(0, 0.9))
def test_policies_stay_within_the_step_limit(task: Task, seed: int, slip: float) -> None:
    assert task.max_steps is not None
    mixed = list(mixed_policy(task, random.Random(seed), slip))
    chosen = list(menu_policy(task, random.Random(seed)))
    assert len(mixed) <= task.max_steps and len(chosen) <= task.max_steps
    assert {*mixed, *chosen} <= set(task.menu)
    assert "finish" not in mixed[:-1] and "finish" not in chosen[:-1]
    assert mixed == list(mixed_policy(task, random.Random(seed), slip))
    if mixed[-1] == "finish":
        done = iter(mixed)
        assert all(step in done for step in task.expert), "the plan is kept in order"


every_handwritten = pytest.mark.parametrize("path", HANDWRITTEN, ids=lambda path: path.stem)


@every_handwritten
def test_handwritten_tasks(path: Path) -> None:
    task = load_task(path, "terminal")
    assert set(task.expert) <= set(task.menu) and task.expert[-1].startswith("finish")
    assert 8 <= len(task.menu) <= 16 and len(set(task.menu)) == len(task.menu)
    assert score(task, []) == score(task, ["finish"]) == 0.0
    assert score(task, task.expert) == 1.0


@every_handwritten
def test_random_choices_seldom_succeed_at_handwritten_tasks(path: Path) -> None:
    task = load_task(path, "terminal")
    wins = 0
    for seed in range(40):
        actions = list(menu_policy(task, random.Random(seed)))
        wins += actions[-1].startswith("finish") and score(task, actions) == 1.0
    assert wins < 4


@every_handwritten
def test_handwritten_tasks_can_be_explored(path: Path) -> None:
    task = load_task(path, "terminal")
    assert len(explore_actions(task, random.Random(0), 40)) == 40


def test_there_are_handwritten_tasks() -> None:
    assert len(HANDWRITTEN) >= 10


@pytest.mark.parametrize(("family", "level"), [("edit_in_place", 5), ("find_file", 4), ("permissions", 4)])
def test_an_explorer_finds_a_name_that_no_file_has_among_hundreds(family: str, level: int) -> None:
    assert len(explore_actions(generate("terminal", family, level, 0), random.Random(0), 40)) == 40
