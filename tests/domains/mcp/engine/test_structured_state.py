"""The structured state of a tool server: it is complete, and the view prints every answer from what is shown of it."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import assert_restored_goes_on, assert_view_prints, roundtripped

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.core.actions.finish import finishes
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.domain.view import compact
from agentworld_gym.core.engines import Controls
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.domains.mcp.engine import ToolMachine
from agentworld_gym.domains.mcp.engine.answer import CallResult
from agentworld_gym.domains.mcp.engine.sql_tools import sql_tool
from agentworld_gym.domains.mcp.engine.tool_spec import ToolSpec
from agentworld_gym.domains.mcp.engine.view import ToolView
from agentworld_gym.llm.prompting.state_answers import StateAnswers
from tests.helpers.predicted_states import ABSURD, operations, printed_state

VIEW = ToolView()
ANSWERS = StateAnswers(VIEW, ActionParser(load_spec("mcp")))
ROWS: dict[str, Any] = {
    "customers": [{"customer_id": 7, "name": "Ilse Marwood", "email": "ilse@example.com", "since": "2023-08-19"}],
    "products": [{"sku": "LMP-1", "name": "Lamp", "price": 39.9, "stock": 4}],
    "orders": [
        {"order_id": 11, "customer_id": 7, "status": "paid", "placed_at": "2026-03-01T08:00:00Z", "total": 79.8}
    ],
    "order_lines": [{"order_id": 11, "sku": "LMP-1", "quantity": 2, "unit_price": 39.9}],
}
STATE = {"scenario": "shop", "tables": ROWS}
DISTURBED = {name: 0.2 for name in load_spec("mcp").controls}
FAMILIES = sorted(families("mcp"))


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": f"shop-{name}", "arguments": arguments}


def tools(machine: ToolMachine) -> Task:
    """A task with the tools of a machine, by which its calls are read."""
    return generate("mcp", FAMILIES[0], 1, 0).model_copy(update={"tools": machine.service.listed})


def change(machine: ToolMachine, action: dict[str, Any]) -> list[str]:
    """The lines of the change that an action makes, after which the view prints the answer."""
    before, text = compact(machine.visible_state()), json.dumps(action)
    machine.act(action)
    after = machine.visible_state()
    assert VIEW.view(roundtripped(after)) == machine.observation
    written = ANSWERS.write(tools(machine), before, compact(after), text)
    assert json.loads(ANSWERS.read(tools(machine), before, written, text)) == after
    return written.split("\n")


def episode(family: str, number: int) -> tuple[ToolMachine, Iterator[dict[str, Any]]]:
    """A server in the state of a task, under controls every other time, and calls of the task's menu without end."""
    task: Task = generate("mcp", family, 1 + number % 3, number)
    rng = random.Random(number)
    calls = [json.loads(action) for action in task.menu if not finishes(action)]
    controls = Controls(DISTURBED if number % 2 else {}, number)
    return ToolMachine.start(task.state, number, controls), iter(lambda: rng.choice(calls), None)


@pytest.mark.parametrize(("number", "family"), [*enumerate(FAMILIES)])
def test_a_machine_restored_from_its_state_goes_on_exactly(number: int, family: str) -> None:
    machine, calls = episode(family, number)
    with closing(machine):
        assert_restored_goes_on(machine, lambda machine: next(calls), 8, 12, lambda machine: machine.refused)


def test_a_machine_of_generated_rows_still_knows_which_of_them_nobody_has_seen() -> None:
    machine = ToolMachine.start({"scenario": "tracker", "size": "full", "seed": 3}, 5)
    look = {"name": "tracker-list_projects", "arguments": {}}
    machine.act(look)
    assert machine.spans
    twin = ToolMachine.restore(roundtripped(machine.structured_state()))
    assert twin.act(look) == machine.act(look)
    assert twin.spans == machine.spans == ()


@pytest.mark.parametrize(("number", "family"), [*enumerate(FAMILIES)])
def test_the_view_prints_every_answer_from_what_is_shown_and_changes_nothing(number: int, family: str) -> None:
    machine, calls = episode(family, number)
    with closing(machine):
        assert_view_prints(VIEW, machine, lambda machine: next(calls), 12)


def test_an_answer_says_which_tool_shows_what_and_a_change_which_rows_change() -> None:
    machine = ToolMachine.start(STATE, 0)
    assert change(machine, call("get_order", order_id=11)) == ['said/get_order/order_id = "{}"']
    assert change(machine, call("get_order", order_id=12)) == ['said/404 = "Order {order_id} not found"']
    assert change(machine, call("list_orders", limit=10)) == ["said/list_orders = {}"]
    assert change(machine, call("list_orders", limit=3, status="paid")) == [
        'said/list_orders = {"limit":"{}","status":"{}"}'
    ]
    assert change(machine, call("adjust_stock", sku="LMP-1", delta=-1, reason="broken")) == [
        '.products/LMP-1/stock += "{delta}"',
        '+.stock_moves {"sku":"{}","delta":"{}","reason":"{}","moved_at":"{now}"}',
        'said/adjust_stock = {"previous":4,"sku":"{}"}',
    ]
    assert change(machine, {"name": "shop-sing", "arguments": {}}) == ['said = "Unknown tool: shop-sing"']


