"""Returns in a shop, which its rules allow or forbid."""

from __future__ import annotations

import datetime

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.mcp.tasks.rules.cases import Kind, RuleCase, days_of, drawn_kinds, settled
from agentworld_gym.domains.mcp.tasks.scene import ToolScene, family

REASONS = ("one corner is broken", "it is scratched", "the colour is wrong", "a part is missing")


@family("shop")
def settle_returns(scene: ToolScene, level: int) -> TaskDraft:
    """The agent approves the open returns that came in time, rejects the others, and leaves the dear ones to somebody
    else."""
    scene.run("DELETE FROM returns")
    kinds = drawn_kinds(scene, level)
    customers = scene.some(scene.values("SELECT customer_id FROM customers ORDER BY customer_id"), len(kinds))
    cases = [_case(scene, kind, customer) for kind, customer in zip(kinds, customers, strict=True)]
    request = scene.say(
        "Settle all open returns by the rules: approve those that came in time and reject those that came too late. "
        "Leave open what you may not decide.",
        "Go through the open returns. Each that the rules allow is approved, each that came too late is rejected, and "
        "what is not yours to decide stays open.",
    )
    closing = "Finish with what the approved pieces cost together, in euros."
    return settled(scene, level, cases, request, closing, [scene.call("list_returns", status="open")], _more(scene))


def _more(scene: ToolScene) -> str:
    return scene.call("list_low_stock")


def _case(scene: ToolScene, kind: Kind, customer: int) -> RuleCase:
    """Put an order that was delivered, and its return."""
    rules = scene.policies
    role = "lead_most" if scene.service.scenario.about.user.endswith("lead") else "agent_most"
    most = rules[role]
    tier = "gold" if kind == "exempt" else scene.pick(("standard", "silver"))
    scene.run("UPDATE customers SET tier = :tier WHERE customer_id = :customer", tier=tier, customer=customer)
    taken = days_of(scene, kind, rules["return_days"], rules["gold_days"])
    back = scene.date - datetime.timedelta(scene.rng.randint(1, 4))
    delivered = back - datetime.timedelta(taken)
    placed = f"{(delivered - datetime.timedelta(3)).isoformat()}T09:20:00Z"
    wanted = "price > :most" if kind == "reserved" else "price <= :most"
    product = scene.pick(scene.rows(f"SELECT sku, price FROM products WHERE {wanted} ORDER BY sku", most=most))
    quantity = 1 if kind == "reserved" else scene.rng.randint(1, max(1, min(3, int(most / product["price"]))))
    worth = round(quantity * product["price"], 2)
    order = scene.put("orders", customer_id=customer, status="delivered", placed_at=placed, total=worth)
    scene.put("order_lines", order_id=order, sku=product["sku"], quantity=quantity, unit_price=product["price"])
    scene.put("payments", order_id=order, amount=worth, method="card", paid_at=placed)
    scene.put(
        "shipments",
        order_id=order,
        carrier="Parcelo",
        tracking=f"TR{100000 + order * 17}",
        shipped_at=placed,
        delivered_at=f"{delivered.isoformat()}T11:00:00Z",
    )
    number = scene.put(
        "returns",
        order_id=order,
        sku=product["sku"],
        quantity=quantity,
        reason=scene.pick(REASONS),
        opened_at=f"{back.isoformat()}T{scene.rng.randint(8, 18):02}:30:00Z",
    )
    state = {"in time": "approved", "exempt": "approved", "late": "rejected", "reserved": "open"}[kind]
    look = [scene.call("get_shipment", order_id=order)]
    if kind == "exempt":
        look.append(scene.call("get_customer", customer_id=customer))
    return RuleCase(
        kind,
        scene.call("resolve_return", return_id=number, decision="approved"),
        scene.call("resolve_return", return_id=number, decision="rejected"),
        tuple(look),
        scene.probe(scene.call("list_returns", order_id=order), {"return_id": number, "status": state}),
        worth,
    )
