"""The structured state of the web: it is complete, and the view prints what a browser shows from the part it reads."""

from __future__ import annotations

import random
from typing import Any

import pytest
from laws import assert_restored_goes_on, assert_view_prints, roundtripped

from agentworld_gym.base.errors import AnswerError
from agentworld_gym.core.engines import Controls
from agentworld_gym.core.screens import read_screen
from agentworld_gym.domains.web.engine.machine import WebMachine
from agentworld_gym.domains.web.engine.sites.database import Image, rows_of
from agentworld_gym.domains.web.engine.sites.site import load_site
from agentworld_gym.domains.web.engine.view import WebView
from agentworld_gym.llm.prompting.state_changes import write_change

VIEW = WebView()
SHOP = {"open": "http://shop.example/", "sites": {"shop": None}, "seed": 0}
SITES = ("shop", "forum", "tracker", "wiki", "mail")
DISTURBED = {
    name: 0.1
    for name in (
        "unexpected-dialog",
        "stale-element",
        "slow-loading",
        "reordered-menu",
        "session-expired",
        "intermittent-errors",
        "pagination",
    )
}
Call = dict[str, Any]


def call(name: str, **arguments: Any) -> Call:
    return {"name": f"browser_{name}", "arguments": arguments}


def gesture(machine: WebMachine, rng: random.Random) -> Call:
    """Something that a person might do on the page, at random."""
    if "### Modal state" in machine.observation:
        return call("handle_dialog", accept=rng.random() < 0.5)
    nodes = read_screen("web", machine.observation)
    hands = [node.handle for node in nodes if "cursor=pointer" in node.flags]
    fields = [node.handle for node in nodes if node.role in ("textbox", "searchbox")]
    if fields and rng.random() < 0.3:
        return call("type", ref=rng.choice(fields), text="lamp 7", submit=rng.random() < 0.5)
    if hands and rng.random() < 0.7:
        return call("click", ref=rng.choice(hands))
    others = [
        call("snapshot"),
        call("navigate_back"),
        call("press_key", key="Tab"),
        call("press_key", key="Enter"),
        call("tabs", action="new"),
        call("tabs", action="select", index=0),
        call("navigate", url=f"http://{rng.choice(SITES)}.example/"),
    ]
    return rng.choice(others)


def start(seed: int) -> WebMachine:
    site = SITES[seed % len(SITES)]
    state = {"open": f"http://{site}.example/", "sites": {site: None}, "seed": seed}
    return WebMachine.start(state, seed, Controls(DISTURBED if seed % 2 else {}, seed))


def find(machine: WebMachine, name: str, role: str = "") -> str:
    """The reference of the first element of a name."""
    nodes = read_screen("web", machine.observation)
    return next(str(node.handle) for node in nodes if node.name == name and node.role.startswith(role))


