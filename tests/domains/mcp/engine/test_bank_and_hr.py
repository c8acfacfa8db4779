"""The bank and the personnel office: what every tool does and refuses, and rows that agree with each other."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest
from mcp_cases import HIRE, REFUSED, TABLES, WORKS

from agentworld_gym.domains.mcp.engine.machine import ToolMachine
from agentworld_gym.domains.mcp.engine.service import generated, load_service
from agentworld_gym.kit.tables.database import open_image


def machine_of(tool: str) -> ToolMachine:
    scenario = tool.split("-")[0]
    return ToolMachine.start({"scenario": scenario, "tables": TABLES[scenario]}, 0)


@pytest.mark.parametrize(
    ("tool", "arguments", "shows"), WORKS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_call_that_works(tool: str, arguments: dict[str, Any], shows: str) -> None:
    machine = machine_of(tool)
    before = machine.state()
    text = machine.act({"name": tool, "arguments": arguments})
    assert shows in text
    assert isinstance(json.loads(text), dict)
    changes = machine.service.tools[tool].writes and tool != "hr-set_manager"
    assert (machine.state() != before) == changes


@pytest.mark.parametrize(("tool", "arguments", "code", "shows"), REFUSED)
def test_a_call_that_is_refused_changes_nothing(tool: str, arguments: dict[str, Any], code: int, shows: str) -> None:
    machine = machine_of(tool)
    before = machine.state()
    text = machine.act({"name": tool, "arguments": arguments})
    if code == -32602:
        assert text.startswith(f"Error calling tool '{tool}': 1 validation error")
        assert shows in text
    else:
        answer = json.loads(text)
        assert (answer["status"], answer["code"]) == ("error", code)
        assert shows in answer["message"]
    assert machine.state() == before


@pytest.mark.parametrize("name", ["bank", "hr"])
def test_every_tool_is_shown_working_and_refusing(name: str) -> None:
    tools = set(load_service(name).tools)
    assert len(tools) >= 20
    assert len(load_service(name).keys) >= 8
    assert tools == {tool for tool, *_ in WORKS if tool.startswith(name)}
    assert tools == {tool for tool, *_ in REFUSED if tool.startswith(name)}


def test_money_moved_twice_a_day_counts_towards_the_limit() -> None:
    machine = machine_of("bank-")
    pay = {"name": "bank-pay_payee", "arguments": {"account_id": 1, "payee_id": 1, "amount": 200}}
    assert '"balance": 50.0' in machine.act(pay)
    machine.act({"name": "bank-move_money", "arguments": {"account_id": 2, "to_account_id": 1, "amount": 500}})
    assert "60.50 of 300.00 left today" in machine.act(pay)


def test_leave_that_is_cancelled_goes_back_to_the_balance() -> None:
    machine = machine_of("hr-")
    machine.act({"name": "hr-approve_leave", "arguments": {"request_id": 1, "approver_id": 1}})
    machine.act({"name": "hr-cancel_leave", "arguments": {"request_id": 1}})
    assert machine.state()["leave_balances/2,1/taken"] == 5


def test_who_is_hired_has_position_manager_salary_and_leave() -> None:
    machine = machine_of("hr-")
    machine.act({"name": "hr-hire_candidate", "arguments": {"candidate_id": 1, **HIRE}})
    shown = json.loads(machine.act({"name": "hr-get_employee", "arguments": {"employee_id": 5}}))
    assert (shown["position"], shown["manager_id"], shown["salary"]) == ("Planner", 3, 45000)
    state = machine.state()
    assert state["positions/4/status"] == "filled" and state["leave_balances/5,1/entitled"] == 26


# Each finds rows that disagree.
WRONG = {
    "bank": (
        "SELECT * FROM accounts WHERE balance <> (SELECT round(sum(amount), 2) FROM transactions t "
        "WHERE t.account_id = accounts.account_id)",
        "SELECT * FROM accounts WHERE opened_on > (SELECT min(posted_at) FROM transactions t "
        "WHERE t.account_id = accounts.account_id)",
        "SELECT * FROM accounts WHERE kind = 'savings' AND overdraft > 0",
        "SELECT * FROM cards JOIN accounts USING (account_id) WHERE kind = 'savings'",
        "SELECT * FROM transactions t JOIN cards c USING (card_id) WHERE t.account_id <> c.account_id",
        "SELECT * FROM transactions a JOIN transactions b ON a.transaction_id < b.transaction_id "
        "WHERE a.posted_at > b.posted_at",
        "SELECT * FROM transactions WHERE posted_at > '2026-04-15T10:20:00Z'",
        "SELECT * FROM standing_orders JOIN payees p USING (payee_id) JOIN accounts a USING (account_id) "
        "WHERE p.customer_id <> a.customer_id OR kind = 'savings'",
        "SELECT * FROM disputes JOIN transactions USING (transaction_id) WHERE kind <> 'card' OR opened_at < posted_at",
        "SELECT * FROM (SELECT count(*) AS n FROM sessions) WHERE n <> 1",
    ),
    "hr": (
        "SELECT * FROM employees e JOIN positions p USING (position_id) "
        "WHERE e.department_id <> p.department_id OR p.status <> 'filled'",
        "SELECT * FROM positions WHERE status = 'filled' AND position_id NOT IN (SELECT position_id FROM employees)",
        "SELECT * FROM employees e JOIN employees m ON m.employee_id = e.manager_id "
        "WHERE m.department_id <> e.department_id OR m.manager_id IS NOT NULL",
        "SELECT * FROM salaries JOIN employees e USING (employee_id) JOIN positions USING (position_id) "
        "WHERE valid_from = (SELECT max(valid_from) FROM salaries s WHERE s.employee_id = e.employee_id) "
        "AND amount NOT BETWEEN salary_min AND salary_max",
        "SELECT * FROM salaries a JOIN salaries b USING (employee_id) "
        "WHERE a.valid_from < b.valid_from AND a.amount > b.amount",
        "SELECT employee_id FROM salaries GROUP BY employee_id HAVING sum(reason = 'hired') <> 1",
        "SELECT * FROM employees WHERE employee_id NOT IN (SELECT employee_id FROM salaries)",
        "SELECT * FROM leave_balances b WHERE taken <> (SELECT coalesce(sum(days), 0) FROM leave_requests r "
        "WHERE r.employee_id = b.employee_id AND r.leave_type_id = b.leave_type_id AND status = 'approved')",
        "SELECT * FROM leave_requests a JOIN leave_requests b USING (employee_id) WHERE a.request_id < b.request_id "
        "AND a.first_day <= b.last_day AND a.last_day >= b.first_day",
        "SELECT * FROM leave_requests WHERE (status IN ('approved', 'refused')) <> (decided_by IS NOT NULL)",
        "SELECT * FROM reviews r JOIN employees e USING (employee_id) WHERE r.reviewer_id <> e.manager_id",
        "SELECT * FROM trainings t WHERE seats < (SELECT count(*) FROM enrolments e "
        "WHERE e.training_id = t.training_id)",
        "SELECT * FROM candidates JOIN positions p USING (position_id) WHERE p.status <> 'open'",
        "SELECT * FROM interviews WHERE (starts_at > '2026-04-20') <> (score IS NULL)",
    ),
}


@pytest.mark.parametrize("size", ["small", "full"])
@pytest.mark.parametrize("name", ["bank", "hr"])
def test_generated_rows_agree_with_each_other(name: str, size: Any) -> None:
    for seed in range(25 if size == "small" else 4):
        for connection in database(name, size, seed):
            for sql in WRONG[name]:
                assert connection.execute(sql).fetchall() == [], (sql, seed)
            count = sum(connection.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in load_service(name).keys)
            assert count <= 62 if size == "small" else count >= 400


def database(name: str, size: Any, seed: int) -> Iterator[sqlite3.Connection]:
    connection = open_image(generated(name, size, seed))
    yield connection
    connection.close()
