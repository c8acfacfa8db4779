"""Generated and hand-written desktop tasks: solvable by their expert, by nothing less, equal for equal seeds."""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.agents.policies.following import play, walk
from agentworld_gym.agents.policies.scripted import expert_policy, menu_policy
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Check, Expect, Task, split_of
from agentworld_gym.core.screens import NotOnScreen, stand_in
from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.core.tasks.family import MENU_MIN
from agentworld_gym.core.tasks.scene import Unfit
from agentworld_gym.domains.desktop.engine import DesktopMachine
from agentworld_gym.domains.desktop.tasks.actions import click, press
from agentworld_gym.domains.desktop.tasks.checks import is_switched, says, sets
from agentworld_gym.domains.desktop.tasks.control_cases import CASES
from agentworld_gym.domains.desktop.tasks.scene import DOCUMENTS, HOME, DesktopScene, family
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions

FAMILIES = sorted(families("desktop"))
SEEDS = range(2)
HANDWRITTEN = load_spec("desktop").handwritten_tasks()
PARSER = ActionParser(load_spec("desktop"))

generated = functools.cache(generate)

every_level = pytest.mark.parametrize(("name", "level"), [(name, level) for name in FAMILIES for level in (1, 2, 3)])
any_task = st.builds(
    generate, st.just("desktop"), st.sampled_from(FAMILIES), st.integers(1, 3), st.integers(0, 2**31 - 1)
)


@pytest.fixture(scope="module")
def runner() -> Iterator[EpisodeRunner]:
    runner = EnvOptions(spec="desktop", world="grounded", max_steps=60).runner()
    yield runner
    runner.close()


def result(runner: EpisodeRunner, task: Task, actions: ActionStream) -> tuple[bool, float]:
    """Success and score of a stream of actions through a task."""
    ((episode, _, _),) = runner.start([0], {"task": task})
    end = walk(runner, episode, actions)
    episode.session.close()
    assert end is None or "failure" not in end.info
    if end is None or not end.terminated:
        return False, 0.0
    return bool(end.info.get("success")), float(end.info.get("score", 0.0))


def stream(*actions: str) -> ActionStream:
    for action in actions:  # noqa: UP028 - a stream is sent what each action showed
        yield action


@every_level
def test_expert_earns_everything_and_nothing_is_worth_nothing(runner: EpisodeRunner, name: str, level: int) -> None:
    for seed in SEEDS:
        task = generated("desktop", name, level, seed)
        assert result(runner, task, expert_policy(task)) == (True, 1.0), task.id
        assert result(runner, task, stream("finish")) == (False, 0.0), task.id


@every_level
def test_half_of_the_expert_is_not_enough(runner: EpisodeRunner, name: str, level: int) -> None:
    task = generated("desktop", name, level, 1)
    half = task.expert[: len(task.expert) // 2]
    assert not result(runner, task, stream(*half, task.expert[-1]))[0]


@every_level
def test_random_choices_seldom_succeed(runner: EpisodeRunner, name: str, level: int) -> None:
    tasks = [generated("desktop", name, level, seed) for seed in range(3)]
    wins = [result(runner, task, menu_policy(task, random.Random(task.id)))[0] for task in tasks]
    assert sum(wins) <= 1


@settings(max_examples=60, deadline=None)
@given(any_task)
def test_shape_of_a_task(task: Task) -> None:
    assert Task.model_validate(json.loads(task.model_dump_json())) == task
    assert task.seed is not None and task.split == split_of(task.seed)
    assert len(task.expert) >= 4 and task.expert[-1].startswith("finish")
    assert len(task.expert) > 6 or task.level < 3
    assert MENU_MIN <= len(task.menu) <= 16 and len(set(task.menu)) == len(task.menu)
    assert set(task.expert) <= set(task.menu) and len(task.menu) > len(set(task.expert))
    assert task.first_observation == DesktopMachine.start(task.state, 0).observation
    assert all(PARSER.parse(stand_in("desktop", action)).error is None for action in task.menu)


@pytest.mark.parametrize("name", FAMILIES)
def test_menus_place_the_expert_anywhere(name: str) -> None:
    places = {task.menu.index(task.expert[0]) for task in (generated("desktop", name, 1, seed) for seed in range(12))}
    assert len(places) > 4


@pytest.mark.parametrize("task", HANDWRITTEN, ids=lambda task: task.id)
def test_handwritten_tasks(runner: EpisodeRunner, task: Task) -> None:
    assert task.first_observation == DesktopMachine.start(task.state, 0).observation
    assert result(runner, task, expert_policy(task)) == (True, 1.0)
    assert result(runner, task, stream("finish")) == (False, 0.0)
    for action in task.menu:
        if action.startswith("finish: ") and action not in task.expert:
            assert not result(runner, task, stream(*task.expert[:-1], action))[0], action


def test_there_are_handwritten_tasks_of_most_programs() -> None:
    assert len(HANDWRITTEN) >= 10
    text = " ".join(action for task in HANDWRITTEN for action in (*task.expert, str(task.state["open"])))
    for word in ("files", "spreadsheet", "editor", "terminal", "Settings"):
        assert word in text


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.control)
def test_a_control_costs_success_and_can_be_coped_with(runner: EpisodeRunner, case: object) -> None:
    assert isinstance(case, type(CASES[0]))
    calm = {"family": case.family, "level": case.level}
    under = {**calm, "controls": {case.control: case.strength}}
    assert all(play(runner, case.naive, seed, calm)[0] for seed in range(3))
    assert all(play(runner, case.aware, seed, under)[0] for seed in range(8))
    assert not all(play(runner, case.naive, seed, under)[0] for seed in range(14))