@pytest.mark.parametrize("seed", range(6))
def test_a_machine_restored_from_its_state_goes_on_exactly(seed: int) -> None:
    rng = random.Random(seed)
    assert_restored_goes_on(
        start(seed),
        lambda machine: gesture(machine, rng),
        rng.randrange(20),
        15,
        lambda machine: machine.observation_in("browsergym"),
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_view_prints_every_answer_from_what_is_shown_and_changes_nothing(seed: int) -> None:
    rng = random.Random(seed)
    assert_view_prints(VIEW, start(seed), lambda machine: gesture(machine, rng), 20)


def changes(machine: WebMachine, action: Call) -> list[str]:
    """What a world model should write for an action."""
    before = roundtripped(machine.visible_state())
    machine.act(action)
    assert VIEW.view(roundtripped(machine.visible_state())) == machine.observation
    return write_change(VIEW.noted(before, action), machine.visible_state(), VIEW.place(before)).split("\n")


def test_most_actions_change_little() -> None:
    machine = WebMachine.start({**SHOP, "open": "http://shop.example/products/101", "signed_in": {"shop": "nadim"}}, 0)
    assert changes(machine, call("click", ref=find(machine, "Reviews (1)"))) == [
        f'.focus = "{find(machine, "Reviews (1)")}"',
        '.tab = "tab-reviews"',
    ]
    quantity = find(machine, "Quantity")
    assert changes(machine, call("type", ref=quantity, text="2")) == [
        '.fields/quantity = "2"',
        f'.focus = "{quantity}"',
    ]
    assert changes(machine, call("snapshot")) == ["same"]
    assert changes(machine, call("click", ref=find(machine, "Add to cart"))) == [
        '+data/shop/cart {"id":"nadim,101","quantity":2}',
        "-.focus",
        "-.tab",
        '+.. {"url":"http://shop.example/cart","flash":"Added to your cart."}',
    ]
    assert changes(machine, call("navigate_back")) == ["tabs/0/back = 1", "-.flash"]


def test_what_an_action_is_aimed_at_is_told_with_the_rows_of_its_request() -> None:
    machine = WebMachine.start({**SHOP, "open": "http://shop.example/products/101", "signed_in": {"shop": "nadim"}}, 0)
    told = VIEW.describe_for_model(machine.visible_state(), call("click", ref=find(machine, "Add to cart"))).split("\n")
    assert told[0] == "http://shop.example/products/101 <1"
    assert told[1].endswith("| nadim")
    assert told[2] == 'button "Add to cart"'
    assert told[3].startswith('POST > http://shop.example/cart/add {"product_id":"101","quantity":"1"}')
    assert "shop/cart/nadim,101 none" in told
    link = VIEW.describe_for_model(machine.visible_state(), call("click", ref=find(machine, "Delivery", "link")))
    assert link.split("\n")[2:] == ['link "Delivery"', "> http://shop.example/help/delivery"]


@pytest.mark.parametrize(
    ("action", "told"),
    [
        (call("click", ref="e999"), "no such element"),
        (call("press_key", key="Fly"), "no such key"),
        (call("press_key", key="Tab"), "next e"),
        (call("type", ref="e6", text="lamp", submit=True), "> http://shop.example/products?q=lamp"),
        (call("navigate_back"), "GET about:blank"),
        (call("wait_for", text="Add to cart"), "shown"),
    ],
)
def test_every_kind_of_action_has_an_aim(action: Call, told: str) -> None:
    machine = WebMachine.start({**SHOP, "open": "http://shop.example/products/101"}, 0)
    machine.act(call("click", ref=find(machine, "Reviews (1)")))
    assert VIEW.describe_for_model(machine.visible_state(), action).split("\n")[-1].startswith(told)


def test_references_follow_from_the_earlier_looks_of_a_page() -> None:
    machine = WebMachine.start({**SHOP, "open": "http://shop.example/products/101"}, 0)
    for name in ("Delivery", "Reviews (1)", "Description", "Delivery"):
        machine.act(call("click", ref=find(machine, name, "tab")))
        shown = roundtripped(machine.visible_state())
        assert VIEW.view(shown) == machine.observation
    *_, page = shown["tabs"]["0"]["pages"]
    assert page["looks"] == [{}, {"tab": "tab-delivery"}, {"tab": "tab-reviews"}]


def test_a_page_that_no_longer_is_what_its_rows_say_brings_its_text_along() -> None:
    machine = WebMachine.start({**SHOP, "open": "http://shop.example/cart", "signed_in": {"shop": "nadim"}}, 0)
    machine.act(call("tabs", action="new"))
    machine.act(call("navigate", url="http://shop.example/products/101"))
    machine.act(call("click", ref=find(machine, "Add to cart")))
    machine.act(call("tabs", action="select", index=0))
    shown = roundtripped(machine.visible_state())
    assert "body" in shown["tabs"]["0"]["pages"][-1]
    assert VIEW.view(shown) == machine.observation
    twin = WebMachine.restore(roundtripped(machine.structured_state()))
    assert twin.structured_state() == machine.structured_state()


@pytest.mark.parametrize(
    "wrong",
    [
        {"tab": 3},
        {"tabs": {}},
        {"tabs": {"0": {"pages": [{"url": "http://shop.example/cart"}]}}},
        {"tabs": {"0": {"pages": [{"url": "http://nowhere.example/"}]}}},
        {"tabs": {"0": {"pages": [{"url": "http://shop.example/", "fields": {"colour": "red"}}]}}},
        {"said": 7},
        {"data": {}},
        {"web": {"sites": ["chess"]}},
    ],
)
def test_a_state_that_no_browser_has_is_an_answer_error(wrong: dict[str, Any]) -> None:
    shown = VIEW.begin(SHOP, 0) | wrong
    with pytest.raises(AnswerError, match="the view cannot print"):
        VIEW.view(shown)


def test_a_database_that_sessions_share_is_read_as_often_as_they_like() -> None:
    # The work of one call is bounded, and once all reads of a process counted as one call.
    site = load_site("shop")
    image = Image(site.generated("small", 0), site.keys)
    first = rows_of(image)
    assert all(len(rows_of(image)) == len(first) for _ in range(2_000))
