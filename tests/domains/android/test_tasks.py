"""Generated phone tasks: solved by their expert, by nothing less, from what screens show; equal for equal seeds."""

from __future__ import annotations

import functools
import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.agents.policies.following import play
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import ActionKind
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task, split_of
from agentworld_gym.core.screens import read_screen, resolve_if_shown, stand_in
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.core.tasks.control_cases import ControlCase
from agentworld_gym.core.tasks.family import MENU_MIN, TaskDraft
from agentworld_gym.core.tasks.locators import locator
from agentworld_gym.core.tasks.scene import Unfit
from agentworld_gym.domains.android.engine.machine import AndroidMachine
from agentworld_gym.domains.android.tasks import composed
from agentworld_gym.domains.android.tasks.actions import app, enter_text, hold, tap
from agentworld_gym.domains.android.tasks.control_cases import CASES
from agentworld_gym.domains.android.tasks.scene import AndroidScene, family, line
from agentworld_gym.envs.options import EnvOptions

SPEC = load_spec("android")
PARSER = ActionParser(SPEC)
FAMILIES = sorted(families("android"))
SEEDS = range(3)
HANDWRITTEN = SPEC.handwritten_tasks()

generated = functools.cache(generate)

every_level = pytest.mark.parametrize(("name", "level"), [(name, level) for name in FAMILIES for level in (1, 2, 3)])
every_task = pytest.mark.parametrize("task", HANDWRITTEN, ids=lambda task: task.id)
any_task = st.builds(
    generate, st.just("android"), st.sampled_from(FAMILIES), st.integers(1, 3), st.integers(0, 2**31 - 1)
)


def act(machine: AndroidMachine, text: str) -> str | None:
    """Do an action with locators; None where it is not possible on this screen."""
    resolved = resolve_if_shown(text, read_screen("android", machine.observation))
    return None if resolved is None else machine.act(PARSER.parse(resolved).parsed)


def score(task: Task, actions: Iterable[str]) -> float:
    """The weighted share of the checks that hold after some actions, the first that finishes ending them."""
    machine = AndroidMachine.start(task.state, 0)
    answer = None
    for text in actions:
        parsed = PARSER.parse(stand_in("android", text))
        if parsed.kind is ActionKind.FINISH:
            answer = parsed.answer
            break
        act(machine, text)
    passed = 0.0
    for check in task.success:
        if check.answer is not None:
            passed += check.weight * (answer is not None and check.answer.holds(answer))
        else:
            assert check.expect is not None
            fork = machine.fork()
            possible = all([act(fork, text) is not None for text in check.probes])
            passed += check.weight * (possible and check.expect.holds(fork.observation))
    return passed / sum(check.weight for check in task.success)


def transcript(task: Task) -> Iterator[tuple[str, str]]:
    """The expert's actions with the screen that each is done on."""
    machine = AndroidMachine.start(task.state, 0)
    for text in task.expert[:-1]:
        yield text, machine.observation
        assert act(machine, text) is not None, text
    yield task.expert[-1], machine.observation


def guesses(task: Task, rng: random.Random) -> list[str]:
    """What an agent does that picks any entry of the menu which is on the screen."""
    machine = AndroidMachine.start(task.state, 0)
    done: list[str] = []
    for _ in range(task.max_steps or 0):
        nodes = read_screen("android", machine.observation)
        text = rng.choice([entry for entry in task.menu if resolve_if_shown(entry, nodes) is not None])
        done.append(text)
        if PARSER.parse(stand_in("android", text)).kind is ActionKind.FINISH:
            break
        act(machine, text)
    return done


@every_level
def test_expert_earns_everything_and_nothing_is_worth_nothing(name: str, level: int) -> None:
    for seed in SEEDS:
        task = generated("android", name, level, seed)
        assert score(task, task.expert) == 1.0, task.id
        assert score(task, ["finish"]) == 0.0, task.id


