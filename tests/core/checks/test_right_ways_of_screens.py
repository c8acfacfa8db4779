"""Right solutions of tasks with a screen that checks once refused, or that the world would not carry out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions

sys.path.append(str(Path(__file__).parents[3] / "benchmarks" / "research"))

from ways import android, desktop, web
from ways.playing import Way, Ways, fixed, name_of, play

WAYS: dict[str, Ways] = {"android": android.WAYS, "desktop": desktop.WAYS, "web": web.WAYS}

ONCE_REFUSED = (
    # An answer that quotes the letter below it.
    ("web", "answer_mail", 1, "answer_above_the_quote"),
    # A note that the form of a return offers.
    ("web", "undo_order", 2, "return_with_a_note"),
    # A post that a moderator deletes in its thread instead of among the reports.
    ("web", "moderate", 1, "remove_in_the_thread"),
    ("web", "moderate", 3, "delete_in_the_threads"),
    # Answers with a preposition or an article.
    ("web", "rename-page", 0, "search and history"),
    ("web", "seed-party", 0, "a message of its own"),
    ("web", "new-thread", 0, "search"),
    ("web", "new-thread", 0, "quote"),
    ("desktop", "which-log", 0, "read every log"),
    ("desktop", "half-past-two", 0, "looked at first"),
    ("android", "before-take-off", 0, "messages read too"),
    ("android", "double-booking", 0, "in two steps"),
    ("android", "lentil-soup", 0, "unpinned between"),
    # A total that is typed, or another formula.
    ("desktop", "fill_table", 2, "fill_with_sums_by_hand"),
    ("desktop", "fill_table", 2, "fill_with_another_formula"),
    ("desktop", "region_total", 1, "total_as_a_sum_of_cells"),
    ("desktop", "region_total", 3, "total_from_the_calculator"),
    ("desktop", "total-the-invoice", 0, "every line typed"),
    ("desktop", "two-quarters", 0, "the helper"),
    # A file in /tmp.
    ("desktop", "bring-the-price-down", 0, "commands"),
    # Messages to two people in another order.
    ("android", "split-the-bill", 0, "new chats"),
)


def task_of(domain: str, name: str, level: int) -> Task:
    if level:
        return generate(domain, name, level, 0)
    return next(task for task in load_spec(domain).handwritten_tasks() if task.id == name)


@pytest.fixture(scope="module")
def runners() -> Iterator[dict[str, EpisodeRunner]]:
    runners = {domain: EnvOptions(spec=domain, world="grounded").runner() for domain in WAYS}
    yield runners
    for runner in runners.values():
        runner.close()


def way_of(domain: str, name: str, way: str) -> Way:
    return next(one for one in WAYS[domain][name] if name_of(one) == way)


@pytest.mark.parametrize(("domain", "name", "level", "way"), ONCE_REFUSED)
def test_a_solution_that_follows_the_instruction_wins(
    runners: dict[str, EpisodeRunner], domain: str, name: str, level: int, way: str
) -> None:
    played = play(runners[domain], task_of(domain, name, level), way_of(domain, name, way))
    assert played.applies
    assert played.refused == ()


@pytest.mark.parametrize("domain", sorted(WAYS))
def test_every_family_and_every_task_written_by_hand_has_ways(domain: str) -> None:
    names = {*families(domain), *(task.id for task in load_spec(domain).handwritten_tasks())}
    assert {name for name in names if len(WAYS[domain].get(name, ())) < 3} == set()
    assert set(WAYS[domain]) <= names


CALC = "CalcTools.set_cell_values(new_values={}, range={!r})"
SAVE = "pyautogui.hotkey('ctrl', 's')"


@pytest.mark.parametrize(
    ("name", "actions"),
    [
        # The right numbers, but no formulas although the instruction wants some.
        ("total-the-invoice", (CALC.format(["130", "40", "149", "12.9", "331.9"], "D2:D6"), SAVE)),
        # A formula beside the one that is wanted.
        (
            "total-the-invoice",
            (CALC.format(["=B2*C2", "=B3*C3", "=B4*C4", "=B5*C5", "=SUM(D2:D5)", "=D6"], "D2:D7"), SAVE),
        ),
    ],
)
def test_a_table_that_looks_right_is_refused_where_more_was_said(
    runners: dict[str, EpisodeRunner], name: str, actions: tuple[str, ...]
) -> None:
    played = play(runners["desktop"], task_of("desktop", name, 0), fixed("a wrong way", *actions))
    assert played.refused
