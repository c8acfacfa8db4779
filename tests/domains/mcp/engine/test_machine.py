"""The tool server: scenarios of data, calls and their answers, errors, forks, states and controls."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines import Controls, EngineError
from agentworld_gym.core.engines.controls import suspended
from agentworld_gym.domains.mcp.engine import CallContext, Tool, ToolMachine, generated, load_service, scenario_names
from agentworld_gym.domains.mcp.engine.tool import ToolRefusal
from agentworld_gym.domains.mcp.engine.tool_spec import ToolFile
from agentworld_gym.kit.tables.database import open_image, tables_of
from agentworld_gym.kit.tables.row_file import SMALL_ROWS
from agentworld_gym.llm.prompting.prompt import Prompts

SMALL = {"scenario": "shop", "size": "small", "seed": 1}
TABLES = {
    "customers": [{"customer_id": 7, "name": "Ilse Marwood", "email": "ilse@example.com", "since": "2023-08-19"}],
    "products": [
        {"sku": "LMP-1", "name": "Lamp Übermut", "price": 39.9, "stock": 4},
        {"sku": "RUG-2", "name": "Rug", "price": 0.1, "stock": 9},
    ],
    "coupons": [{"code": "TEN10", "percent": 10, "ends_on": "2026-12-31"}],
    "orders": [
        {"order_id": 11, "customer_id": 7, "status": "paid", "placed_at": "2026-03-01T08:00:00Z", "total": 39.9},
        {"order_id": 12, "customer_id": 7, "status": "pending", "placed_at": "2026-03-02T08:00:00Z", "total": 0.3},
    ],
    "order_lines": [
        {"order_id": 11, "sku": "LMP-1", "quantity": 1, "unit_price": 39.9},
        {"order_id": 12, "sku": "RUG-2", "quantity": 3, "unit_price": 0.1},
    ],
}


def server(controls: Mapping[str, float] | None = None, tables: Any = TABLES) -> ToolMachine:
    """A shop with few rows."""
    return ToolMachine.start({"scenario": "shop", "tables": tables}, seed=0, controls=Controls(controls or {}, seed=5))


def call(machine: ToolMachine, tool: str, **arguments: Any) -> Any:
    """What a tool of the shop answers, read as JSON."""
    return json.loads(machine.act({"name": f"shop-{tool}", "arguments": arguments}))


def error(code: int, message: str) -> dict[str, Any]:
    return {"status": "error", "code": code, "message": message}


# Scenarios


@pytest.mark.parametrize("name", scenario_names())
def test_a_scenario_has_many_tools_tables_and_rows(name: str) -> None:
    service = load_service(name)
    assert len(service.tools) >= 20
    assert len(service.keys) >= 8
    for tool in service.tools.values():
        assert tool.name.startswith(f"{name}-")
        assert all(schema.get("description") for schema in tool.parameters["properties"].values()), tool.name
    for seed in range(8):
        assert rows(generated(name, "small", seed)) <= SMALL_ROWS
    assert rows(generated(name, "full", 0)) >= 300


def rows(image: bytes) -> int:
    """How many rows there are in all tables together; no reference leads nowhere."""
    connection = open_image(image)
    assert not connection.execute("PRAGMA foreign_key_check").fetchall()
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    return sum(connection.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in tables if t != "sqlite_sequence")


def test_equal_seeds_give_equal_rows() -> None:
    service = load_service("shop")
    assert service.generated("small", 3) == service.generated("small", 3) != service.generated("small", 4)


@pytest.mark.parametrize("name", scenario_names())
def test_told_rows_play_like_generated_ones(name: str) -> None:
    service = load_service(name)
    image = generated(name, "small", 2)
    about = service.scenario.about
    tables = tables_of(open_image(image), service.keys)
    told = ToolMachine.start({"scenario": name, "now": about.now, "user": about.user, "tables": tables}, 0)
    made = ToolMachine.start({"scenario": name, "size": "small", "seed": 2}, 0)
    assert told.state() == made.state()
    for tool in service.tools.values():
        action = {"name": tool.name, "arguments": {}}
        assert told.act(action) == made.act(action)


def test_the_total_of_a_generated_order_is_the_sum_of_its_lines() -> None:
    machine = ToolMachine.start({"scenario": "shop", "size": "full", "seed": 0}, 0)
    for order in call(machine, "list_orders", limit=50)["orders"]:
        whole = call(machine, "get_order", order_id=order["order_id"])
        if whole["coupon"] is None:
            assert order["total"] == pytest.approx(
                sum(line["quantity"] * line["unit_price"] for line in whole["lines"])
            )


# Answers


def test_a_record_comes_with_its_columns_in_order_and_what_belongs_to_it() -> None:
    text = server().act({"name": "shop-get_order", "arguments": {"order_id": 12}})
    assert text == (
        '{"order_id": 12, "customer_id": 7, "status": "pending", "placed_at": "2026-03-02T08:00:00Z", "coupon": null, '
        '"total": 0.3, "note": null, "lines": [{"sku": "RUG-2", "name": "Rug", "quantity": 3, "unit_price": 0.1}]}'
    )


def test_a_list_counts_what_it_shows_and_what_matched() -> None:
    machine = server()
    shown = call(machine, "list_orders", limit=1)
    assert ([order["order_id"] for order in shown["orders"]], shown["count"], shown["total"]) == ([12], 1, 2)
    assert [order["order_id"] for order in call(machine, "list_orders", offset=1)["orders"]] == [11]
    assert machine.act({"name": "shop-list_orders", "arguments": {"status": "shipped"}}) == (
        '{"orders": [], "count": 0, "total": 0}'
    )


def test_search_ignores_case_and_takes_no_wildcards() -> None:
    machine = server()
    assert [found["sku"] for found in call(machine, "search_products", query="ÜBER")["products"]] == ["LMP-1"]
    assert call(machine, "search_products", query="%")["products"] == []


def test_booleans_are_booleans_and_a_write_shows_in_every_later_read() -> None:
    machine = server()
    assert call(machine, "get_product", sku="RUG-2")["active"] is True
    assert call(machine, "update_product", sku="RUG-2", active=False)["active"] is False
    assert call(machine, "place_order", customer_id=7, items=[{"sku": "RUG-2", "quantity": 1}]) == error(
        409, "Product RUG-2 is not for sale"
    )


def test_a_new_record_gets_the_next_id_and_the_time_of_the_episode() -> None:
    machine = server()
    order = call(machine, "place_order", customer_id=7, items=[{"sku": "LMP-1", "quantity": 2}])
    assert (order["order_id"], order["placed_at"], order["total"]) == (13, "2026-03-04T09:30:00Z", 79.8)
    assert call(machine, "get_product", sku="LMP-1")["stock"] == 2
    assert call(machine, "apply_coupon", order_id=13, code="TEN10")["total"] == 71.82


def test_unknown_arguments_are_ignored_whatever_they_are_called() -> None:
    machine, plain = server(), server()
    given = {"now": "1999-01-01T00:00:00Z", "user": "root", "new_id": 1, "colour": "red", "order_id": 12, "note": "x"}
    assert call(machine, "set_order_note", **given) == call(plain, "set_order_note", order_id=12, note="x")
    assert machine.state() == plain.state()


def test_a_whole_number_may_be_written_as_a_float() -> None:
    assert call(server(), "get_order", order_id=12.0)["order_id"] == 12
    assert call(server(), "get_order", order_id=99.0) == error(404, "Order 99 not found")


@pytest.mark.parametrize("task", load_spec("mcp").handwritten_tasks(), ids=lambda task: task.id)
def test_a_task_begins_alike_in_a_language_world_and_here(task: Task) -> None:
    machine = ToolMachine.start(task.state, 0)
    assert Prompts(load_spec("mcp")).first_observation(task) == machine.observation
    assert {tool["name"] for tool in task.tools} <= set(machine.service.tools)


# Errors


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "message"),
    [
        ("get_order", {"order_id": 99}, 404, "Order 99 not found"),
        ("update_order_status", {"order_id": 12, "status": "cancelled"}, None, ""),
        (
            "ship_order",
            {"order_id": 12, "carrier": "Parcelo"},
            409,
            "Order 12 is pending; only paid orders can be shipped",
        ),
        ("adjust_stock", {"sku": "LMP-1", "delta": -5}, 409, "Product LMP-1 has only 4 pieces in stock"),
        ("sales_report", {"start": "2026-02-01", "end": "2026-01-01"}, 400, "start lies after end"),
        ("create_coupon", {"code": "OLD", "percent": 5, "ends_on": "2020-01-01"}, 422, "ends_on lies in the past"),
        ("list_orders", {"cursor": "nonsense"}, 400, "Invalid cursor"),
    ],
)
def test_the_service_says_why_it_refuses(tool: str, arguments: dict[str, Any], code: int | None, message: str) -> None:
    machine = server()
    before = machine.state()
    answer = call(machine, tool, **arguments)
    if code is None:
        assert not machine.refused
        return
    assert answer == error(code, message)
    assert machine.refused
    assert machine.state() == before


def test_what_only_the_database_forbids_is_told_in_its_words() -> None:
    machine = server()
    items = [{"sku": "LMP-1", "quantity": 1}, {"sku": "LMP-1", "quantity": 1}]
    message = "Conflict: UNIQUE constraint failed: order_lines.order_id, order_lines.sku"
    assert call(machine, "place_order", customer_id=7, items=items) == error(409, message)


def test_a_call_that_fails_half_way_leaves_no_trace() -> None:
    machine = server()
    before, image = machine.state(), machine.database()
    items = [{"sku": "LMP-1", "quantity": 1}, {"sku": "NO-9", "quantity": 1}]
    assert call(machine, "place_order", customer_id=7, items=items) == error(404, "Product NO-9 not found")
    assert machine.state() == before
    assert machine.database() == image
    assert call(machine, "place_order", customer_id=7, items=items[:1])["order_id"] == 13


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("shop-get_order", {"order_id": "abc"}),
        ("shop-get_order", {}),
        ("shop-update_order_status", {"order_id": 11, "status": "lost"}),
        ("shop-place_order", {"customer_id": 7, "items": [{"sku": 3}]}),
        ("shop-nothing", {}),
    ],
)
def test_the_machine_refuses_a_call_in_the_words_of_the_parser(name: str, arguments: dict[str, Any]) -> None:
    machine = server()
    text = json.dumps({"name": name, "arguments": arguments})
    action = ActionParser(load_spec("mcp")).parse(text, machine.service.listed)
    assert machine.act({"name": name, "arguments": arguments}) == action.error
    assert action.error


def test_a_number_too_large_for_the_database_is_told_as_a_tool_tells_it() -> None:
    text = server().act({"name": "shop-get_order", "arguments": {"order_id": 2**63}})
    assert json.loads(text) == {
        "status": "error",
        "code": 422,
        "message": "Unprocessable Entity: order_id is out of range",
    }


# State, forks, files


def test_the_state_holds_every_value_by_table_key_and_column() -> None:
    machine = server()
    before = machine.state()
    assert before["orders/11/status"] == "paid"
    assert before["order_lines/12,RUG-2/quantity"] == 3
    call(machine, "adjust_stock", sku="LMP-1", delta=2, reason="found")
    after = machine.state()
    changed = {field for field in before.keys() | after.keys() if before.get(field) != after.get(field)}
    moves = {f"stock_moves/1/{column}" for column in ("move_id", "sku", "delta", "reason", "moved_at")}
    assert changed == {"products/LMP-1/stock", *moves}


ids = st.sampled_from([11, 12, 13])
skus = st.sampled_from(["LMP-1", "RUG-2", "NO-9"])
lines = st.lists(st.fixed_dictionaries({"sku": skus, "quantity": st.integers(1, 3)}), min_size=1, max_size=3)
steps = st.one_of(
    st.builds(lambda i: ("get_order", {"order_id": i}), ids),
    st.builds(lambda i: ("ship_order", {"order_id": i, "carrier": "Parcelo"}), ids),
    st.builds(lambda s, d: ("adjust_stock", {"sku": s, "delta": d}), skus, st.integers(-5, 5)),
    st.builds(lambda i, a: ("record_payment", {"order_id": i, "amount": a, "method": "card"}), ids, st.floats(0.1, 99)),
    st.builds(lambda items: ("place_order", {"customer_id": 7, "items": items}), lines),
    st.builds(lambda items: ("restock", {"items": items}), lines),
    st.just(("list_orders", {})),
    st.just(("search_products", {})),
)
every_control = dict.fromkeys(load_spec("mcp").controls, 0.5)


@given(st.lists(steps, max_size=8), st.lists(steps, max_size=8), st.sampled_from([{}, every_control]))
@settings(max_examples=60, deadline=None)
def test_a_fork_is_exact_and_goes_its_own_way(
    before: list[tuple[str, Any]], after: list[tuple[str, Any]], controls: dict[str, float]
) -> None:
    machine = server(controls)
    act = [{"name": f"shop-{tool}", "arguments": arguments} for tool, arguments in before]
    for action in act:
        machine.act(action)
    state, twin = machine.state(), machine.fork()
    assert (twin.observation, twin.state()) == (machine.observation, state)
    more = [{"name": f"shop-{tool}", "arguments": arguments} for tool, arguments in after]
    answers = [twin.act(action) for action in more]
    assert machine.state() == state
    assert [machine.act(action) for action in more] == answers
    assert machine.state() == twin.state()
    assert machine.spans == twin.spans


def test_the_database_can_be_saved(tmp_path: Path) -> None:
    machine = server()
    call(machine, "set_order_note", order_id=11, note="saved")
    machine.save(tmp_path / "shop.db")
    stored = sqlite3.connect(tmp_path / "shop.db")
    assert stored.execute("SELECT note FROM orders WHERE order_id = 11").fetchall() == [("saved",)]


def test_a_closed_machine_gives_up_openly() -> None:
    machine = server()
    machine.close()
    machine.close()
    for use in (lambda: machine.act({}), machine.state, machine.fork, machine.database):
        with pytest.raises(EngineError, match="close"):
            use()


def test_made_up_identifiers_are_metadata_and_depend_on_the_seed() -> None:
    action = {"name": "shop-ship_order", "arguments": {"order_id": 11, "carrier": "Parcelo"}}
    seen = []
    for seed in (1, 1, 2):
        machine = ToolMachine.start({"scenario": "shop", "tables": TABLES}, seed)
        text = machine.act(action)
        (span,) = machine.spans
        assert span.kind == "metadata"
        assert json.loads(text)["tracking"].lower() == "tr" + text[span.start : span.end].lower()
        seen.append(text)
        machine.act({"name": "shop-get_shipment", "arguments": {"order_id": 11}})
        assert machine.spans == ()
    assert seen[0] == seen[1] != seen[2]


def test_generated_rows_are_pre_existing_until_they_are_shown() -> None:
    machine = ToolMachine.start(SMALL, 0)
    action = {"name": "shop-list_coupons", "arguments": {}}
    text = machine.act(action)
    code = json.loads(text)["coupons"][0]["code"]
    assert {span.kind for span in machine.spans} == {"pre-existing"}
    assert f'"{code}"' in {text[span.start : span.end] for span in machine.spans}
    machine.act(action)
    assert machine.spans == ()
    machine.act({"name": "shop-get_order", "arguments": {"order_id": 1}})
    assert machine.spans == ()


# Controls


@pytest.mark.parametrize("control", sorted(every_control))
def test_a_control_of_strength_zero_or_suspended_changes_nothing(control: str) -> None:
    actions = [("restock", {"items": [{"sku": "LMP-1", "quantity": 1}, {"sku": "RUG-2", "quantity": 1}]})]
    actions += [("list_orders", {}), ("get_order", {"order_id": 11})]

    def play(machine: ToolMachine) -> list[Any]:
        return [call(machine, tool, **arguments) for tool, arguments in actions]

    calm = play(server())
    assert play(server({control: 0.0})) == calm
    with suspended():
        assert play(server({control: 1.0})) == calm


def test_an_intermittent_error_goes_away_when_the_call_is_repeated() -> None:
    machine = server({"intermittent-errors": 1.0})
    before = machine.state()
    failed = call(machine, "set_order_note", order_id=11, note="x")
    assert failed == error(503, "Service Unavailable: upstream timeout, please retry")
    assert machine.state() == before
    assert call(machine, "set_order_note", order_id=11, note="x")["note"] == "x"
    assert call(machine, "set_order_note", order_id=11, note="x")["code"] == 503


def test_pages_hold_all_rows_once_and_in_order() -> None:
    state = {"scenario": "shop", "size": "full", "seed": 1}
    whole = call(ToolMachine.start(state, 0), "list_orders", limit=12)
    machine = ToolMachine.start(state, 0, Controls({"pagination": 1.0}))
    page = call(machine, "list_orders", limit=12)
    assert list(page) == ["orders", "count", "total", "next_cursor"]
    found, sizes = page["orders"], [page["count"]]
    while "next_cursor" in page:
        page = call(machine, "list_orders", limit=12, cursor=page["next_cursor"])
        found += page["orders"]
        sizes.append(page["count"])
    assert (found, sizes) == (whole["orders"], [5, 5, 2])
    assert call(machine, "list_orders", limit=12)["orders"] == whole["orders"][:5]


def test_of_a_batch_some_items_fail_and_can_be_sent_again() -> None:
    machine = server({"partial-failure": 1.0})
    items = [{"sku": "LMP-1", "quantity": 2}, {"sku": "RUG-2", "quantity": 3}]
    answer = call(machine, "restock", items=items)
    (failed,) = answer["errors"]
    assert failed == {"item": failed["item"], "code": 503, "message": "Service Unavailable"}
    state = machine.state()
    assert (state["products/LMP-1/stock"], state["products/RUG-2/stock"]) in {(6, 9), (4, 12)}
    assert "errors" not in call(machine, "restock", items=[failed["item"]])
    state = machine.state()
    assert (state["products/LMP-1/stock"], state["products/RUG-2/stock"]) == (6, 12)


def test_a_list_lacks_values_that_the_record_has() -> None:
    machine = server({"incomplete-results": 0.8})
    listed = call(machine, "list_orders")["orders"]
    gone = [(order["order_id"], key) for order in listed for key, value in order.items() if value is None]
    assert gone
    assert {key for _, key in gone} <= {"status", "total"}
    assert call(machine, "list_orders")["orders"] == listed
    for number, key in gone:
        assert call(machine, "get_order", order_id=number)[key] is not None


def test_a_writing_tool_may_want_a_reason() -> None:
    machine = server({"permission-denied": 1.0})
    assert call(machine, "get_order", order_id=11)["order_id"] == 11
    refused = call(machine, "set_order_note", order_id=11, note="x", justification=" ")
    assert (refused["code"], "justification" in refused["message"]) == (403, True)
    assert call(machine, "set_order_note", order_id=11, note="x", justification="asked for")["note"] == "x"


def test_what_is_accepted_is_done_two_calls_later() -> None:
    machine = server({"slow-service": 1.0})
    accepted = call(machine, "set_order_note", order_id=11, note="x")
    message = "Accepted; the change takes effect shortly"
    assert accepted == {"status": "pending", "job_id": "job-0001", "message": message}
    assert [call(machine, "get_order", order_id=11)["note"] for _ in range(2)] == [None, "x"]
    assert call(machine, "set_order_note", order_id=99, note="x") == error(404, "Order 99 not found")


def test_a_stale_list_shows_what_was_before_the_last_write() -> None:
    machine = server({"stale-data": 1.0})
    call(machine, "update_order_status", order_id=12, status="cancelled")
    assert {order["status"] for order in call(machine, "list_orders")["orders"]} == {"paid", "pending"}
    assert call(machine, "get_order", order_id=12)["status"] == "cancelled"
    call(machine, "set_order_note", order_id=12, note="x")
    assert {order["status"] for order in call(machine, "list_orders")["orders"]} == {"paid", "cancelled"}


# Tools in code


def test_a_tool_can_be_a_function() -> None:
    def count(connection: sqlite3.Connection, arguments: Mapping[str, Any], context: CallContext) -> Any:
        connection.execute("UPDATE orders SET note = ?", (context.user,))
        if arguments.get("fail") == "refuse":
            raise ToolRefusal(409, "not today")
        if arguments.get("fail"):
            raise AssertionError(f"no {arguments['fail']}")
        return {"orders": connection.execute("SELECT count(*) FROM orders").fetchone()[0], "user": context.user}

    service = load_service("shop")
    tool = Tool("shop-count", "Counts.", {"type": "object", "properties": {}}, count, writes=True)
    machine = ToolMachine(
        replace(service, tools={tool.name: tool}), service.image(TABLES), CallContext("now", "ann"), 0
    )
    before = machine.state()
    assert call(machine, "count", fail="refuse") == error(409, "not today")
    assert (
        machine.act({"name": "shop-count", "arguments": {"fail": "luck"}}) == "Error calling tool 'shop-count': no luck"
    )
    assert machine.state() == before
    assert call(machine, "count") == {"orders": 2, "user": "ann"}
    assert machine.state()["orders/11/note"] == "ann"


# Broken states and scenarios


@pytest.mark.parametrize(
    ("state", "key", "expected"),
    [
        ({}, "scenario", "this key to be there"),
        ({"scenario": "casino"}, "scenario", "one of bank, hr"),
        ({"scenario": "shop", "colour": 1}, "colour", "no such key"),
        ({"scenario": "shop", "size": "huge"}, "size", "'small' or 'full'"),
        ({"scenario": "shop", "tables": {"pets": []}}, "tables.pets", "one of categories"),
        ({"scenario": "shop", "tables": {"orders": "all"}}, "tables.orders", "a list of rows"),
        ({"scenario": "shop", "tables": {"orders": [3]}}, "tables.orders.0", "a mapping"),
        ({"scenario": "shop", "tables": {"coupons": [{"cod": 1}]}}, "tables.coupons.0.cod", "columns code"),
        ({"scenario": "shop", "tables": {"coupons": [{"code": "A"}]}}, "tables.coupons.0", "NOT NULL"),
        (
            {
                "scenario": "shop",
                "tables": {"payments": [{"order_id": 5, "amount": 1, "method": "card", "paid_at": "x"}]},
            },
            "tables.payments.1",
            "a row of orders",
        ),
    ],
)
def test_a_broken_state_names_key_and_expectation(state: dict[str, Any], key: str, expected: str) -> None:
    with pytest.raises(SpecError) as caught:
        ToolMachine.start(state, 0)
    assert caught.value.key == key
    assert expected in caught.value.expected


GOOD = {
    "scenario.yaml": 'title: t\ndescription: d\nnow: "2026-01-01T00:00:00Z"\nuser: u\n',
    "schema.sql": "CREATE TABLE t (n INTEGER PRIMARY KEY, word TEXT);",
    "rows.yaml": "sizes: {small: {t: 3}, full: {t: 3}}\ntables: {t: {n: {count: 1}, word: {choice: [a, b]}}}\n",
    "tools.yaml": "tools: [{name: all, description: d, result: {key: t, many: SELECT * FROM t}}]\n",
}
TOOL = "tools: [{{name: x, description: d, {}}}]"


def scenario(folder: Path, **files: str) -> str:
    for name, text in {
        **GOOD,
        **{f"{stem}.{'sql' if stem == 'schema' else 'yaml'}": t for stem, t in files.items()},
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
    return str(folder)


def test_a_scenario_needs_no_python(tmp_path: Path) -> None:
    machine = ToolMachine.start({"scenario": scenario(tmp_path)}, 0)
    text = machine.act({"name": f"{tmp_path.name}-all", "arguments": {}})
    assert [row["n"] for row in json.loads(text)["t"]] == [1, 2, 3]


def test_rows_follow_their_recipes(tmp_path: Path) -> None:
    rows = """