@every_level
def test_every_change_of_the_expert_is_needed(name: str, level: int) -> None:
    """What is typed, saved, sent, ordered or switched cannot be left out."""
    task = generated("android", name, level, 1)
    changing = re.compile(r"input_text|'(?:Save|Send SMS|Place order|Add item|Move here|Add to favorites|OK)'|Switch")
    for index, action in enumerate(task.expert[:-1]):
        if changing.search(action):
            rest = [*task.expert[:index], *task.expert[index + 1 :]]
            assert score(task, rest) < 1.0, action


@every_level
def test_what_the_expert_types_and_names_was_shown_or_told(name: str, level: int) -> None:
    """Texts come from the instruction or from a screen seen before; only times and sums are worked out."""
    for seed in SEEDS:
        task = generated("android", name, level, seed)
        seen = task.instruction.casefold()
        for text, screen in transcript(task):
            seen += screen.casefold()
            if "input_text" in text:
                told = json.loads(stand_in("android", text))["text"]
                words = [word for word in re.findall(r"[^\W\d]+|\d{3,}", told.casefold()) if word not in seen]
                assert not words, (task.id, text)


@every_level
def test_random_choices_seldom_succeed(name: str, level: int) -> None:
    wins = 0
    for seed in range(6):
        task = generated("android", name, level, seed)
        wins += score(task, guesses(task, random.Random(seed))) == 1.0
    assert wins <= 2


@settings(max_examples=30, deadline=None)
@given(any_task)
def test_shape_of_a_task(task: Task) -> None:
    assert Task.model_validate(json.loads(task.model_dump_json())) == task
    assert task.seed is not None and task.split == split_of(task.seed)
    assert len(task.expert) >= 4 and task.expert[-1].startswith("finish")
    assert len(task.expert) > 8 or task.level < 3
    assert MENU_MIN <= len(task.menu) <= 16 and len(set(task.menu)) == len(task.menu)
    assert set(task.expert) < set(task.menu)
    assert (sum(entry.startswith("finish: ") for entry in task.menu) >= 2) == (task.level > 1)
    assert task.first_observation == AndroidMachine.start(task.state, 0).observation
    assert all(PARSER.parse(stand_in("android", entry)).error is None for entry in task.menu)


@pytest.mark.parametrize("name", FAMILIES)
def test_splits_know_other_people(name: str) -> None:
    known: dict[str, set[str]] = {}
    for seed in range(20):
        task = generated("android", name, 1, seed)
        known.setdefault(task.split, set()).update(p["name"] for p in task.state["contacts"]["people"])
    assert len(known) > 1
    assert sum(map(len, known.values())) == len(set.union(*known.values()))


@pytest.mark.parametrize("name", FAMILIES)
def test_neither_its_place_nor_its_size_tells_the_right_entry(name: str) -> None:
    tasks = [generated("android", name, 2, seed) for seed in range(14)]
    for entry in (0, -1):
        assert len({task.menu.index(task.expert[entry]) for task in tasks}) > 4
    answers = [sorted(entry for entry in task.menu if entry.startswith("finish: ")) for task in tasks]
    assert len({found.index(task.expert[-1]) for found, task in zip(answers, tasks, strict=True)}) > 1


@pytest.mark.parametrize("name", FAMILIES)
def test_a_short_menu_has_room_for_wrong_turns(name: str) -> None:
    for seed in range(10):
        task = generated("android", name, 1, seed)
        assert len(set(task.menu) - set(task.expert)) >= 3, task.id


@pytest.mark.parametrize(("name", "level"), [(name, level) for name in FAMILIES for level in (2, 3)])
def test_the_rest_of_the_menu_does_not_tell_the_answer(name: str, level: int) -> None:
    """Who picks the answer that other entries name most often is right as often as by chance."""
    right, chance, seeds = 0.0, 0.0, range(24)
    for seed in seeds:
        task = generated("android", name, level, seed)
        answers = [entry for entry in task.menu if entry.startswith("finish: ")]
        others = "\n".join(entry for entry in task.menu if entry not in answers)
        named = {entry: others.count(entry.removeprefix("finish: ")) for entry in answers}
        best = [entry for entry in answers if named[entry] == max(named.values())]
        right += (task.expert[-1] in best) / len(best)
        chance += 1 / len(answers)
    assert abs(right - chance) / len(seeds) < 0.25


