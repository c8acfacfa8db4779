"""What the change of a browser can refer to by a name, and how a true change stands with these names."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.domains.web.engine.machine import WebMachine
from agentworld_gym.domains.web.engine.view import WebView
from agentworld_gym.llm.prompting.state_answers import StateAnswers
from tests.domains.web.engine.test_structured_state import Call, call, find

VIEW = WebView()
ANSWERS = StateAnswers(VIEW, ActionParser(load_spec("web")))
SHOP: dict[str, Any] = {
    "users": [{"username": "jana", "name": "Jana Beck", "email": "jana@example.org", "password": "jana-1"}],
    "categories": [{"slug": "kitchen", "name": "Kitchen"}],
    "products": [
        {"product_id": 101, "name": "Kettle", "category": "kitchen", "price": 30.5, "stock": 14},
        {"product_id": 102, "name": "Lamp", "category": "kitchen", "price": 20.25, "stock": 9},
    ],
    **{table: [] for table in ("reviews", "coupons", "orders", "order_lines", "returns", "wishlist")},
    "cart": [{"username": "jana", "product_id": 101, "quantity": 2}],
    "checkouts": [
        {"username": "jana", "name": "Jana Beck", "street": "Mill Lane 4", "postcode": "20449", "city": "Harwick"}
        | {"delivery": "express", "payment": "invoice"}
    ],
}


def shop(path: str, user: str | None = "jana") -> WebMachine:
    """A browser in front of a page of a small shop."""
    state: dict[str, Any] = {"open": f"http://shop.example{path}", "sites": {"shop": SHOP}}
    return WebMachine.start(state | ({"signed_in": {"shop": user}} if user else {}), 0)


def site(name: str, path: str) -> WebMachine:
    """A browser in front of a page of a site with rows from a seed, where the first user is signed in."""
    state = {"open": f"http://{name}.example{path}", "sites": {name: None}, "seed": 1}
    first = VIEW.begin(state, 0)["data"][name]["users"][0]["id"]
    return WebMachine.start({**state, "signed_in": {name: first}}, 0)


def change(machine: WebMachine, action: Call) -> list[str]:
    """The true change of an action, which is read as the state after it and allowed at every character."""
    before, text = json.dumps(machine.visible_state()), json.dumps(action)
    machine.act(action)
    told = ANSWERS.write(None, before, json.dumps(machine.visible_state()), text)
    assert json.loads(ANSWERS.read(None, before, told, text)) == machine.visible_state()
    allows = ANSWERS.allows(None, before, text)
    assert [told[:end] for end in range(len(told) + 1) if not allows(told[:end])] == []
    assert allows(told, whole=True)
    machine.act(call("snapshot"))
    return told.split("\n")


def test_a_field_and_its_focus_have_the_names_of_their_places() -> None:
    machine = site("mail", "/compose")
    typed = call("type", ref=find(machine, "Subject", "textbox"), text="The keys")
    assert change(machine, typed) == ['.fields/subject = "{}"', '.focus = "{}"']
    fields = [
        {"name": name, "type": "textbox", "ref": find(machine, name, "textbox"), "value": value}
        for name, value in {"Subject": "Keys", "To": "bo@post.example"}.items()
    ]
    assert change(machine, call("fill_form", fields=fields)) == [
        '.fields/subject = "{}"',
        '.fields/to = "{}"',
        '.focus = "{}"',
    ]


def test_an_option_is_named_though_its_label_alone_is_said() -> None:
    machine = shop("/products")
    sort = call("select_option", ref=find(machine, "Sort by", "combobox"), values=["Price, lowest first"])
    assert change(machine, sort)[0] == '.fields/sort = "{}"'
    machine = shop("/checkout/payment")
    assert change(machine, call("click", ref=find(machine, "Voucher", "radio"))) == [
        '.fields/payment = "{}"',
        '.focus = "{}"',
    ]


def test_a_link_gives_its_address() -> None:
    machine = shop("/")
    assert change(machine, call("click", ref=find(machine, "Delivery", "link"))) == ['+.. {"url":"{}"}']


def test_a_request_gives_its_fields_and_the_parts_of_its_path() -> None:
    machine = shop("/products/102")
    assert change(machine, call("click", ref=find(machine, "Add to cart"))) == [
        '+data/shop/cart {"id":"{user},{product_id}","quantity":"{}"}',
        '+.. {"url":"http://shop.example/cart","flash":"Added to your cart."}',
    ]
    machine.act(call("navigate", url="http://shop.example/products/102/review"))
    assert change(machine, call("click", ref=find(machine, "Publish review")))[-1].startswith('.focus = "{refused}"')


def test_columns_of_rows_have_the_names_of_the_turn_and_the_next_number_that_of_its_key() -> None:
    machine = shop("/checkout/review")
    machine.act(call("click", ref=find(machine, "I accept the terms of sale")))
    machine.act(call("snapshot"))
    assert change(machine, call("click", ref=find(machine, "Place order"))) == [
        "data/shop/cart = []",
        "data/shop/checkouts = []",
        '+data/shop/order_lines {"id":"{order_id},{products/product_id}","quantity":2,"unit_price":"{products/price}"}',
        '+data/shop/orders {"username":"{user}","status":"processing","placed_at":"{now}","name":"{checkouts/name}",'
        '"street":"{checkouts/street}","postcode":"{checkouts/postcode}","city":"{checkouts/city}",'
        '"delivery":"{checkouts/delivery}","payment":"{checkouts/payment}","discount":0.0,'
        '"shipping":"{totals/shipping}","total":"{totals/total}"}',
        "data/shop/products/101/stock += -2",
        "-.focus",
        '+.. {"url":"http://shop.example/orders/{order_id}","flash":"Thank you. Your order {order_id} is placed."}',
    ]


def test_who_is_not_signed_in_is_sent_on_to_the_named_address() -> None:
    machine = shop("/", user=None)
    assert change(machine, call("navigate", url="http://shop.example/orders?status=shipped")) == [
        '+.. {"url":"http://shop.example/login?next=/{next}","flash":"Please sign in to continue."}'
    ]


def test_a_form_that_is_refused_names_what_was_sent() -> None:
    machine = shop("/login", user=None)
    user, password = find(machine, "User name"), find(machine, "Password")
    machine.act(call("type", ref=user, text="jana"))
    assert change(machine, call("type", ref=password, text="jana-2", submit=True))[-1] == (
        '+.. {"url":"{}","sent":"{}","errors":{"":"Wrong user name or password."},"unseen":true}'
    )


def test_what_a_site_adds_to_each_row_is_left_out() -> None:
    machine = site("tracker", "/issues/new")
    machine.act(call("type", ref=find(machine, "Title", "textbox"), text="The lamp is out"))
    machine.act(call("snapshot"))
    machine.act(call("type", ref=find(machine, "Description", "textbox"), text="It went out at nine."))
    machine.act(call("snapshot"))
    assert change(machine, call("click", ref=find(machine, "Open issue"))) == [
        '+data/tracker/issues {"title":"{headline}","text":"{}","kind":"{}","priority":"{}","author":"{user}",'
        '"opened_at":"{now}"}',
        "-.focus",
        '+.. {"url":"http://tracker.example/issues/{issue_id}","flash":"Issue {issue_id} is opened."}',
    ]


def test_words_of_the_statements_themselves_have_no_names() -> None:
    machine = site("tracker", "/")
    issue = next(row for row in machine.visible_state()["data"]["tracker"]["issues"] if row["status"] == "open")
    machine.act(call("navigate", url=f"http://tracker.example/issues/{issue['id']}/close"))
    done = find(machine, "Done", "radio")
    machine.act(call("click", ref=done))
    machine.act(call("snapshot"))
    told = change(machine, call("click", ref=find(machine, "Close issue", "button")))
    assert f'data/tracker/issues/{issue["id"]}/reason = "done"' in told
    assert f'data/tracker/issues/{issue["id"]}/status = "closed"' in told
    assert f'data/tracker/issues/{issue["id"]}/closed_at = "{{now}}"' in told


ARGUMENTS = st.dictionaries(
    st.sampled_from(["ref", "text", "url", "values", "fields", "submit", "key", "element"]),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["e6", "{x}"]),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["ref", "value"]), inner),
        max_leaves=4,
    ),
)
BEFORE = shop("/products/102").visible_state()


@settings(max_examples=60, deadline=None)
@given(name=st.sampled_from(["click", "type", "fill_form", "select_option", "press_key"]), arguments=ARGUMENTS)
def test_a_call_may_have_any_arguments(name: str, arguments: dict[str, Any]) -> None:
    values, _ = VIEW.named_values(BEFORE, call(name, **arguments))
    assert values["user"] == "jana"
    assert not any("{" in name for name in values)