sizes: {small: {team: 4, job: 40}, full: {team: 4, job: 40}}
tables:
  team:
    code: {draw: [aa, bb, cc, dd]}
    chief: {of: team.code}
    rank: {count: 10, step: 5}
  job:
    n: {count: 1}
    team: {of: team.code, spread: true}
    rank: {of: team.rank, by: team}
    junior: {of: team.code, where: {rank: 10}}
    _tool: {choice: [{name: Saw, price: 2.5}, {name: Axe, price: 4}]}
    tool: {field: _tool.name}
    price: {field: _tool.price}
    pay: {money: [1, 2]}
    level: {choice: {1: 1, 2: 0}}
    day: {date: [2026-01-05, 2026-01-30], weekdays: true, sorted: true}
    at: {time: ["2026-01-05T00:00:00Z", "2026-01-30T23:00:00Z"], between: [9, 12], grid: 30}
    until: {after: at, minutes: [45, 45]}
    due: {after: day, days: [2, 2]}
    note: {text: ["{tool|lower}-{n:03}", "{team|upper} {@nouns}"], empty: 0.5}
then: ["UPDATE team SET rank = rank * 2"]
"""
    columns = "n INTEGER PRIMARY KEY, team, rank, junior, tool, price, pay, level, day, at, until, due, note"
    schema = f"CREATE TABLE team (code TEXT PRIMARY KEY, chief, rank); CREATE TABLE job ({columns});"
    name = scenario(tmp_path, rows=rows, schema=schema, tools=TOOL.format("result: {text: x}"))
    tables = tables_of(open_image(generated(name, "small", 0)), load_service(name).keys)
    ranks: dict[Any, Any] = {row["code"]: row["rank"] for row in tables["team"]}
    assert sorted(ranks.values()) == [20, 30, 40, 50]
    assert [row["chief"] for row in tables["team"]].count(None) == 1
    jobs: list[dict[str, Any]] = tables["job"]
    assert [job["n"] for job in jobs] == list(range(1, 41))
    assert len({job["team"] for job in jobs[:4]}) == 4
    assert all(2 * job["rank"] == ranks[job["team"]] for job in jobs)
    assert {ranks[job["junior"]] for job in jobs} == {20}
    assert {(job["tool"], job["price"]) for job in jobs} == {("Saw", 2.5), ("Axe", 4)}
    assert all(1 <= job["pay"] <= 2 and round(job["pay"], 2) == job["pay"] for job in jobs)
    assert {job["level"] for job in jobs} == {1}
    assert [job["day"] for job in jobs] == sorted(job["day"] for job in jobs)
    for job in jobs:
        day, due, at, until = (datetime.fromisoformat(job[key]) for key in ("day", "due", "at", "until"))
        assert day.weekday() < 5
        assert due - day == timedelta(days=2)
        assert (9 <= at.hour < 12, at.minute % 30, at.second) == (True, 0, 0)
        assert until - at == timedelta(minutes=45)
        assert job["note"] is None or job["note"].startswith(
            (job["tool"].lower() + f"-{job['n']:03}", job["team"].upper())
        )
    assert 8 < [job["note"] for job in jobs].count(None) < 32


@pytest.mark.parametrize(
    ("files", "key", "expected"),
    [
        ({"scenario": "title: t\n"}, "description", "this key"),
        ({"scenario": GOOD["scenario.yaml"].replace('"', "")}, "now", "in quotes"),
        ({"schema": "CREATE TABEL t"}, "the whole document", "SQL that runs"),
        ({"rows": "sizes: {small: {t: 99}, full: {t: 1}}\ntables: {t: {}}\n"}, "the whole document", "at most 60"),
        ({"rows": GOOD["rows.yaml"].replace("count: 1", "count: 1, of: t.n")}, "tables.t.n", "exactly one of"),
        ({"rows": GOOD["rows.yaml"].replace("choice: [a, b]", "draw: [a, b]")}, "tables.t.word", "at least 3 entries"),
        ({"rows": GOOD["rows.yaml"].replace("[a, b]", "planets")}, "tables.t.word", "no word list planets"),
        ({"rows": GOOD["rows.yaml"].replace("count: 1", "value: 1")}, "tables.t", "that the schema accepts"),
        ({"tools": TOOL.format("result: {one: SELECT nothing FROM t}")}, "tools.0 (x).result.one", "SQL that runs"),
        ({"tools": TOOL.format("result: {one: DELETE FROM t}")}, "tools.0 (x).result.one", "a SELECT"),
        ({"tools": TOOL.format("result: {one: \"SELECT date('now')\"}")}, "tools.0.result.one", "there is :now"),
        (
            {"rows": GOOD["rows.yaml"] + "then: ['UPDATE t SET word = random()']\n"},
            "then",
            "a statement without random",
        ),
        ({"rows": GOOD["rows.yaml"] + "then: ['UPDATE t SET letter = 1']\n"}, "then.0", "no such column: letter"),
        ({"tools": TOOL.format('result: {text: "{what}"}')}, "tools.0 (x).result.text", "a text over"),
        ({"tools": TOOL.format("result: {}")}, "tools.0.result", "exactly one of one, many, text"),
        (
            {"tools": TOOL.format("parameters: {properties: {now: {}}}, result: {text: x}")},
            "tools.0 (x).parameters",
            "another name",
        ),
        (
            {"tools": TOOL.format('result: {one: "SELECT 1 FROM t WHERE word LIKE :a"}')},
            "tools.0.result.one",
            "no LIKE",
        ),
    ],
)
def test_a_broken_scenario_names_file_key_and_expectation(
    tmp_path: Path, files: dict[str, str], key: str, expected: str
) -> None:
    with pytest.raises(SpecError) as caught:
        ToolMachine.start({"scenario": scenario(tmp_path, **files)}, 0)
    (stem,) = files
    assert Path(caught.value.file).stem == stem
    assert caught.value.key == key
    assert expected in caught.value.expected


def test_the_schema_of_tools_is_there_for_editors() -> None:
    assert "ToolSpec" in ToolFile.model_json_schema()["$defs"]
