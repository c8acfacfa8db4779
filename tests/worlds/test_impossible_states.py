"""A model may predict what the rules of the tables forbid, such as a stock below zero: whoever stores it refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import Failure, FailureKind, Observation
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines import Restorable
from agentworld_gym.domains.mcp.engine.service import load_service
from agentworld_gym.llm.generators import ScriptedGenerator
from agentworld_gym.worlds.grounded_variants import open_grounded
from agentworld_gym.worlds.language import LanguageWorld
from agentworld_gym.worlds.options import WorldOptions

LAMPS: dict[str, Any] = {
    "scenario": "shop",
    "tables": {
        "customers": [{"customer_id": 7, "name": "Ilse Marwood", "email": "ilse@example.com", "since": "2023-08-19"}],
        "products": [{"sku": "LMP-1", "name": "Lamp", "price": 39.9, "stock": 1}],
    },
}
CHECKOUT = {
    "name": "Ana",
    "street": "Lane 1",
    "postcode": "12345",
    "city": "Tarn",
    "delivery": "standard",
    "payment": "invoice",
}
SITE: dict[str, Any] = {
    "users": [{"username": "ana", "name": "Ana Beck", "email": "ana@example.org", "password": "ana-1"}],
    "categories": [{"slug": "light", "name": "Light"}],
    "products": [{"product_id": 1, "name": "Lamp", "category": "light", "price": 20.0, "stock": 1}],
    "cart": [{"username": "ana", "product_id": 1, "quantity": 2}],
    "checkouts": [{"username": "ana", **CHECKOUT}],
    **{table: [] for table in ("reviews", "coupons", "orders", "order_lines", "returns", "wishlist")},
}
REVIEW = {"open": "http://shop.example/checkout/review", "sites": {"shop": SITE}, "signed_in": {"shop": "ana"}}


def task_on(domain: str, state: dict[str, Any]) -> Task:
    tools = load_service(state["scenario"]).listed if domain == "mcp" else ()
    success = ({"answer": {"equals": "done"}},)
    return Task(id="lamps", domain=domain, instruction="Buy lamps.", state=state, tools=tools, success=success)


def order(quantity: int) -> str:
    items = [{"sku": "LMP-1", "quantity": quantity}]
    return json.dumps({"name": "shop-place_order", "arguments": {"customer_id": 7, "items": items}})


def click(element: str, ref: str) -> str:
    return json.dumps({"name": "browser_click", "arguments": {"element": element, "ref": ref}})


def played(domain: str, state: dict[str, Any], actions: list[str], wrong: str) -> tuple[Any, Any, Any, Any]:
    """What the grounded world answers to the last action and what it leaves, and what a dream does that is wrong then.

    Before the last action the dream is told the truth.
    """
    spec, task = load_spec(domain), task_on(domain, state)
    grounded = open_grounded(spec)
    dream = WorldOptions(spec, profile="compact", form="state").language(ScriptedGenerator(lambda request: wrong))
    assert isinstance(dream, LanguageWorld)
    (real,), (session,) = grounded.begin([task], [0]), dream.begin([task], [0])
    assert not isinstance(real, Failure) and not isinstance(session, Failure)
    machine, parser = real.machine, ActionParser(spec)
    assert isinstance(machine, Restorable)
    *before, last = [parser.parse(text, task.tools) for text in actions]
    for action in before:
        (true,) = grounded.step([real], [action])
        assert isinstance(true, Observation)
        dream.accept(session, action, Observation(true.text, state=json.dumps(machine.visible_state())))
    (answer,), (dreamt,) = grounded.step([real], [last]), dream.step([session], [last])
    return answer, machine.visible_state(), dreamt, json.loads(session.screen)


def test_a_tool_refuses_in_its_own_words_what_would_break_a_rule_of_its_tables() -> None:
    wrong = ".products/LMP-1/stock += -3\nsaid/place_order/order_id = 12"
    answer, left, dreamt, state = played("mcp", LAMPS, [order(3)], wrong)
    assert json.loads(answer.text) == {
        "status": "error",
        "code": 409,
        "message": "Product LMP-1 has only 1 pieces in stock",
    }
    assert isinstance(dreamt, Observation) and dreamt.text == answer.text
    assert state["rows"] == left["rows"] and state["said"] == left["said"]


def test_a_task_of_several_servers_is_none_for_a_model_of_one() -> None:
    world = WorldOptions(load_spec("mcp"), form="state").language(ScriptedGenerator(lambda request: ""))
    composed = task_on("mcp", LAMPS).model_copy(update={"state": {"servers": [LAMPS, {"scenario": "bank"}]}})
    (begun,) = world.begin([composed], [0])
    assert isinstance(begun, Failure) and begun.kind is FailureKind.UNSEEN
    assert "one server, and the task has 2" in begun.message


def test_a_site_refuses_in_its_own_words_what_would_break_a_rule_of_its_tables() -> None:
    actions = [click("Terms", "e65"), click("Place order", "e66")]
    answer, left, dreamt, state = played("web", REVIEW, actions, "data/shop/products/1/stock += -2")
    assert "One of the products is no longer in stock in that quantity." in answer.text
    assert isinstance(dreamt, Observation) and dreamt.text == answer.text
    assert state == left


@pytest.mark.parametrize(
    ("domain", "state", "actions", "wrong"),
    [
        ("mcp", LAMPS, [order(1)], ".products/LMP-1/stock += -3\nsaid/place_order/order_id = 12"),
        (
            "web",
            {**REVIEW, "sites": {"shop": {**SITE, "cart": [{"username": "ana", "product_id": 1, "quantity": 1}]}}},
            [click("Terms", "e65"), click("Place order", "e66")],
            "data/shop/products/1/stock += -2",
        ),
    ],
)
def test_what_would_be_carried_out_is_no_refusal_however_wrong_the_prediction(
    domain: str, state: dict[str, Any], actions: list[str], wrong: str
) -> None:
    answer, _, dreamt, _ = played(domain, state, actions, wrong)
    assert "stock" not in answer.text
    assert isinstance(dreamt, Failure) and dreamt.kind is FailureKind.MALFORMED
    assert "would refuse these rows: CHECK constraint failed: stock >= 0" in dreamt.message
