"""A phone in its three dialects: what they show, and that an agent solves tasks in each of them."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from agentworld_gym.agents.policies.scripted import expert_policy
from agentworld_gym.base.documents.strict import read_yaml
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.contracts import ActionKind, Failure
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines import EngineError, Multilingual
from agentworld_gym.core.screens import read_screen
from agentworld_gym.core.screens.sight import on_screen
from agentworld_gym.domains.android.actions import droidbot
from agentworld_gym.domains.android.engine import AndroidMachine
from agentworld_gym.domains.android.engine.apps import apps
from agentworld_gym.domains.android.engine.dialects import WRITERS, activity
from agentworld_gym.domains.android.screen_texts import dialect_of, head_of
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.llm.generators.scripted import ScriptedGenerator
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions
from agentworld_gym.worlds import LanguageWorld

STATE = {
    "time": "2026-03-04 09:41",
    "apps": ["Clock", "Notes"],
    "clock": {"alarms": [{"time": "6:30 AM", "label": "Early train", "state": "off"}]},
    "notes": {"notes": [{"title": 'Say "hi"', "items": [{"text": "Milk", "done": True}]}]},
}
OTHERS = ("droidrun", "droidbot")
TASKS = load_spec("android").handwritten_tasks()


@cache
def reads(dialect: str) -> ActionParser:
    """The parser of a dialect."""
    return ActionParser(load_spec("android").in_dialect(dialect))


def opened() -> AndroidMachine:
    """A phone that shows a note."""
    machine = AndroidMachine.start(STATE, 0)
    machine.act({"action_type": "open_app", "app_name": "Notes"})
    labels = [node.label for node in read_screen("android", machine.observation)]
    machine.act({"action_type": "click", "index": labels.index('Say "hi"')})
    return machine


SCREENS: Any = read_yaml(Path(__file__).parent / "note_in_dialects.yaml")


@pytest.mark.parametrize("dialect", SCREENS)
def test_a_screen_is_written_in_every_dialect_and_read_again(dialect: str) -> None:
    machine = opened()
    shown = machine.observation_in(dialect)
    assert shown == SCREENS[dialect]
    assert isinstance(machine, Multilingual) and machine.observation == machine.observation_in("androidworld")
    nodes, own = read_screen("android", shown), read_screen("android", machine.observation)
    assert (dialect_of(shown), len(nodes)) == (dialect, len(shown.split("\n")) - head_of(shown))
    for node, known in zip(nodes, own, strict=True):
        assert (node.role, node.handle, node.box, node.label) == (known.role, known.handle, known.box, known.label)


def test_a_name_that_no_dialect_has_is_refused() -> None:
    with pytest.raises(EngineError, match="androidworld, droidrun, droidbot"):
        opened().observation_in("iphone")
    assert list(load_spec("android").dialects) == list(WRITERS)


def test_the_state_of_the_phone_follows_the_screen() -> None:
    machine = opened()
    states = [machine.observation_in("droidbot").split("\n")[3]]
    machine.act({"action_type": "click", "index": 9})
    shown = machine.observation_in("droidrun").split("\n")
    assert shown[2:4] == ["• **Keyboard:** Shown", "• **Focused Element:** 'List item'"]
    machine.act({"action_type": "input_text", "text": 'a "b"\nc'})
    assert r"""• **Focused Element:** 'a \"b\" c'""" in machine.observation_in("droidrun")
    states.append(machine.observation_in("droidbot").split("\n")[3])
    machine.act({"action_type": "navigate_back"})
    machine.act({"action_type": "navigate_back"})
    machine.act({"action_type": "kill_app"})
    assert "App:** Launcher (com.google.android.apps.nexuslauncher)" in machine.observation_in("droidrun")
    assert "tasks/notes/0/name" not in machine.state()
    states.append(machine.observation_in("droidbot").split("\n")[3])
    assert len({state.split("/")[0] for state in states}) == 3, "each screen has an id of its own"
    before = machine.observation
    assert machine.act({"action_type": "kill_app"}) == before, "the launcher starts again"


@pytest.mark.parametrize("dialect", OTHERS)
@pytest.mark.parametrize("task", TASKS[::4], ids=lambda task: task.id)
def test_the_expert_succeeds_in_the_words_of_the_dialect(dialect: str, task: Task) -> None:
    parser = reads(dialect)
    runner = EnvOptions(spec="android", dialect=dialect, world="grounded").runner()
    ((episode, first, _),) = runner.start([0], {"task": task})
    assert dialect_of(first.removeprefix(task.instruction)) == dialect
    going = on_screen(expert_policy(task), "android", episode.observations[-1])
    text: str | None = next(going)
    while text is not None:
        action = parser.parse(text)
        if action.kind is ActionKind.ACT:
            text = parser.action_block(action, episode.observation)
            assert not text.startswith("{")
        (step,) = runner.advance([episode], [text])
        assert dialect_of(step.observation) == dialect
        text = None if step.terminated else going.send(episode.observations[-1])
    assert step.info["success"]


def test_a_spec_of_another_name_writes_the_elements_of_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    own = load_spec("android").in_dialect("droidbot").model_copy(update={"id": "mine"})
    screen = '[ 0] | android.widget.Button | text="OK" | bounds=[0,0][10,10]'
    parser = ActionParser(own)
    click = parser.parse('{"action_type": "click", "index": 0}')
    assert parser.action_block(click, screen) == "touch <button bound_box=0,0,10,10>OK</button>"
    monkeypatch.setattr(droidbot, "read_screen", lambda *_: pytest.fail("the action names no element"))
    assert parser.action_block(parser.parse('{"action_type": "navigate_back"}'), screen) == "key BACK"


@pytest.mark.parametrize("dialect", OTHERS)
def test_a_dream_begins_in_the_dialect(dialect: str) -> None:
    spec = load_spec("android").in_dialect(dialect)
    world = LanguageWorld(spec, Prompts(spec), ScriptedGenerator(lambda request: ""), spec.sampling.sampling())
    (session,) = world.begin([TASKS[0]], [0])
    assert not isinstance(session, Failure) and dialect_of(session.observation) == dialect
    assert "Launcher" in session.observation or "nexuslauncher" in session.observation
    other = TASKS[0].model_copy(update={"first_observation": "[ 0] | a.Button | bounds=[0,0][9,9]"})
    (session,) = world.begin([other], [0])
    assert not isinstance(session, Failure) and session.observation == other.first_observation


@pytest.mark.parametrize("dialect", ("androidworld", *OTHERS))
def test_a_world_model_is_told_the_dialect(dialect: str) -> None:
    spec = load_spec("android").in_dialect(dialect)
    for form in ("full", "change"):
        system = Prompts(spec, PromptOptions(form=form)).system(TASKS[0])
        assert ("<invoke" in system, "touch <button" in system, "action_type" in system) == tuple(
            dialect == name for name in ("droidrun", "droidbot", "androidworld")
        )
        assert ("| bounds=" in system) == (dialect == "androidworld")


@pytest.mark.parametrize("text", load_spec("android:droidbot").action.examples)
def test_events_without_a_screen_mean_the_same(text: str) -> None:
    action = reads("droidbot").parse(text)
    assert action.error is None
    written = droidbot.write(action.parsed, "")
    again: Any = droidbot.read(written)
    assert again["action_type"] == action.parsed["action_type"]


def parse(text: str, dialect: str = "androidworld") -> Any:
    action = reads(dialect).parse(text)
    return action.error or action.parsed


def call(**parameters: object) -> str:
    told = "\n".join(f'<parameter name="{name}">{value}</parameter>' for name, value in parameters.items())
    return f'<invoke name="phone">\n{told}\n</invoke>'


@pytest.mark.parametrize(
    ("parsed", "texts"),
    [
        (
            {"action_type": "click", "x": 540, "y": 1200},
            (
                '{"action": "click", "coordinate": [540, 1200]}',
                '{"action": "click", "coordinate": [500, 500], "coordinate_abs": [540, 1200]}',
                call(action="click", coordinate="[540, 1200]"),
                call(action="click", coordinate="(540,1200)"),
                "touch <button id=3 bound_box=500,1100,580,1300>Sign in</button>",
                "unselect <checkbox id=7 alt='Show > it' bound_box=500,1100,580,1300>Show</checkbox>",
            ),
        ),
        (
            {"action_type": "click", "index": 3},
            (call(action="click", index=3), "touch <p id=3>row</p>", '{"action_type": "click", "index": 3}'),
        ),
        (
            {"action_type": "long_press", "x": 5, "y": 6},
            (
                '{"action": "long_press", "coordinate": [5, 6]}',
                '{"action": "swipe", "coordinate": [5, 6], "coordinate2": [5, 6]}',
                call(action="long_press", coordinate="5, 6", duration=800),
                "long_touch <p id=5 bound_box=4,5,6,7>row</p>",
            ),
        ),
        (
            {"action_type": "swipe", "direction": "left", "x": 900, "y": 1200},
            (
                '{"action": "swipe", "coordinate": [900, 1200], "coordinate2": [100, 1210]}',
                call(action="swipe", coordinate="[900, 1200]", coordinate2="[100, 1210]", duration=300),
            ),
        ),
        (
            {"action_type": "input_text", "text": "grüner Tee"},
            ('{"action": "type", "text": "grüner Tee"}', call(action="type", text="grüner Tee")),
        ),
        (
            {"action_type": "scroll", "direction": "up", "x": 540, "y": 924},
            ("scroll up <scrollbar bound_box=0,72,1080,1776></scrollbar>",),
        ),
        (
            {"action_type": "open_app", "app_name": "Clock"},
            (call(action="open_app", text="Clock"), "intent am start Clock"),
        ),
        (
            {"action_type": "navigate_back"},
            ('{"action": "system_button", "button": "Back"}', call(action="system_button", button="back"), "key BACK"),
        ),
        (
            {"action_type": "keyboard_enter"},
            ('{"action": "system_button", "button": "Enter"}', call(action="system_button", button="enter")),
        ),
        ({"action_type": "wait"}, ('{"action": "wait", "time": 2}', call(action="wait"), "wait")),
        ({"action_type": "kill_app"}, ("kill_app",)),
    ],
)
def test_a_gesture_is_one_parsed_action_in_every_dialect(parsed: dict[str, Any], texts: tuple[str, ...]) -> None:
    for dialect in ("androidworld", *OTHERS):
        assert [parse(text, dialect) for text in texts] == [parsed] * len(texts)


def test_droidbot_starts_an_app_by_package_and_activity() -> None:
    """Whoever names the app by its title, in another dialect; the engine knows what is meant."""
    installed = {
        app.title: f"{app.package}/{activity(app, {'name': app.first})}" for app in apps().values() if app.icon
    }
    assert load_spec("android:droidbot").action.components == installed
    parser, screen = reads("droidbot"), opened().observation
    for title, component in installed.items():
        by_title = {"action_type": "open_app", "app_name": title}
        for text in (json.dumps(by_title), call(action="open_app", text=title.lower())):
            assert parser.action_block(parser.parse(text), screen) == f"intent am start {component}"
        named, started = opened(), opened()
        assert named.act(by_title) == started.act(parse(f"intent am start {component}", "droidbot"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"action": "click"}', "'coordinate' must be two numbers"),
        ('{"action": "click", "coordinate": [1e9, true]}', "'coordinate' must be two numbers"),
        ('{"action": "click", "coordinate": [5000, 1]}', "1079"),
        ('{"action": "fly"}', "'fly' is not one of click"),
        ('{"action": "type"}', "text"),
        ('{"action": "system_button", "button": "Power"}', "'Power' is not one of back, home, enter"),
        (call(action="fly"), "'action' must be one of click"),
        (call(action="click"), "needs index, or x and y"),
        (call(action="click", index="the third"), "'index' must be the number"),
        (call(action="swipe", coordinate="1, 2"), "'coordinate2' must be two numbers"),
        ('<invoke name="phone">', "expected one <invoke"),
        (call(action="click", index=1) * 2, "expected one <invoke"),
        ('<invoke name="bash">ls</invoke>', "Unknown tool: bash"),
        ("touch the button", "expected an event"),
        ("touch <button>x</button>", "needs index, or x and y"),
        ("key POWER", "'POWER' is not one of"),
    ],
)
def test_what_cannot_be_read_says_why(text: str, expected: str) -> None:
    assert expected in str(parse(text))


def test_an_action_of_the_dialect_is_shown_as_it_was_written() -> None:
    screen = opened().observation_in("droidbot")
    own = "touch <p bound_box=0,424,1080,592>Milk</p>"
    parser = reads("droidbot")
    assert parser.action_block(parser.parse(own), screen) == own
    for text, expected in [
        ('{"action_type": "click", "index": 7}', "unselect <checkbox bound_box=48,445,174,571>Milk</checkbox>"),
        ('{"action_type": "scroll", "direction": "down", "index": 4}',
         "scroll down <scrollbar bound_box=0,256,1080,2337></scrollbar>"),
        ('{"action_type": "swipe", "direction": "down"}', "scroll up <scrollbar bound_box=0,0,1080,2400></scrollbar>"),
        ('{"action_type": "double_tap", "x": 1, "y": 2399}', "double_touch <p bound_box=1,2399,1,2399></p>"),
        ('{"action_type": "input_text", "text": "Tea", "index": 5}',
         'set_text <input bound_box=48,256,1032,424>Say "hi"</input> Tea'),
    ]:  # fmt: skip
        assert parser.action_block(parser.parse(text), screen) == expected
    parser = reads("droidrun")
    swipe = call(action="swipe", coordinate="[540, 1296]", coordinate2="[540, 696]")
    scroll = parser.parse('{"action_type": "scroll", "direction": "down", "index": 4}')
    assert parser.action_block(scroll, SCREENS["droidrun"]) == swipe
    parser = reads("androidworld")
    text = '{"action": "wait", "time": 2}'
    assert parser.action_block(parser.parse(text)) == '{\n  "action": "wait",\n  "time": 2\n}'
    assert parser.action_block(parser.parse("key BACK")) == '{\n  "action_type": "navigate_back"\n}'
