"""Whatever is sent to the web engine is answered with a text, in bounded time and memory."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.engines import Controls, Machine, Span
from agentworld_gym.domains.web.engine.accessibility.snapshot import snapshot
from agentworld_gym.domains.web.engine.browser.browser import MAX_HISTORY, MAX_TABS
from agentworld_gym.domains.web.engine.document.dom import Document
from agentworld_gym.domains.web.engine.document.page import MAX_VALUE, Page
from agentworld_gym.domains.web.engine.machine import WebMachine

TOOLS = {
    tool["name"]: tool.get("parameters", {}).get("properties", {})
    for spec in load_spec("web").in_every_dialect()
    for tool in spec.action.tools
}
STATE = {"open": "http://shop.example/products", "sites": {"shop": None}, "seed": 1}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
ANYTHING = JSON | st.binary(max_size=5) | st.sets(st.integers(), max_size=2)


def started(**more: Any) -> WebMachine:
    return WebMachine.start(STATE | more, 1)


def refs(observation: str) -> list[str]:
    return re.findall(r"\[ref=(e\d+)\]", observation) or re.findall(r"(?m)^\t*\[(\d+)\]", observation) or ["e1"]


def whatever(name: str, observation: str, rng: random.Random) -> dict[str, Any]:
    """A call of a tool with arguments that mostly have the right names, and sometimes the right types."""
    texts = [
        "",
        "lamp",
        "é" * 50,
        "<b>&amp;\x00\x07\ud800",
        "x" * 20_000,
        "http://shop.example/cart",
        "-1",
        "Control+",
        "++",
    ]
    values: list[Any] = [*texts, None, True, -1, 10**30, 10**400, 1.5, float("nan"), [], {}, ["x"], [None], {"a": [1]}]
    arguments: dict[str, Any] = {}
    for argument, schema in TOOLS[name].items():
        draw = rng.random()
        if draw < 0.1:
            continue
        if argument in ("ref", "bid", "startRef", "endRef", "from_bid", "to_bid") and draw < 0.85:
            arguments[argument] = rng.choice(refs(observation))
        elif argument == "fields" and draw < 0.85:
            kinds = ["textbox", "checkbox", "radio", "combobox", "slider", 5]
            arguments[argument] = [
                {
                    "name": "f",
                    "type": rng.choice(kinds),
                    "ref": rng.choice(refs(observation)),
                    "value": rng.choice(values),
                }
            ]
        elif "enum" in schema and draw < 0.85:
            arguments[argument] = rng.choice(schema["enum"])
        else:
            arguments[argument] = rng.choice(values)
    return {"name": name, "arguments": arguments}


def next_call(observation: str, rng: random.Random) -> dict[str, Any]:
    """Any tool; where nothing is shown, or a dialog is open, often the way back to the sites."""
    if rng.random() < 0.5:
        if "Modal state" in observation:
            return {"name": "browser_handle_dialog", "arguments": {"accept": True}}
        if len(refs(observation)) < 2:
            return {"name": "browser_navigate", "arguments": {"url": STATE["open"]}}
        if rng.random() < 0.5:
            return {"name": "browser_click", "arguments": {"ref": rng.choice(refs(observation))}}
    return whatever(rng.choice(list(TOOLS)), observation, rng)


def assert_sound(machine: Machine) -> None:
    """The observation can be written, the spans lie in it, and the state is flat."""
    text = machine.observation
    assert text and len(text) < 300_000
    text.encode()
    last = 0
    for start, end, kind in map(Span._make, machine.spans):
        assert last <= start < end <= len(text)
        assert kind in ("pre-existing", "metadata", "deterministic")
        last = end
    assert all(value is None or isinstance(value, str | int | float | bool) for value in machine.state().values())


@pytest.mark.parametrize("dialect", load_spec("web").dialects)
@pytest.mark.parametrize("controls", [Controls(), Controls(dict.fromkeys(load_spec("web").controls, 0.3), 5)])
def test_random_actions_are_all_answered(dialect: str, controls: Controls) -> None:
    rng = random.Random(f"{dialect}{bool(controls)}")
    for episode in range(4):
        machine = WebMachine.start(STATE | {"sites": None}, episode, controls)
        for step in range(80):
            shown = machine.observation if dialect == "playwright" else machine.observation_in(dialect)
            text = machine.act(next_call(shown, rng))
            assert text == machine.observation
            if step % 20 == 0:
                assert_sound(machine)
        machine.close()


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        ANYTHING
        | st.fixed_dictionaries(
            {
                "name": st.sampled_from(list(TOOLS)) | ANYTHING,
                "arguments": ANYTHING
                | st.dictionaries(st.sampled_from(["ref", "text", "url", "key", "index"]), ANYTHING),
            }
        ),
        min_size=1,
        max_size=4,
    )
)
def test_anything_is_answered_and_a_fork_answers_alike(actions: list[Any]) -> None:
    machine = started()
    for action in actions:
        twin = machine.fork()
        assert machine.act(action) == twin.act(action)
        assert machine.state() == twin.state()
        twin.close()
    assert_sound(machine)
    machine.close()


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=st.sampled_from("<>/=\"' abdilpstru&;-!\n\x00é"), max_size=200))
def test_any_text_is_a_page(text: str) -> None:
    for html in (text, f"<table><{text}", f"<select><option>{text}</select><dialog open>{text}"):
        snapshot(Page(Document.parse(html))).encode()


def test_a_page_may_nest_deeply_and_be_large() -> None:
    assert isinstance(snapshot(Page(Document.parse("<div>" * 5_000 + "deep"))), str)
    assert "shallow" in snapshot(Page(Document.parse("<div>" * 200 + "shallow")))
    assert snapshot(Page(Document.parse("<p>x</p>" * 30_000))).count("\n") < 30_000


def test_tabs_history_values_and_logs_are_bounded() -> None:
    machine = started()
    for number in range(150):
        machine.act({"name": "browser_tabs", "arguments": {"action": "new"}})
        machine.act({"name": "browser_navigate", "arguments": {"url": f"http://shop.example/products?page={number}"}})
    browser = machine.browser
    assert len(browser.tabs) == MAX_TABS
    assert max(len(tab.entries) for tab in browser.tabs) <= MAX_HISTORY
    machine.act({"name": "browser_type", "arguments": {"ref": "e6", "text": "x" * 100_000}})
    assert all(len(value) <= MAX_VALUE for tab in browser.tabs for value in tab.page.values.values())
    machine.close()
    machine.close()


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/html,<h1>x</h1>",
        "view-source:http://shop.example/",
        "ftp://shop.example/",
        "https://shop.example/",
        "http://127.0.0.1:22/",
        "http://localhost/",
        "http://shop.example:99999999/",
        "http://[::1",
        "http://\ud800.example/",
        "http://" + "a" * 5_000,
        " ",
        "//",
        "http://shop.example/static/../../../../etc/passwd",
    ],
)
def test_no_address_leads_to_the_host(url: str) -> None:
    machine = started()
    text = machine.act({"name": "browser_navigate", "arguments": {"url": url}})
    assert "root:" not in text
    text.encode()
    assert "### Error" in text or "Page URL: http://" in text
    machine.close()