def test_an_order_may_be_cancelled_and_made_again_but_only_one_may_stand() -> None:
    task = generated("android", "order_goods", 1, 0)
    other = next(entry for entry in task.menu if "Add " in entry and entry not in task.expert)
    slot = task.expert[-4]
    buy = [app("Pantry"), other, tap("Basket", "TextView", part=True), tap("Choose a time"), slot]
    buy += [tap("Order", "Button"), tap("Place order")]
    cancel = [tap("Order 4101"), tap("More options"), tap("Cancel order"), tap("Cancel order", "Button")]
    assert score(task, [*buy, *cancel, *task.expert]) == 1.0
    assert score(task, [*buy, *task.expert]) < 1.0
    assert score(task, [*task.expert[:-1], *buy, "finish"]) < 1.0


def test_an_event_that_was_entered_twice_is_not_booked() -> None:
    task = generated("android", "book_slot", 1, 0)
    name = next(entry for entry in task.expert if "Add title" in entry)
    again = [app("Calendar"), tap("Create new event"), name, tap("Save", "Button")]
    assert score(task, [*again, *task.expert]) < 1.0


@pytest.mark.parametrize(("name", "level"), [("pass_on", 2), ("return_calls", 1)])
def test_whom_a_menu_offers_to_call_tells_nothing(name: str, level: int) -> None:
    named_by_expert = set()
    for seed in range(20):
        task = generated("android", name, level, seed)
        called = [found[1] for entry in task.menu if (found := re.search(r"@\{'Call (.+?)'\}", entry))]
        named_by_expert.update(tap(who) in task.expert for who in called)
    assert named_by_expert == {True, False}


@pytest.mark.parametrize("level", [1, 2, 3])
def test_moving_every_paper_is_not_sorting_them(level: int) -> None:
    task = generated("android", "sort_papers", level, 0)
    where = task.expert[task.expert.index(tap("Move here")) - 1]
    first = min(file["name"] for file in task.state["files"]["files"])
    select = [app("Files"), tap("Downloads"), hold(first), tap("More options"), tap("Select all")]
    move = [tap("More options"), tap("Move to"), where, tap("Move here")]
    assert score(task, [*select, *move, task.expert[-1]]) < 0.5


# Tasks written by hand


def test_there_are_enough_tasks_written_by_hand() -> None:
    assert len(HANDWRITTEN) >= 10


@every_task
def test_a_task_written_by_hand_is_solved_by_its_expert_and_by_nothing_less(task: Task) -> None:
    assert task.first_observation == AndroidMachine.start(task.state, 0).observation
    assert score(task, task.expert) == 1.0
    assert score(task, ["finish"]) == 0.0
    for wrong in set(task.menu) - set(task.expert):
        if PARSER.parse(stand_in("android", wrong)).kind is ActionKind.FINISH:
            assert score(task, [*task.expert[:-1], wrong]) < 1.0, wrong
    assert sum(score(task, guesses(task, random.Random(seed))) == 1.0 for seed in range(10)) <= 1


@every_task
def test_every_entry_of_a_menu_is_on_some_screen_of_the_expert(task: Task) -> None:
    screens = [read_screen("android", screen) for _, screen in transcript(task)]
    for entry in task.menu:
        assert any(resolve_if_shown(entry, nodes) is not None for nodes in screens), entry


