"""Generated tool tasks: solvable by their expert, by nothing less, from what the tools show; equal for equal seeds."""

from __future__ import annotations

import functools
import json
import random
import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import ActionKind
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task, split_of
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.core.tasks.family import MENU_MIN
from agentworld_gym.core.tasks.scene import Unfit
from agentworld_gym.domains.mcp.engine.machine import ToolMachine
from agentworld_gym.domains.mcp.engine.scenario import scenario_names
from agentworld_gym.domains.mcp.engine.service import load_service
from agentworld_gym.domains.mcp.tasks.scene import ToolScene, family
from agentworld_gym.kit.tables.database import open_image

FAMILIES = sorted(families("mcp"))
SEEDS = range(3)
HANDWRITTEN = load_spec("mcp").handwritten_tasks()
PARSER = ActionParser(load_spec("mcp"))

generated = functools.cache(generate)

every_level = pytest.mark.parametrize(("name", "level"), [(name, level) for name in FAMILIES for level in (1, 2, 3)])
any_task = st.builds(generate, st.just("mcp"), st.sampled_from(FAMILIES), st.integers(1, 3), st.integers(0, 2**31 - 1))


def score(task: Task, actions: Iterable[str]) -> float:
    """The weighted share of the checks that hold after some actions, the first `finish` ending them."""
    machine = ToolMachine.start(task.state, 0)
    answer = None
    for text in actions:
        action = PARSER.parse(text, task.tools)
        if action.kind is ActionKind.FINISH:
            answer = action.answer
            break
        machine.act(action.parsed)
    passed = 0.0
    for check in task.success:
        if check.answer is not None:
            passed += check.weight * (answer is not None and check.answer.holds(answer))
        else:
            assert check.probe is not None and check.expect is not None
            shown = machine.fork().act(PARSER.parse(check.probe, task.tools).parsed)
            passed += check.weight * check.expect.holds(shown)
    return passed / sum(check.weight for check in task.success)


def transcript(task: Task) -> Iterator[tuple[dict[str, Any], str]]:
    """The expert's calls with what they show."""
    machine = ToolMachine.start(task.state, 0)
    for text in task.expert[:-1]:
        call = PARSER.parse(text, task.tools).parsed
        yield call, machine.act(call)


def ends_at(task: Task) -> ToolMachine:
    """The server after the expert's calls."""
    machine = ToolMachine.start(task.state, 0)
    for text in task.expert[:-1]:
        machine.act(json.loads(text))
    return machine


def writes(task: Task, text: str) -> bool:
    call = PARSER.parse(text, task.tools).parsed
    return call is not None and load_service(task.state["scenario"]).tools[call["name"]].writes


@every_level
def test_expert_earns_everything_and_nothing_is_worth_nothing(name: str, level: int) -> None:
    for seed in SEEDS:
        task = generated("mcp", name, level, seed)
        assert score(task, task.expert) == 1.0, task.id
        assert score(task, ["finish"]) == 0.0, task.id


@every_level
def test_every_change_of_the_expert_is_needed(name: str, level: int) -> None:
    task = generated("mcp", name, level, 1)
    for index, action in enumerate(task.expert[:-1]):
        if writes(task, action):
            rest = [*task.expert[:index], *task.expert[index + 1 :]]
            assert score(task, rest) < 1.0, action


@every_level
def test_the_expert_uses_only_numbers_that_it_has_seen(name: str, level: int) -> None:
    """Ids are looked up: the instruction speaks of names and conditions."""
    for seed in SEEDS:
        task = generated("mcp", name, level, seed)
        seen = ""
        for call, shown in transcript(task):
            assert not shown.startswith('{"status": "error"'), call
            for key, value in call["arguments"].items():
                for number in value if isinstance(value, list) else [value]:
                    if key.endswith(("_id", "_ids")) and isinstance(number, int):
                        assert re.search(rf"\b{number}\b", seen), (task.id, call)
                        assert number < 100 or not re.search(rf"\b{number}\b", task.instruction), task.instruction
            seen += shown


@every_level
def test_random_choices_seldom_succeed(name: str, level: int) -> None:
    wins = 0
    for seed in range(6):
        task = generated("mcp", name, level, seed)
        rng = random.Random(seed)
        wins += score(task, [rng.choice(task.menu) for _ in range(task.max_steps or 0)]) == 1.0
    assert wins <= 2