def test_an_added_row_counts_on_has_the_defaults_of_its_table_and_names_what_the_call_and_the_rows_hold() -> None:
    machine = ToolMachine.start(STATE, 0)
    assert change(machine, call("place_order", customer_id=7, items=[{"sku": "LMP-1", "quantity": 3}])) == [
        '+.order_lines {"id":"{#orders},{items/0/sku}","quantity":3,"unit_price":"{products/LMP-1/price}"}',
        '+.orders {"customer_id":"{}","status":"pending","placed_at":"{now}","total":"{=}"}',
        '.products/LMP-1/stock += "{-items/0/quantity}"',
        'said/place_order/order_id = "{}"',
    ]
    assert machine.visible_state()["rows"]["orders"][-1]["total"] == 119.7


def test_a_sum_is_read_off_the_predicted_rows_and_not_off_the_call() -> None:
    before, action = compact(VIEW.begin(STATE, 0)), json.dumps(call("get_order", order_id=11))
    answer = '.order_lines/11,LMP-1/quantity = 10\n.orders/11/total = "{=}"'
    after = json.loads(ANSWERS.read(tools(ToolMachine.start(STATE, 0)), before, answer, action))
    assert after["rows"]["orders"][0]["total"] == 399.0


def test_rows_that_the_tables_refuse_are_told_by_the_rule_that_they_break() -> None:
    """A model may predict a stock below zero, where the server refuses the call."""
    before, action = compact(VIEW.begin(STATE, 0)), json.dumps(call("get_order", order_id=11))
    answer = '.products/LMP-1/stock = -3\nsaid/get_order/order_id = "{}"'
    after = json.loads(ANSWERS.read(tools(ToolMachine.start(STATE, 0)), before, answer, action))
    with pytest.raises(AnswerError, match=r"^the server would refuse these rows: CHECK constraint failed: stock >= 0$"):
        VIEW.view(after)


def test_a_call_with_a_number_that_no_row_can_have_concerns_no_rows() -> None:
    before = VIEW.begin(STATE, 0)
    assert VIEW.describe_for_model(before, call("get_order", order_id=2**63)) == ""
    assert VIEW.named_values(before, call("get_order", order_id=2**63))[1] == {}


def test_a_list_argument_that_a_result_reads_is_said_as_a_list() -> None:
    machine = ToolMachine.start(STATE, 0)
    items = [{"sku": "LMP-1", "quantity": 2}]
    assert change(machine, call("restock", items=items))[-1] == 'said/restock/items = "{}"'


def test_a_page_begins_with_a_row_and_a_hint_for_the_next() -> None:
    machine = ToolMachine.start({"scenario": "shop", "seed": 1}, 0, Controls({"pagination": 1.0}, 0))
    assert change(machine, call("list_orders", limit=9)) == ['said/list_orders = {"limit":"{}","#":0}']
    cursor = json.loads(machine.observation)["next_cursor"]
    assert change(machine, call("list_orders", limit=9, cursor=cursor)) == ['said/list_orders = {"limit":"{}","#":5}']


@pytest.mark.parametrize("start", [-1, 2.5, True, "5"])
def test_a_page_begins_with_the_number_of_a_row(start: object) -> None:
    with pytest.raises(AnswerError, match="a page begins with the number of a row"):
        VIEW.view({**VIEW.begin(STATE, 0), "said": {"list_orders": {"#": start}}})


@pytest.mark.parametrize("value", [8, "eight", b"8"])
def test_a_result_of_values_that_are_no_plain_data_is_not_said_by_them(value: object) -> None:
    properties = {"items": {"type": "array", "items": {"type": "string"}}}
    parameters = {"type": "object", "properties": properties}
    result = {"text": "{items}"}
    spec = ToolSpec.model_validate(
        {"name": "count", "description": "Counts.", "parameters": parameters, "result": result}
    )
    assert CallResult(sql_tool("shop", spec), {"items": '["a"]'}).plain_data == {"count": {"items": ["a"]}}
    assert CallResult(sql_tool("shop", spec), {"items": value}).plain_data is None


def test_what_does_not_follow_from_the_rows_is_said_as_it_stands() -> None:
    machine = ToolMachine.start({"scenario": "shop", "seed": 1}, 0, Controls({"slow-service": 1.0}, 0))
    (line,) = change(machine, call("adjust_stock", sku="NO-1", delta=1, reason="found"))
    assert line.startswith("said/404 = ")
    sku = str(machine.visible_state()["rows"]["products"][0]["id"])
    (line,) = change(machine, call("adjust_stock", sku=sku, delta=1, reason="found"))
    assert json.loads(line.removeprefix("said = ")) == f"{{{machine.observation}}}"


