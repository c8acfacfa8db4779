"""Composed tasks, of levels 4 and 5: their expert wins, nothing less does, and the jobs keep their checks."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import gymnasium as gym
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentworld_gym  # noqa: F401
from agentworld_gym.agents.policies.exploring.explorers import explore
from agentworld_gym.agents.policies.following import walk
from agentworld_gym.agents.policies.scripted import expert_policy
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.task import Check, Expect, Task, split_of, total_weight
from agentworld_gym.core.domain.user import answer_to, has_user
from agentworld_gym.core.engines import OutOfTime
from agentworld_gym.core.registration import all_domains
from agentworld_gym.core.tasks import families, generate, levels
from agentworld_gym.core.tasks.composition import (
    DECLINED,
    HELD,
    MISSING,
    STEPS,
    Absent,
    Job,
    Orders,
    composed,
    job_of,
)
from agentworld_gym.core.tasks.family import COMPOSED, Finding, TaskDraft
from agentworld_gym.core.tasks.scene import Unfit
from agentworld_gym.domains.terminal.engine.machine import TerminalMachine
from agentworld_gym.domains.terminal.explorer import explore_policy
from agentworld_gym.envs.options import EnvOptions

COMPOSING = [name for name in all_domains() if 4 in levels(name)]
LARGE = {"android": 12_000, "desktop": 15_000, "mcp": 60_000, "search": 25_000, "swe": 20_000, "terminal": 10_000,
         "web": 15_000}  # fmt: skip
"""How many characters the state of a composed task has at least."""

every_level = pytest.mark.parametrize("level", list(COMPOSED))
every_domain = pytest.mark.parametrize("domain", COMPOSING)


@cache
def task_of(domain: str, level: int, seed: int = 1) -> Task:
    """A composed task, of another family for each level and seed."""
    names = sorted(families(domain))
    return generate(domain, names[(seed + level) % len(names)], level, seed)


def stream(*actions: str) -> Iterator[str]:
    yield from (action for action in actions)  # A generator can be sent what an action showed.


@every_level
@every_domain
def test_the_expert_wins_under_faults_and_neither_idleness_nor_a_finish_scores(domain: str, level: int) -> None:
    task = task_of(domain, level)
    runner = EnvOptions(spec=domain, world="grounded:monty" if domain == "swe" else "grounded").runner()
    outcomes = {}
    for name, policy in {"expert": expert_policy(task), "finish": stream("finish"), "idle": stream()}.items():
        ((episode, _, _),) = runner.start([3], {"task": task})
        end = walk(runner, episode, policy)
        outcomes[name] = (0.0, False) if end is None else (end.info["score"], end.info["success"])
    runner.close()
    assert outcomes == {"expert": (pytest.approx(1.0), True), "finish": (0.0, False), "idle": (0.0, False)}


@every_domain
def test_what_only_the_user_knows_stands_nowhere_else_and_is_told_to_who_asks(domain: str) -> None:
    task = next(task for seed in range(1, 20) if (task := task_of(domain, 4, seed)).user)
    assert task.user is not None and has_user(task.tools)
    [reply] = task.user
    if "order" not in reply.says:
        left_open = reply.says.partition("'")[2].rstrip("'.")
        assert left_open not in task.instruction and left_open not in str(task.state)
    [question] = [action for action in task.expert if action.startswith("ask: ")]
    runner = EnvOptions(spec=domain, world="scripted").runner()
    ((episode, first, _),) = runner.start([3], {"task": task})
    (step,) = runner.advance([episode], [question])
    runner.close()
    assert step.observation == f"The user says: {reply.says}" and reply.says not in first


@every_domain
def test_what_is_done_at_the_step_limit_gives_its_share(domain: str) -> None:
    task = task_of(domain, 4)
    actions = task.expert[:-1]
    world = "grounded:monty" if domain == "swe" else "grounded"
    runner = EnvOptions(spec=domain, world=world, max_steps=len(actions)).runner()
    ((episode, _, _),) = runner.start([3], {"task": task})
    end = walk(runner, episode, stream(*actions))
    runner.close()
    assert end is not None and end.truncated and not end.info["success"]
    assert end.info["score"] == pytest.approx(1.0 - task.success[-1].weight / total_weight(task.success))


def test_who_does_what_is_forbidden_loses_and_so_does_who_declines_what_is_not() -> None:
    task = next(task for seed in range(60) if "declined" in (task := task_of("terminal", 4, seed)).expert[-1])
    *actions, finish = task.expert
    said = finish.removeprefix("finish: ").split("; ")
    number = next(entry.partition(" ")[0] for entry in said if entry.endswith("declined"))
    read = [action.split("'")[1] for action in actions if action.startswith("cat '")]
    barred = task.instruction.partition("Orders from ")[2].partition(" must")[0].split(" or ")
    [(path, order)] = [
        (path, task.state["files"][path]) for path in read
        if any(f"From {name}." in task.state["files"].get(path, "") for name in barred)
    ]  # fmt: skip
    base, folder = path.partition("/orders/")[0], order.removeprefix("In the folder ").partition(":")[0]
    runner = EnvOptions(spec="terminal").runner()
    ends = {}
    for name, policy in {
        "as it is": (*actions, finish),
        "done": (*actions, f"touch {base}/{folder}/done", finish),
        "missing": (*actions, finish.replace(f"{number} | declined", f"{number} | missing")),
        "all declined": (*actions, "finish: " + "; ".join(f"{n} | declined" for n in range(1, 7))),
    }.items():
        ((episode, _, _),) = runner.start([3], {"task": task})
        end = walk(runner, episode, stream(*policy))
        assert end is not None
        ends[name] = end.info["success"]
        assert 0.4 < end.info["score"] <= 1.0
    runner.close()
    assert ends == {"as it is": True, "done": False, "missing": False, "all declined": False}


@every_domain
def test_a_composed_task_can_be_explored(domain: str) -> None:
    task = task_of(domain, 4)
    runner = EnvOptions(spec=domain, world="grounded:monty" if domain == "swe" else "grounded").runner()
    exploring = explore_policy if domain == "terminal" else explore
    for seed in range(4):
        ((episode, _, _),) = runner.start([3], {"task": task})
        walk(runner, episode, exploring(task, random.Random(seed), 12))
        assert len(episode.actions) >= 8
        episode.session.close()
    runner.close()


@every_level
@every_domain
def test_a_composed_task_is_long_large_and_the_same_for_the_same_seed(domain: str, level: int) -> None:
    task = task_of(domain, level, seed=9)
    assert task == task_of.__wrapped__(domain, level, seed=9)
    assert task.split == split_of(9) == "test" and task.level == level
    assert STEPS[0] <= len(task.expert) <= STEPS[1] and task.max_steps == COMPOSED[level] > 2 * len(task.expert) - 20
    assert len(str(task.state)) >= LARGE[domain], len(str(task.state))
    assert bool(task.controls) is (level == 5)
    assert task.expert[-1].count(";") + 1 >= 3
    assert len(task.success) >= 4 and task.success[-1].answer is not None
    assert Task.model_validate(task.model_dump()) == task


def test_what_is_said_of_one_job_is_no_answer_of_another() -> None:
    task = generate("terminal", "copy_move", 4, 3)
    [check] = [check for check in task.success if check.answer is not None]
    assert check.answer is not None
    entries = [entry.split(" | ") for entry in task.expert[-1].removeprefix("finish: ").split("; ")]
    turned = zip((number for number, _ in entries), reversed([said for _, said in entries]), strict=True)
    for answers, wins in ((entries, True), ([*turned], False), ([entries[0]], False)):
        said = "; ".join(f"{number} | {answer}" for number, answer in answers)
        assert check.answer.holds(said, task.instruction) is wins
    assert not check.answer.holds("; ".join(said for _, said in entries), task.instruction)


def test_levels_are_asked_for_and_menus_of_vectors_have_none_of_them() -> None:
    with pytest.raises(SpecError, match="too long"):
        gym.make("AgentWorld/TerminalMenu-v0", levels=[4]).reset(seed=0)
    with pytest.raises(SpecError, match="1, 2, 3, 4 or 5"):
        generate("terminal", "archive", 6, 0)


def test_a_domain_without_compositions_has_three_levels() -> None:
    assert levels("chess") == (1, 2, 3)


def test_a_job_leaves_open_what_the_world_does_not_hold() -> None:
    check = Check(probe="ls", expect=Expect(equals="amber"))
    named = TaskDraft("Call the file 'amber'.", {}, (check,), ("touch amber",), (), found=Finding("its size", "12"))
    jobs = [job_of(named), job(1), job(2)]
    seen = set()
    for seed in range(40):
        task = composed(random.Random(seed), 4, jobs, [job(n) for n in range(10, 16)], ORDERS, 0)
        if "Call the file [left open]. Find out its size." in task.lines:
            [reply] = task.user
            assert reply.says == "In job 1 it is 'amber'." and task.expert[0] == "ask: What is left open in job 1?"
            seen.add("open")
        elif task.user:
            seen.add("which order")
        held = composed(random.Random(seed), 4, jobs, [job(n) for n in range(10, 16)], ORDERS, 0, state="amber")
        assert not any("left open" in line for line in held.lines)
    assert seen == {"open", "which order"}


def job(number: int, weight: float = 1.0) -> Job:
    """A job that finds out its own number."""
    check = Check(probe=f"cat {number}", expect=Expect(equals="x"), weight=weight)
    return job_of(
        TaskDraft(f"Do {number}.", {}, (check,), (f"do {number}",), (), found=Finding("its number", f"w{number}"))
    )


jobs = st.integers(3, 5).map(lambda count: [job(number, number + 1.0) for number in range(count)])
ORDERS = Orders("the file NAME", lambda name: [f"read {name}"], ("Ada", "Bo", "Cem", "Dina"))


@given(jobs, st.sampled_from(list(COMPOSED)), st.integers(0, 2), st.integers(0, 10_000))
def test_each_order_has_the_name_that_an_earlier_job_finds(
    wanted: list[Job], level: int, undone: int, seed: int
) -> None:
    strangers = [job(number) for number in range(10, 16)]
    absent = Absent("Do what cannot be done.", ("look around",))
    task = composed(random.Random(seed), level, wanted, strangers, ORDERS, undone, absent=absent)
    assert len(task.lines) == len(task.answers) == len(wanted) + undone
    assert task.lines[0] == wanted[0].text
    known: set[str] = {"policy"}
    for action in task.expert:
        verb, thing = action.split(" ", 1)
        if verb == "ask:":
            known.add(answer_to(thing, task.user).split()[-1].strip("."))
        elif verb == "look":
            assert thing == "around"
        elif verb == "read":
            assert thing in known
            known.remove(thing)
        else:
            known.add(f"w{thing}")
    assert [action for action in task.expert if action.startswith("do")] == [f"do {n}" for n in range(len(wanted))]
    reads = [task.orders.get(action.removeprefix("read ")) for action in task.expert if action.startswith("read")]
    texts = [text for text in reads if text is not None]
    rule = task.orders.get("policy", task.policy)
    barred = [name for name in ORDERS.people if name in rule]
    assert len(barred) == 2 and ("policy" in task.orders) is (level == 5)
    assert len(reads) - len(texts) + task.lines.count(absent.text) == task.answers.count((MISSING,))
    assert sum(text.startswith("On hold") for text in texts) == task.answers.count((HELD,))
    assert sum(text.endswith(tuple(f"From {name}." for name in barred)) for text in texts) == task.answers.count(
        (DECLINED,)
    )
    assert sum(task.answers.count((said,)) for said in (MISSING, HELD, DECLINED)) == undone


@given(jobs, st.sampled_from(list(COMPOSED)), st.integers(0, 2), st.integers(0, 10_000))
def test_every_job_has_the_same_share_and_keeps_its_checks(
    wanted: list[Job], level: int, undone: int, seed: int
) -> None:
    task = composed(random.Random(seed), level, wanted, [job(99), job(98), job(97)], ORDERS, undone)
    *probes, answer = task.success
    assert [check.probe for check in probes] == [f"cat {number}" for number in range(len(wanted))]
    assert {round(check.weight, 9) for check in probes} == {0.75}
    assert answer.weight == pytest.approx(0.25 * (len(wanted) + undone))
    assert answer.answer is not None and answer.answer.holds(task.answer)
    assert not answer.answer.holds(task.answer.rpartition("; ")[0])


@pytest.mark.parametrize(
    ("found", "words", "name"),
    [
        (("amber", "Birch", "alder"), "the alphabetically first thing that you found out", "alder"),
        (("40", "7.5", "100"), "the smallest number that you found out", "7.5"),
    ],
)
def test_an_order_has_the_name_of_one_of_several_things(found: tuple[str, ...], words: str, name: str) -> None:
    several = job(9)._replace(answer="; ".join(found), items=found)
    # The first job names an order, whatever the others are.
    task = composed(random.Random(0), 5, [several, job(1), job(2)], [job(11), job(12)], ORDERS, 1)
    assert any(line == f"Carry out the order that has {words} in 1 as its name." for line in task.lines)
    assert f"read {name}" in task.expert


def test_two_jobs_that_find_the_same_do_not_compose() -> None:
    with pytest.raises(Unfit, match="find the same"):
        composed(random.Random(0), 4, [job(1), job(1), job(2)], [], ORDERS, 0)


def test_a_busy_machine_gives_the_same_task_for_the_same_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rehearsal in which an action ran out of real time says nothing of the task: it is played again."""
    calm = generate("terminal", "archive", 4, 11)
    act, busy = TerminalMachine.act, iter([*[False] * 20, True, *[False] * 30, True])

    def late(machine: TerminalMachine, action: Any) -> str:
        if next(busy, False):
            raise OutOfTime("an action did not end within 2 s of real time")
        return act(machine, action)

    monkeypatch.setattr(TerminalMachine, "act", late)
    assert generate("terminal", "archive", 4, 11) == calm
    assert next(busy, None) is None, "nothing was late"


def test_a_machine_that_is_always_busy_gives_an_error_and_no_other_task(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(machine: TerminalMachine, action: Any) -> str:
        raise OutOfTime("an action did not end within 2 s of real time")

    monkeypatch.setattr(TerminalMachine, "act", late)
    with pytest.raises(OutOfTime):
        generate("terminal", "archive", 4, 11)