# Controls


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.control)
def test_who_knows_a_control_copes_with_it(case: ControlCase) -> None:
    runner = EnvOptions(spec="android", world="grounded", max_steps=60, split="test").runner()
    calm = {"family": case.family, "level": case.level}
    under: dict[str, Any] = {**calm, "controls": {case.control: case.strength}}
    seeds = range(6)
    assert all(play(runner, case.naive, seed, calm)[0] for seed in seeds)
    assert all(play(runner, case.aware, seed, under)[0] for seed in seeds)
    assert not all(play(runner, case.naive, seed, under)[0] for seed in seeds)
    runner.close()


# Building blocks


@pytest.mark.parametrize(
    ("answer", "also", "never"),
    [
        ("5:15 PM", ("17:15", "at 5:15 PM", "05:15 pm", "5:15pm."), ("5:15", "5:15 AM", "15:15 PM", "4:15 PM")),
        ("12:00 AM", ("00:00", "12 AM"), ("12:00", "12:00 PM", "0:15")),
        ("€13.15", ("13.15", "13.15 euros", "13.15 €", "13.15 EUR"), ("113.15", "13.1", "3.15")),
        ("294.35", ("294.35 euros", "€294.35"), ("29.35", "2294.35")),
        ("Tiler", ("a tiler", "the tiler."), ("a painter", "tilers")),
        ("6", ("6 items",), ("16", "6.5")),
        ("0871", (), ("871",)),
    ],
)
def test_an_answer_counts_however_it_is_said(answer: str, also: tuple[str, ...], never: tuple[str, ...]) -> None:
    expect = AndroidScene(random.Random(0), 1, "train").answers(answer).answer
    assert expect is not None
    assert all(expect.holds(said) for said in (answer, *also))
    assert not any(expect.holds(said) for said in never)


def test_an_impossible_expert_is_an_error_of_the_family() -> None:
    scene = AndroidScene(random.Random(0), 1, "train")
    check = scene.shows([app("Notes")], line("Tea"))
    with pytest.raises(RuntimeError, match="cannot do"):
        scene.draft("Do it.", [tap("Nowhere")], [], [check])
    with pytest.raises(RuntimeError, match="misses"):
        scene.draft("Do it.", [app("Notes")], [], [check])


def test_a_check_that_holds_from_the_start_is_refused() -> None:
    scene = AndroidScene(random.Random(0), 1, "train")
    scene.note("Tea")
    with pytest.raises(Unfit):
        scene.draft("Do it.", [app("Notes")], [], [scene.shows([app("Notes")], line("Tea"))])


def test_a_family_tries_other_phones_until_one_fits() -> None:
    tries: list[int] = []

    @family
    def picky(scene: AndroidScene, level: int) -> TaskDraft:
        tries.append(level)
        scene.need(len(tries) > 2)
        note = [app("Notes"), tap("New text note"), enter_text("Note", "Tea")]
        return scene.draft("Write.", note, [], [scene.shows([app("Notes")], line("Tea"))])

    assert picky(random.Random(0), 1, "train").expert[0] == app("Notes") and len(tries) == 3
    with pytest.raises(RuntimeError, match="no phone fits"):
        family(_never)(random.Random(0), 1, "train")


def _never(scene: AndroidScene, level: int) -> TaskDraft:
    raise Unfit("never")


@given(st.text(min_size=1, max_size=12))
def test_any_name_can_be_locator(name: str) -> None:
    text = "".join(c for c in name if c.isprintable())
    state: dict[str, Any] = {"notes": {"notes": [{"title": f"a{text}b", "text": ""}]}}
    machine = AndroidMachine.start(state, 0)
    machine.act({"action_type": "open_app", "app_name": "Notes"})
    nodes: Sequence[Any] = read_screen("android", machine.observation)
    index = resolve_if_shown(f'{{"index": {locator(f"a{text}b")}}}', nodes)
    assert index is not None and nodes[json.loads(index)["index"]].text == f"a{text}b"


def test_no_two_jobs_are_about_missed_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composed, "families_of", lambda *names: ["return_calls", "tick_list"])
    with pytest.raises(Unfit, match="missed calls"):
        composed.compose(random.Random(1), 4, "test", "pass_on")