@settings(max_examples=90, deadline=None)
@given(any_task)
def test_shape_of_a_task(task: Task) -> None:
    assert Task.model_validate(json.loads(task.model_dump_json())) == task
    assert task.seed is not None and task.split == split_of(task.seed)
    assert len(task.expert) >= 3 and task.expert[-1].startswith("finish")
    assert len(task.expert) > 6 or task.level < 3
    assert MENU_MIN <= len(task.menu) <= 16 and len(set(task.menu)) == len(task.menu)
    assert set(task.expert) <= set(task.menu) and len(task.menu) > len(task.expert)
    assert task.first_observation == ToolMachine.start(task.state, 0).observation
    tables = task.state["tables"]
    assert set(tables) == set(load_service(task.state["scenario"]).keys)
    assert sum(map(len, tables.values())) <= 90
    assert all(PARSER.parse(action, task.tools).error is None for action in task.menu)


@pytest.mark.parametrize("name", FAMILIES)
def test_menus_place_the_expert_anywhere(name: str) -> None:
    places = {task.menu.index(task.expert[0]) for task in (generated("mcp", name, 1, seed) for seed in range(14))}
    assert len(places) > 4


# What the answer is, in SQL on the database after the expert.
ANSWERS = {
    ("duplicate_charge", 1): """SELECT -amount FROM transactions JOIN disputes USING (transaction_id)
        ORDER BY dispute_id DESC LIMIT 1""",
    ("duplicate_charge", 2): """SELECT last4 FROM transactions JOIN disputes USING (transaction_id)
        JOIN cards USING (card_id) WHERE cards.status = 'frozen' ORDER BY dispute_id DESC LIMIT 1""",
    ("duplicate_charge", 3): """SELECT -sum(amount) FROM disputes d JOIN transactions USING (transaction_id)
        JOIN accounts USING (account_id) JOIN sessions USING (customer_id) WHERE d.status = 'open'""",
    ("move_standing_orders", 1): """SELECT amount FROM standing_orders s JOIN accounts USING (account_id)
        WHERE name = 'Bills account'""",
    ("move_standing_orders", 2): """SELECT sum(amount) FROM standing_orders s JOIN accounts USING (account_id)
        WHERE name = 'Bills account'""",
    ("move_standing_orders", 3): "SELECT balance FROM accounts WHERE name = 'Reserve'",
    ("pay_bill", 1): "SELECT balance FROM accounts WHERE name = 'Workshop account'",
    ("pay_bill", 2): "SELECT balance FROM accounts WHERE name = 'Reserve'",
    ("pay_bill", 3): "SELECT balance FROM accounts WHERE name = 'Reserve'",
    ("fill_position", 1): "SELECT amount FROM salaries ORDER BY salary_id DESC LIMIT 1",
    ("fill_position", 2): """SELECT salary_max FROM positions JOIN employees USING (position_id)
        ORDER BY employee_id DESC LIMIT 1""",
    ("training_seats", 1): "SELECT cost FROM trainings ORDER BY training_id DESC LIMIT 1",
    ("training_seats", 2): """SELECT name FROM enrolments e JOIN employees USING (employee_id)
        WHERE e.status = 'cancelled' ORDER BY enrolment_id DESC LIMIT 1""",
}


@pytest.mark.parametrize(("name", "level"), ANSWERS)
def test_the_answer_is_what_the_database_says(name: str, level: int) -> None:
    for seed in range(20, 26):
        task = generate("mcp", name, level, seed)
        connection = open_image(ends_at(task).database())
        (truth,) = connection.execute(ANSWERS[name, level]).fetchone()
        answer = task.expert[-1].removeprefix("finish: ")
        assert answer == (f"{truth:.2f}" if isinstance(truth, float) else str(truth)), task.id
        connection.close()


@pytest.mark.parametrize("scenario", ["bank", "hr"])
@pytest.mark.parametrize("level", [1, 2, 3])
def test_a_task_never_starts_or_ends_with_rows_that_disagree(scenario: str, level: int) -> None:
    agree = {
        "bank": """SELECT * FROM accounts WHERE balance <> (SELECT round(sum(amount), 2) FROM transactions t
            WHERE t.account_id = accounts.account_id)""",
        "hr": """SELECT * FROM leave_balances b WHERE taken <> (SELECT coalesce(sum(days), 0) FROM leave_requests r
            WHERE r.employee_id = b.employee_id AND r.leave_type_id = b.leave_type_id AND status = 'approved')""",
    }
    for seed, name in enumerate(FAMILIES):
        task = generate("mcp", name, level, seed)
        if task.state["scenario"] == scenario:
            for machine in (ToolMachine.start(task.state, 0), ends_at(task)):
                assert open_image(machine.database()).execute(agree[scenario]).fetchall() == [], task.id


