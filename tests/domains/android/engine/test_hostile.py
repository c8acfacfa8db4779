"""Whatever an agent sends, the phone answers with a screen, and neither time nor memory runs away."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.engines import Controls, EngineError
from agentworld_gym.core.screens import read_screen
from agentworld_gym.domains.android.engine.apps import apps
from agentworld_gym.domains.android.engine.apps.arithmetic import BadExpression, calculated
from agentworld_gym.domains.android.engine.machine import AndroidMachine
from agentworld_gym.domains.android.engine.phone import MAX_DEPTH
from agentworld_gym.kit.gui.text_field import MAX_CHARS

KINDS = load_spec("android").action.json_schema["properties"]["action_type"]["enum"]  # type: ignore[index]
TITLES = [app.title for app in apps().values()]
deep: list[Any] = []
for _ in range(5000):
    deep = [deep]

SHAPES: list[Any] = [
    None,
    True,
    7,
    float("nan"),
    "click",
    b"bytes",
    [],
    {},
    deep,
    object(),
    {"action_type": None},
    {"action_type": []},
    {"action_type": deep},
    {"action_type": "reboot"},
    {"action_type": "click"},
    {"action_type": "click", "index": True},
    {"action_type": "click", "index": -1},
    {"action_type": "click", "index": 10**5000},
    {"action_type": "click", "index": "3"},
    {"action_type": "click", "index": deep},
    {"action_type": "click", "x": 1080, "y": 10},
    {"action_type": "click", "x": -1, "y": 10},
    {"action_type": "click", "x": float("nan"), "y": float("inf")},
    {"action_type": "click", "x": 10.5, "y": 10},
    {"action_type": "click", "x": 10},
    {"action_type": "click", "x": 10**400, "y": 10},
    {"action_type": "input_text", "text": None},
    {"action_type": "input_text", "text": deep, "index": 0},
    {"action_type": "input_text", "text": "\ud800\x00", "index": 0, "clear_text": "yes"},
    {"action_type": "scroll", "direction": "sideways"},
    {"action_type": "scroll", "direction": []},
    {"action_type": "swipe", "direction": "up", "index": 10**9},
    {"action_type": "open_app", "app_name": None},
    {"action_type": "open_app", "app_name": "x" * 1_000_000},
    {"action_type": "open_app", "app_name": "system"},
    {"action_type": "status", "goal_status": "complete"},
    {"action_type": "answer", "text": "42"},
]


def whole(machine: AndroidMachine) -> None:
    """The screen can be read, the state is flat, and a fork is the same."""
    nodes = read_screen("android", machine.observation)
    assert len(nodes) == len(machine.observation.split("\n")) and [n.handle for n in nodes] == list(range(len(nodes)))
    assert all(isinstance(value, str | int | float | bool | None) for value in machine.state().values())
    assert machine.fork().observation == machine.observation


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_what_is_no_action_leaves_the_screen_as_it_is(shape: Any) -> None:
    machine = AndroidMachine.start({}, 0)
    before = machine.observation
    assert machine.act(shape) == before
    whole(machine)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
ACTION = st.fixed_dictionaries(
    {"action_type": st.sampled_from(KINDS) | ANYTHING},
    optional={
        "index": st.integers(-2, 60) | ANYTHING,
        "x": st.integers(-5, 1085) | ANYTHING,
        "y": st.integers(-5, 2405) | ANYTHING,
        "text": st.text(max_size=60) | ANYTHING,
        "clear_text": st.booleans() | ANYTHING,
        "direction": st.sampled_from(["up", "down", "left", "right"]) | ANYTHING,
        "app_name": st.sampled_from(TITLES) | ANYTHING,
    },
)
STRENGTHS = st.dictionaries(st.sampled_from(sorted(load_spec("android").controls)), st.floats(0, 1), max_size=4)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(ACTION, max_size=25), st.integers(0, 5), STRENGTHS)
def test_no_list_of_actions_breaks_it(actions: list[dict[str, Any]], seed: int, strengths: dict[str, float]) -> None:
    machine = AndroidMachine.start({}, seed, Controls(strengths, seed))
    for action in actions:
        machine.act(action)
        read_screen("android", machine.observation)
    whole(machine)


@pytest.mark.parametrize("seed", range(5))
def test_it_lives_through_thousands_of_random_touches(seed: int) -> None:
    rng = random.Random(seed)
    machine = AndroidMachine.start({}, seed, Controls(dict.fromkeys(load_spec("android").controls, 0.02), seed))
    for step in range(1500):
        action = {"action_type": rng.choice(KINDS), "direction": rng.choice(["up", "down", "left", "right"])}
        action |= rng.choice([{"index": rng.randrange(45)}, {"x": rng.randrange(1080), "y": rng.randrange(2400)}, {}])
        if action["action_type"] in ("open_app", "navigate_home", "navigate_back") and rng.random() < 0.7:
            action["action_type"] = "click"
        machine.act({**action, "text": rng.choice(["a", "12:30", "x" * 400, "\n"]), "app_name": rng.choice(TITLES)})
        if step % 250 == 0:
            whole(machine)
    model = machine.phone.model
    assert all(len(stack) <= MAX_DEPTH for stack in (model["above"], *model["tasks"].values()))
    assert len(machine.observation) < 2_000_000 and len(machine.state()) < 20_000


@pytest.mark.parametrize(
    "installed", [[], ["Clock"], ["Messages", "Notes"], ["Settings", "Contacts"], ["Files", "Phone"]]
)
def test_a_phone_with_few_apps_is_a_phone(installed: list[str]) -> None:
    rng = random.Random(len(installed))
    machine = AndroidMachine.start({"apps": installed}, 0)
    titles = {node.label for node in read_screen("android", machine.act({"action_type": "swipe", "direction": "up"}))}
    assert titles & set(TITLES) == set(installed)
    for _ in range(150):
        live = [n.handle for n in read_screen("android", machine.observation) if "clickable" in n.flags]
        kind = rng.choice(["click"] * 6 + ["open_app", "navigate_back", "long_press", "input_text", "swipe"])
        where = {"index": rng.choice(live)} if live and kind != "swipe" else {"x": 4, "y": 4}
        name = rng.choice([*installed, "Clock"])
        machine.act({"action_type": kind, "app_name": name, "text": "a", "direction": "down", **where})
    whole(machine)


def test_a_field_is_full_at_some_point() -> None:
    machine = AndroidMachine.start({}, 0)
    machine.act({"action_type": "open_app", "app_name": "Settings"})
    machine.act({"action_type": "click", "x": 540, "y": 300})
    for _ in range(4):
        machine.act({"action_type": "input_text", "text": "long \ttext\u2028" * 100_000})
    field = machine.phone.screen["fields"]["query"]
    assert len(field.value) == MAX_CHARS and "\u2028" not in field.value
    whole(machine)


def test_a_long_list_that_is_sent_on_is_cut() -> None:
    items = [{"text": f"{number} " + "x" * 200} for number in range(200)]
    machine = AndroidMachine.start({"notes": {"notes": [{"title": "All", "items": items}]}}, 0)
    machine.act({"action_type": "open_app", "app_name": "Notes"})
    machine.phone.share("y" * 1_000_000)
    machine.phone.push("thread", app="messages", number="1", fields={"text": "z" * 1_000_000})
    assert len(machine.phone.stack[-2]["content"]) == len(machine.phone.text("text")) == MAX_CHARS


def test_the_actions_that_the_parser_lets_through_are_those_the_phone_takes() -> None:
    parser = ActionParser(load_spec("android"))
    machine = AndroidMachine.start({}, 0)
    for text in load_spec("android").action.examples:
        action = parser.parse(text)
        assert action.error is None
        machine.act(action.parsed)
        whole(machine)
    assert json.loads(text) == {"action_type": "wait"}


@settings(max_examples=300, deadline=None)
@given(st.text("0123456789.+−×÷^%()√π", max_size=60))
def test_the_calculator_has_a_short_answer_to_every_line(line: str) -> None:
    try:
        assert 0 < len(calculated(line)) < 40
    except BadExpression as error:
        assert str(error)


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))
def test_the_calculator_is_right(left: int, right: int) -> None:
    def key(number: int) -> str:
        return str(number).replace("-", "−")

    assert calculated(f"{key(left)}+({key(right)})") == key(left + right)
    assert calculated(f"{key(left)}×({key(right)})") in (key(left * right), calculated(key(left * right)))


def test_a_closed_phone_says_so() -> None:
    machine = AndroidMachine.start({}, 0)
    machine.close()
    machine.close()
    with pytest.raises(EngineError):
        machine.act({"action_type": "wait"})