def scene() -> DesktopScene:
    made = DesktopScene(random.Random("a scene"), 1, "train")
    made.put("Documents/a.txt", "one")
    made.show()
    return made


def test_a_task_that_is_satisfied_at_the_start_is_not_issued() -> None:
    made = scene()
    with pytest.raises(Unfit, match="holds from the start"):
        made.draft("Do nothing.", [], [], [made.holds(f"{DOCUMENTS}/a.txt", "one\n")])


def test_an_expert_that_cannot_go_on_is_a_mistake_of_the_family() -> None:
    check = scene().holds(f"{DOCUMENTS}/a.txt", "two\n")
    with pytest.raises(RuntimeError, match="not on the screen"):
        scene().draft("Write.", [click("icon 'b.txt'")], [], [check])
    with pytest.raises(RuntimeError, match="raises"):
        scene().draft("Write.", ["pyautogui.fly()"], [], [check])
    with pytest.raises(RuntimeError, match="the expert misses"):
        scene().draft("Write.", [press("f5")], [], [check])


def test_a_family_that_never_fits_says_so() -> None:
    @family
    def impossible(scene: DesktopScene, level: int) -> object:
        raise Unfit("never")

    with pytest.raises(RuntimeError, match="nothing fits impossible at level 2"):
        impossible(random.Random(0), 2, "train")


def seen(check: Check, **state: object) -> bool:
    """Whether a check holds on a desktop in a state."""
    machine = DesktopMachine.start(state, 0)
    assert check.expect is not None and isinstance(check.expect, Expect)
    shown = [machine.act(probe) for probe in check.probes][-1]
    return check.expect.holds(shown)


TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"]), max_size=20)


@settings(max_examples=30, deadline=None)
@given(st.lists(TEXT, max_size=3), st.lists(TEXT, max_size=3))
def test_a_check_of_a_file_holds_for_its_text_alone(wanted: list[str], there: list[str]) -> None:
    path = f"{DOCUMENTS}/a.txt"
    expected, text = "\n".join(wanted), "\n".join(there) + "\n"
    on_screen = expected.removesuffix("\n").replace("\n", "\\n")
    same = text.replace("\n", "\\n") in (on_screen, on_screen + "\\n")
    assert seen(scene().holds(path, expected), files={path: text}) == same
    assert seen(scene().holds(path, text), files={path: text})


def test_a_check_of_cells_looks_at_what_is_saved() -> None:
    path = f"{DOCUMENTS}/a.ods"
    check = scene().cells(path, {"B1": "3", "B2": "", "A2": "x"})
    assert seen(check, files={path: "1,=A1+2\nx\n"})
    assert not seen(check, files={path: "1,=A1+3\nx\n"})
    machine = DesktopMachine.start(
        {"files": {path: "1,2\nx\n"}, "open": [{"program": "spreadsheet", "arguments": [path]}]}, 0
    )
    machine.act("CalcTools.set_cell_values(new_values=['3'], range='B1')")
    assert check.expect is not None and not check.expect.holds(machine.fork().act(check.probes[0]))
    machine.act("pyautogui.hotkey('ctrl', 's')")
    assert check.expect.holds(machine.fork().act(check.probes[0]))


def test_a_check_of_settings_looks_at_their_panel() -> None:
    check = sets("Power", is_switched("Dim Screen", False), says("combo-box", "Screen Blank", "Never"))
    given_ = {"power/dim-screen": False, "power/screen-blank": "Never"}
    assert seen(check, settings=given_)
    assert not seen(check, settings={**given_, "power/dim-screen": True})
    assert not seen(check, settings={**given_, "power/screen-blank": "1 minute"})


def test_no_window_of_the_agent_is_taken_for_a_saved_file() -> None:
    path, decoy = f"{DOCUMENTS}/a.txt", f"{HOME}/k/.seen.txt"
    made = scene()
    check = made.holds(path, "two\n")
    machine = DesktopMachine.start({"files": {path: "one\n", decoy: "two\n"}}, 0)
    machine.act(f"subprocess.Popen(['gedit', {decoy!r}])\ntime.sleep(3)")
    assert check.expect is not None and not check.expect.holds(machine.fork().act(check.probes[0]))
    copy = str(check.probes[0]).split("open('")[2].split("'")[0].rpartition("/")[2]
    beside = f"open('{HOME}/k/{copy}', 'w').write('two')\nsubprocess.Popen(['gedit', '{HOME}/k/{copy}'])"
    shown = machine.act(f"{beside}\ntime.sleep(3)")
    assert f"text\t{copy}\ttwo\t" in shown
    assert not check.expect.holds(machine.fork().act(check.probes[0]))
    assert scene().holds(path, "two\n") == check, "equal for equal seeds"
    other = generated("desktop", "file_document", 1, 1).success[0].probes[0]
    assert (
        generated("desktop", "file_document", 1, 2).success[0].probes[0].split("open('")[1] != other.split("open('")[1]
    )


@pytest.mark.parametrize("name", ["change_settings", "settings_by_note"])
@pytest.mark.parametrize("level", [1, 2, 3])
def test_a_setting_changed_beside_the_wanted_ones_costs_success(runner: EpisodeRunner, name: str, level: int) -> None:
    for seed in SEEDS:
        task = generated("desktop", name, level, seed)
        others = [entry for entry in task.menu if "switch '" in entry and entry not in task.expert]
        assert others
        tried = 0
        for other in others:
            for place in range(1, len(task.expert)):
                actions = (*task.expert[:place], other, *task.expert[place:])
                try:
                    success, _ = result(runner, task, stream(*actions))
                except NotOnScreen:
                    continue
                tried += 1
                assert not success, (task.id, other)
        assert tried