@pytest.mark.parametrize("task", HANDWRITTEN, ids=lambda task: task.id)
def test_handwritten_tasks(task: Task) -> None:
    assert score(task, task.expert) == 1.0
    assert score(task, ["finish"]) == 0.0
    assert task.first_observation == ToolMachine.start(task.state, 0).observation
    listed = {tool["name"]: tool for tool in load_service(task.state["scenario"]).listed}
    for tool in task.tools:
        assert tool == listed[tool["name"]], tool["name"]


def test_there_are_handwritten_tasks_of_every_scenario() -> None:
    assert len(HANDWRITTEN) >= 10
    assert {task.state["scenario"] for task in HANDWRITTEN} == set(scenario_names())


def test_a_database_that_does_not_fit_is_replaced() -> None:
    tried: list[int] = []

    @family("bank")
    def picky(scene: ToolScene, level: int) -> Any:
        tried.append(scene.value("SELECT max(transaction_id) FROM transactions"))
        scene.need(len(tried) == 3)
        return scene.service.scenario.name

    assert str(picky(random.Random(0), 1, "train")) == "bank"
    assert len(tried) == 3


def test_a_meeting_moves_to_a_room_that_nobody_has_booked() -> None:
    """In the first office of this seed the room that the expert books is taken for half of the hour."""
    task = generated("mcp", "reschedule_meeting", 2, 713243)
    assert score(task, task.expert) == 1.0


def test_a_family_that_never_fits_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentworld_gym.core.tasks.scene.ATTEMPTS", 20)

    @family("bank")
    def impossible(scene: ToolScene, level: int) -> Any:
        raise Unfit("never")

    with pytest.raises(RuntimeError, match="no database of bank fits impossible at level 2"):
        impossible(random.Random(0), 2, "train")


def test_a_task_that_is_satisfied_at_the_start_is_not_issued() -> None:
    scene = ToolScene("bank", random.Random(0), 1, "train")
    check = scene.probe(scene.call("get_profile"), '"customer_id"')
    with pytest.raises(Unfit, match="holds from the start"):
        scene.draft("Do nothing.", [], [], [check])


def test_an_expert_that_is_refused_is_a_mistake_of_the_family() -> None:
    scene = ToolScene("bank", random.Random(0), 1, "train")
    check = scene.probe(scene.call("get_profile"), {"email": "x@example.com"})
    with pytest.raises(RuntimeError, match="the expert is refused"):
        scene.draft("Freeze it.", [scene.call("freeze_card", card_id=1)], [], [check])
    with pytest.raises(RuntimeError, match="the expert misses"):
        scene.draft("Look.", [scene.call("get_profile")], [], [check])


@pytest.mark.parametrize(
    ("fields", "text", "found"),
    [
        ({"id": 3}, '{"id": 3}', True),
        ({"id": 3}, '{"id": 31}', False),
        ({"price": 2.5}, '{"price": 2.50}', True),
        ({"price": 2.0}, '{"price": 2}', True),
        ({"price": 2.5}, '{"price": 2.55}', False),
        ({"a": 1, "b": None}, '[{"a": 1, "b": 2}, {"b": null, "a": 1}]', True),
        ({"a": 1, "b": None}, '[{"a": 1, "b": 2}, {"b": null, "a": 2}]', False),
        ({"ok": True, "name": 'Zoë "Z"'}, '{"name": "Zoë \\"Z\\"",\n "ok": true}', True),
    ],
)
def test_fields_of_an_answer_are_matched_whatever_the_layout(fields: dict[str, Any], text: str, found: bool) -> None:
    scene = ToolScene("bank", random.Random(0), 1, "train")
    expect = scene.probe("x", fields).expect
    without = scene.probe("x", lacking=[fields]).expect
    assert expect is not None and without is not None
    assert (expect.holds(text), without.holds(text)) == (found, not found)