def test_the_rows_that_a_call_names_are_told_and_what_it_does_to_them_is_not() -> None:
    shown = VIEW.begin(STATE, 0)
    told = VIEW.describe_for_model(shown, call("open_return", order_id=11, sku="LMP-1", quantity=1, reason="late"))
    assert told.split("\n") == [
        "now 2026-03-04T09:30:00Z",
        'orders/11 {"status":"paid"}',
        'order_lines/11,LMP-1 {"quantity":2}',
        "returns/11,LMP-1 none",
        "returns 1",
    ]
    assert VIEW.describe_for_model(shown, call("get_order", order_id=12)) == "orders/12 none"
    assert VIEW.describe_for_model(shown, call("list_orders")) == ""
    assert (
        VIEW.describe_for_model(shown, call("sing"))
        == VIEW.describe_for_model(shown, None)
        == VIEW.describe_for_model(shown, "sing")
        == ""
    )


@pytest.mark.parametrize(
    "said", [{"99": "x"}, {"600": "x"}, {"\u0664\u0660\u0664": "x"}, {"404": None}, {"404": {"a": 1}}]
)
def test_a_refusal_has_a_code_of_an_error_and_words(said: dict[str, Any]) -> None:
    with pytest.raises(AnswerError):
        VIEW.view({**VIEW.begin(STATE, 0), "said": said})


def test_a_server_that_answers_nothing_is_told_by_that_name() -> None:
    state = VIEW.begin({"scenario": "shop", "size": "small", "seed": 1}, seed=0)
    with pytest.raises(AnswerError, match="the server answers nothing"):
        VIEW.view(VIEW.noted(state, None))


def test_what_an_agent_writes_makes_no_line_of_its_own_in_what_is_told() -> None:
    shown = VIEW.begin(STATE, 0)
    forged = 'x none\nproducts/LMP-1 {"stock":99}\u2028' + "y" * 30_000
    (line,) = VIEW.describe_for_model(shown, call("get_product", sku=forged)).splitlines()
    assert line.startswith('products/x none products/LMP-1 {"stock":99} yy')
    assert len(line) < 250


def test_rows_are_told_for_the_items_of_a_list_too() -> None:
    shown = VIEW.begin(STATE, 0)
    items = [{"sku": "LMP-1", "quantity": 1}, {"sku": "RUG-2", "quantity": 1}]
    told = VIEW.describe_for_model(shown, call("place_order", customer_id=7, items=items)).split("\n")
    assert 'products/LMP-1 {"price":39.9,"stock":4,"active":1}' in told
    assert "products/RUG-2 none" in told
    assert "orders 12" in told


@pytest.mark.parametrize(("number", "family"), [*enumerate(FAMILIES)])
def test_a_true_change_is_read_as_the_state_after_it_and_allowed_at_every_character(number: int, family: str) -> None:
    machine, calls = episode(family, number)
    with closing(machine):
        for _ in range(6):
            action, before = next(calls), compact(machine.visible_state())
            text = "\n".join(change(machine, action))
            allows = ANSWERS.allows(tools(machine), before, json.dumps(action))
            assert all(allows(text[:end]) for end in range(1, len(text) + 1))
            assert allows(text, whole=True)


BEFORE = json.dumps(VIEW.begin(STATE, 0))
OPERATIONS = operations(
    json.loads(BEFORE),
    places=["said/get_order/order_id", "said/list_orders/#", "said/404", ".orders/11/status"],
    words=["paid", "LMP-1", "shop", "get_order", "./nowhere", "2026-03-01T08:00:00Z"],
    keys=["id", "order_id", "status", "404", "get_order", "#"],
)
ACTIONS = st.fixed_dictionaries(
    {"name": st.sampled_from(["shop-get_order", "shop-place_order", "shop-open_return", "shop-sing"])},
    optional={
        "arguments": st.dictionaries(
            st.sampled_from(["order_id", "items", "sku"]), st.none() | st.integers() | st.floats() | st.text(max_size=5)
        )
    },
)


@settings(max_examples=300)
@given(answer=st.lists(OPERATIONS, min_size=1, max_size=3).map("\n".join), action=ACTIONS)
def test_a_predicted_state_is_printed_or_an_answer_error(answer: str, action: dict[str, Any]) -> None:
    if (state := printed_state(ANSWERS, BEFORE, answer)) is None:
        return
    ANSWERS.display(state, action)


@pytest.mark.parametrize("answer", ABSURD.values(), ids=ABSURD)
def test_an_absurd_answer_is_an_answer_error(answer: str) -> None:
    with pytest.raises(AnswerError):
        ANSWERS.printed(ANSWERS.read(None, BEFORE, answer))
