"""States that a world model predicts may be wrong in any way: they are printed, or they are answer errors."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.domains.web.engine.machine import WebMachine
from agentworld_gym.domains.web.engine.view import WebView
from agentworld_gym.llm.prompting.state_answers import StateAnswers
from tests.helpers.predicted_states import ABSURD, operations, printed_state

ANSWERS = StateAnswers(WebView(), ActionParser(load_spec("web")))
USERS = [{"username": "ana", "name": "Ana Beck", "email": "ana@example.org", "password": "ana-1"}]
PRODUCTS = [
    {"product_id": 1, "name": "Kettle", "category": "kitchen", "price": 30.0, "stock": 4},
    {"product_id": 2, "name": "Lamp", "category": "kitchen", "price": 20.0, "stock": 0},
]
TABLES = {
    "users": USERS,
    "categories": [{"slug": "kitchen", "name": "Kitchen"}],
    "products": PRODUCTS,
    "cart": [{"username": "ana", "product_id": 1, "quantity": 2}],
    **{table: [] for table in ("reviews", "coupons", "checkouts", "orders", "order_lines", "returns", "wishlist")},
}


def start() -> str:
    """A shop of two products, in front of the first one, with a second tab."""
    state = {"open": "http://shop.example/products/1", "sites": {"shop": TABLES}, "signed_in": {"shop": "ana"}}
    machine = WebMachine.start(state, 0)
    machine.act({"name": "browser_tabs", "arguments": {"action": "new"}})
    machine.act({"name": "browser_tabs", "arguments": {"action": "select", "index": 0}})
    return json.dumps(machine.visible_state())


BEFORE = start()
URLS = ["http://shop.example/cart", "http://shop.example/orders/7", "http://shop.example/login", "about:blank", "x://"]
OPERATIONS = operations(
    json.loads(BEFORE),
    places=[
        ".url",
        ".focus",
        ".fields/quantity",
        ".fields/q",
        ".tab",
        ".modal",
        ".looks",
        ".sent",
        ".errors",
        ".flash",
    ],
    words=[*URLS, "e7", "#3", "tab-reviews", "ref", "modal", "ana", "kitchen", "ERR_CACHE_MISS", ""],
    keys=["id", "url", "focus", "fields", "flash", "sent", "errors", "status", "looks", "pages", "username", "x"],
)
CALLS = st.sampled_from(
    [
        {"name": "browser_click", "arguments": {"ref": "e7"}},
        {"name": "browser_click", "arguments": {"ref": "e43"}},
        {"name": "browser_type", "arguments": {"ref": "e6", "text": "lamp", "submit": True}},
        {"name": "browser_select_option", "arguments": {"ref": "e6", "values": ["x"]}},
        {"name": "browser_press_key", "arguments": {"key": "Enter"}},
        {"name": "browser_handle_dialog", "arguments": {"accept": True}},
        {"name": "browser_navigate_back", "arguments": {}},
        {"name": "browser_tabs", "arguments": {"action": "list"}},
        {"name": "browser_snapshot", "arguments": {}},
    ]
)


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(answer=st.lists(OPERATIONS, min_size=1, max_size=3).map("\n".join), action=CALLS, after=OPERATIONS)
def test_a_predicted_state_is_printed_or_an_answer_error(answer: str, action: dict[str, Any], after: str) -> None:
    if (state := printed_state(ANSWERS, BEFORE, answer, json.dumps(action))) is None:
        return
    ANSWERS.display(state, action)
    opened = ANSWERS.state_after_opening(
        state, {"name": "browser_navigate", "arguments": {"url": "http://shop.example/cart"}}
    )
    assert opened is None or ANSWERS.printed(opened)
    try:
        ANSWERS.printed(ANSWERS.read(None, state, after, json.dumps(action)))
    except AnswerError:
        return


@pytest.mark.parametrize("answer", [*ABSURD.values(), "tab = 7"], ids=[*ABSURD, "no such tab"])
def test_an_absurd_answer_is_an_answer_error(answer: str) -> None:
    with pytest.raises(AnswerError):
        ANSWERS.printed(ANSWERS.read(None, BEFORE, answer))


@pytest.mark.parametrize(
    "answer",
    [
        'data/shop/products/1/name = "Teapot"',
        '+data/shop/products {"id":3,"name":"Mug","category":"kitchen","price":4.5,"stock":1}',
        '+.. {"url":"http://shop.example/products/2","flash":"Look at this."}',
        '+.. {"url":"http://shop.example/login","sent":{"username":"ana"},"errors":{"":"Wrong password."}}',
        '+.. {"url":"http://nowhere.example/","failed":"ERR_NAME_NOT_RESOLVED"}',
        'said = {"error":"ref","ref":"e7"}',
        "tab = 1",
    ],
)
def test_what_an_engine_never_did_can_be_printed(answer: str) -> None:
    assert ANSWERS.printed(ANSWERS.read(None, BEFORE, answer)).startswith("### ")


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ('data/shop/products/1/colour = {"red":1}', "type 'dict' is not supported"),
        ('data/shop/products/1/weight = "4 kg"', "no column"),
        ("data/shop/cart/ana,1/quantity = 0", "CHECK"),
        ("-users/shop", "no page is shown"),
        ('.focus = "e999"', "no element"),
        ('.fields/size = "big"', "size"),
    ],
)
def test_the_error_says_what_was_wrong(answer: str, wrong: str) -> None:
    state = json.loads(BEFORE)
    state["tabs"]["0"]["pages"].append({"url": "http://shop.example/cart"})
    with pytest.raises(AnswerError, match=wrong):
        ANSWERS.printed(ANSWERS.read(None, json.dumps(state), answer))


@pytest.mark.parametrize(
    ("begun", "is_allowed"),
    {
        '+data/shop/cart {"id":"an': True,
        '+data/shop/cart {"id":"ana,2","quantity"': True,
        '+data/shop/cart {"id":"bo': False,
        'data/shop/checkouts = [{"id":"bo': True,
        'data/shop/products/1/category = "kitchen"': True,
        'data/shop/products/1/category = "gar': False,
        'data/shop/products/1/name = "Gar': True,
        '+data/shop/categories {"id":"garden"}\ndata/shop/products/1/category = "gar': True,
        '.fields/q = "gar': True,
        '.fields/category = "kitchen"': True,
        '.fields/category = "gar': False,
        ".fields/category = null": True,
    }.items(),
)
def test_only_rows_that_are_there_are_referred_to_and_only_options_that_a_list_has_are_chosen(
    begun: str, is_allowed: bool
) -> None:
    state = json.loads(BEFORE)
    state["tabs"]["0"]["pages"].append({"url": "http://shop.example/products"})
    assert ANSWERS.allows(None, json.dumps(state))(begun) is is_allowed


def test_a_row_that_refers_to_none_is_an_answer_error() -> None:
    added = '+data/shop/cart {{"id":"{},2","quantity":1}}'
    assert ANSWERS.printed(ANSWERS.read(None, BEFORE, added.format("ana")))
    with pytest.raises(AnswerError, match="a row of cart refers to no row of users"):
        ANSWERS.printed(ANSWERS.read(None, BEFORE, added.format("bob")))


@settings(max_examples=60, deadline=None)
@given(lines=st.lists(OPERATIONS, min_size=1, max_size=3).map("\n".join))
def test_what_may_begin_a_change_is_told_of_any_text(lines: str) -> None:
    allows = ANSWERS.allows(None, BEFORE)
    assert all(allows(lines[:end]) in (True, False) for end in range(len(lines)))
