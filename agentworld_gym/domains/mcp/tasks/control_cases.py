"""Experts that show what each control of the tool servers does: one that fails under it, and one that copes with it.

The experts differ only in how they ask: one asks once, the other does what a control makes necessary.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator
from typing import Any

from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.tasks.control_cases import ControlCase, Solver

Answer = dict[str, Any]
Asking = Generator[str, str, Answer]
Ask = Callable[..., Asking]
"""A function of a tool of the shop and its arguments: it yields the actions that get an answer, and returns the
answer."""

_NAME = re.compile(r"(?:Customer|order of) (\w+ \w+) (?:writes|was)")


def once(tool: str, **arguments: Any) -> Asking:
    """Ask, and take the answer as it is."""
    text = yield json.dumps({"name": f"shop-{tool}", "arguments": arguments}, ensure_ascii=False)
    try:
        answer = json.loads(text)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def again(tool: str, **arguments: Any) -> Asking:
    """Ask until the service responds."""
    answer = yield from once(tool, **arguments)
    while answer.get("code") == 503:
        answer = yield from once(tool, **arguments)
    return answer


def all_pages(tool: str, **arguments: Any) -> Asking:
    """Ask for every page and join their rows."""
    answer = page = yield from once(tool, **arguments)
    while "next_cursor" in page:
        page = yield from once(tool, **arguments, cursor=page["next_cursor"])
        answer = {key: value + page[key] if isinstance(value, list) else value for key, value in answer.items()}
    return answer


def the_rest(tool: str, **arguments: Any) -> Asking:
    """Ask again for the items that failed."""
    answer = yield from once(tool, **arguments)
    while failed := answer.get("errors"):
        answer = yield from once(tool, **{**arguments, "items": [error["item"] for error in failed]})
    return answer


def with_reason(tool: str, **arguments: Any) -> Asking:
    """Ask again with a reason if one is required."""
    answer = yield from once(tool, **arguments)
    if answer.get("code") == 403:
        answer = yield from once(tool, **arguments, justification="the customer asks for it")
    return answer


def to_the_end(tool: str, **arguments: Any) -> Asking:
    """Wait until a job that was accepted is done."""
    answer = yield from once(tool, **arguments)
    if "job_id" in answer:
        for _ in range(2):
            yield from once("list_categories")
    return answer


def by_id(tool: str, **arguments: Any) -> Asking:
    """Read every order of a list by its number."""
    answer = yield from once(tool, **arguments)
    if tool == "list_orders":
        for order in answer["orders"]:
            order |= yield from once("get_order", order_id=order["order_id"])
    return answer


def cancelling(ask: Ask) -> Solver:
    """Return a solver that cancels the later of two equal orders, restocks its pieces and adds up the other orders."""

    def solve(task: Task) -> Generator[str, str, None]:
        named = _NAME.search(task.instruction)
        assert named is not None
        answer = yield from ask("find_customer", query=named[1])
        customers = answer.get("customers") or [{}]
        orders = yield from _orders(ask, customers[0].get("customer_id"))
        later = _later(orders)
        order = yield from ask("get_order", order_id=later)
        items = [{"sku": line["sku"], "quantity": line["quantity"]} for line in order.get("lines", ())]
        yield from ask("restock", items=items)
        yield from ask("update_order_status", order_id=later, status="cancelled")
        orders = yield from _orders(ask, customers[0].get("customer_id"))
        total = sum(order["total"] or 0 for order in orders if order["status"] != "cancelled")
        yield f"finish: {total:.2f}"

    return solve


def _orders(ask: Ask, customer: int | None) -> Generator[str, str, list[Answer]]:
    answer = yield from ask("list_orders", customer_id=customer, limit=50)
    orders: list[Answer] = answer.get("orders", [])
    return orders


def _later(orders: list[Answer]) -> int:
    """Return the number of the later of two orders with equal totals, or 0 if there are none."""
    latest: dict[float, int] = {}
    for order in sorted(orders, key=lambda order: int(order["order_id"])):
        if order["total"] is not None and order["total"] in latest:
            return int(order["order_id"])
        latest[order["total"]] = order["order_id"]
    return 0


def _case(control: str, strength: float, ask: Ask) -> ControlCase:
    return ControlCase(control, strength, "cancel_duplicate", 2, cancelling(once), cancelling(ask))


CASES = (
    _case("intermittent-errors", 0.4, again),
    _case("pagination", 1.0, all_pages),
    _case("partial-failure", 1.0, the_rest),
    _case("incomplete-results", 0.5, by_id),
    _case("permission-denied", 0.6, with_reason),
    _case("slow-service", 0.6, to_the_end),
    _case("stale-data", 0.8, by_id),
)
