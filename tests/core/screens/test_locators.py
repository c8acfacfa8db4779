"""Elements are named by what they are called: in menus, experts and probes, on whatever screen is shown."""

from __future__ import annotations

import _thread
import random
from collections import deque
from operator import methodcaller

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import make

from agentworld_gym import SpecError, Task
from agentworld_gym.agents.collect.session_recording import SessionRecording
from agentworld_gym.agents.policies.following import follow, walk
from agentworld_gym.agents.policies.scripted import expert_policy, menu_policy, mixed_policy
from agentworld_gym.base.documents.strict import validated
from agentworld_gym.core.contracts import Failure, FailureKind
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.screens import NotOnScreen, ScreenNode, read_screen, resolve, resolve_if_shown, stand_in
from agentworld_gym.core.screens.locate import compiled
from agentworld_gym.core.screens.sight import Sight, on_screen
from agentworld_gym.core.tasks.source import TaskSource
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.worlds import WorldOptions, register_world
from agentworld_gym.worlds.registry import open_world
from agentworld_gym.worlds.scripted import ScriptedWorld

LINE = '[{:2}] | android.widget.{} | text="{}" | bounds=[0,{}][100,{}] | clickable{}'


def screen(*elements: str) -> str:
    """A screen of elements such as `Switch:6:30 AM:checked`."""
    lines = []
    for index, element in enumerate(elements):
        role, name, *flags = element.split("|")
        shown = "".join(f", {flag}" for flag in flags)
        lines.append(LINE.format(index, role, name, 50 * index, 50 * index + 50, shown))
    return "\n".join(lines)


def phone(task, actions):
    """A phone with a launcher and a list of two alarms, whose rows come in the order of the task's state."""
    front, alarms, error = "home", {"6:30": False, "7:45": True}, ""
    order = task.state.get("order", ["6:30", "7:45"])
    for action in actions:
        call, error = action.parsed, ""
        shown = read_screen("android", home() if front == "home" else clock(order, alarms))
        touched = next((n for n in shown if n.handle == call.get("index")), None)
        if call["action_type"] == "navigate_home":
            front = "home"
        elif call["action_type"] == "wait":
            error = "Action error: nothing happens"
        elif touched is None:
            error = "Action error: no such element"
        elif touched.text == "Clock":
            front = "clock"
        elif touched.role == "Switch":
            row = order[[n.handle for n in shown if n.role == "Switch"].index(touched.handle)]
            alarms[row] = not alarms[row]
    return error or (home() if front == "home" else clock(order, alarms))


def home():
    return screen("TextView|Notes", "TextView|Clock")


def clock(order, alarms):
    rows = [(f"TextView|{time}", f"Switch||{'checked' if alarms[time] else 'plain'}") for time in order]
    return screen("TextView|Alarms", *(element for row in rows for element in row))


register_world("locators_phone", lambda options: ScriptedWorld(phone))

OPEN = '{"action_type": "click", "index": @{TextView \'Clock\'}}'
FLIP = '{"action_type": "click", "index": @{Switch after \'6:30\'}}'
OTHER = '{"action_type": "click", "index": @{Switch after \'7:45\'}}'
HOME = '{"action_type": "navigate_home"}'
WAIT = '{"action_type": "wait"}'
ALARM = {
    "id": "alarm",
    "domain": "android",
    "instruction": "Turn the alarm for 6:30 on.",
    "success": [
        {
            "probe": [HOME, OPEN],
            "expect": {"matches": r'text="6:30".*\n.*\| android\.widget\.Switch \|.*clickable, checked'},
        }
    ],
    "menu": [OPEN, FLIP, OTHER, HOME, WAIT, "finish"],
    "expert": [OPEN, FLIP, "finish"],
    "max_steps": 12,
}


def runner():
    spec = load_spec("android")
    return EpisodeRunner(spec, ScriptedWorld(phone), TaskSource(spec))


def attempt(way, **changes):
    """Whether a way succeeds on the phone, and what it did."""
    here, task = runner(), Task(**{**ALARM, **changes})
    ((episode, _, _),) = here.start([0], {"task": task})
    end = walk(here, episode, way(task))
    return end is not None and bool(end.info.get("success")), episode.actions


# Finding


NODES = [
    ScreenNode("heading", "Tea", handle="e1"),
    ScreenNode("button", "Buy", handle="e2"),
    ScreenNode("heading", "Coffee"),
    ScreenNode("button", "Buy", handle="e3"),
    ScreenNode("button", 'Bob\'s "best"', handle="e4"),
    ScreenNode("link", "", "Help", "More help", "e5"),
    ScreenNode("button", "No handle"),
]


@pytest.mark.parametrize(
    ("locator", "target"),
    [
        ("@{button 'Buy'}", "e2"),
        ("@{button 'Buy' 2}", "e3"),
        ("@{button 3}", "e4"),
        ("@{'Buy'}", "e2"),
        ("@{button}", "e2"),
        ("@{button 'Buy' after heading 'Coffee'}", "e3"),
        ("@{button after 'Buy' after heading 'Coffee'}", "e4"),
        ("@{button after heading 'Tea' 2}", "e3"),
        ("@{link ~'elp'}", "e5"),
        ("@{~'More'}", "e5"),
        ("@{'More help'}", "e5"),
        ("@{button 'Bob''s \"best\"'}", "e4"),
        ("@{button 'Buy' 3}", None),
        ("@{button 'buy'}", None),
        ("@{link 'Buy'}", None),
        ("@{button 'Buy' after link}", None),
        ("@{button 'No handle'}", None),
    ],
)
def test_an_element_is_found_by_what_it_is_called(locator, target):
    assert resolve_if_shown(f"click('{locator}')", NODES) == (None if target is None else f"click('{target}')")


def test_a_name_in_a_json_action_is_escaped_as_json():
    action = '{"name": "browser_click", "arguments": {"ref": "@{button \'Bob\'\'s \\"best\\"\'}"}}'
    assert resolve(action, NODES) == '{"name": "browser_click", "arguments": {"ref": "e4"}}'


def test_an_action_may_hold_several_locators_or_none():
    assert resolve("drag('@{'Tea'}', '@{link}')", NODES) == "drag('e1', 'e5')"
    assert resolve_if_shown("drag('@{'Tea'}', '@{menu}')", NODES) is None
    assert resolve("noop()", []) == "noop()"


def test_an_element_that_is_not_on_the_screen_is_an_error_that_names_the_action():
    with pytest.raises(NotOnScreen, match=r"click\('@\{link 'Nowhere'\}'\)"):
        resolve("click('@{link 'Nowhere'}')", NODES)


@pytest.mark.parametrize("broken", ["@{", "@{}", "@{button", "@{'a}", "@{button 'a' after}", "@{button 'a' x}", "@{1}"])
def test_a_broken_locator_in_a_task_names_itself(broken):
    menu = validated_error({**ALARM, "menu": ["finish", f"click({broken})"]})
    assert menu.key == "menu.1" and broken in str(menu)
    probe = validated_error({**ALARM, "success": [{"probe": [HOME, broken], "expect": {"contains": "x"}}]})
    assert probe.key == "success.0.probe" and probe.value == broken
    assert validated(Task, {**ALARM, "domain": "swe", "menu": [broken]}, "t.yaml").menu == (broken,)


def validated_error(data):
    with pytest.raises(SpecError) as caught:
        validated(Task, data, "t.yaml")
    return caught.value


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=12)


@given(st.lists(st.tuples(st.sampled_from(["button", "link"]), NAMES), min_size=1, max_size=8), st.data())
def test_any_name_can_be_written_and_finds_the_first_of_that_name(elements, data):
    nodes = [ScreenNode(role, name, handle=f"e{place}") for place, (role, name) in enumerate(elements)]
    role, name = data.draw(st.sampled_from(elements))
    quoted = name.replace("'", "''")
    assert resolve(f"click('@{{{role} '{quoted}'}}')", nodes) == f"click('e{elements.index((role, name))}')"


def test_a_stand_in_is_an_action_that_can_be_read():
    assert stand_in("android", OPEN) == '{"action_type": "click", "index": 0}'
    assert stand_in("swe", "git show HEAD@{1}") == "git show HEAD@{1}"
    assert len(compiled("pyautogui.click(@{icon 'a'})")) == 3


# Menus


def test_a_menu_offers_what_is_on_the_screen_and_keeps_to_the_last_screen_after_an_error():
    env = make("AgentWorld/Android-v0", world="locators_phone")
    env.reset(seed=0, options={"task": {**ALARM, "id": "x"}})
    assert env.menu == ('{"action_type": "click", "index": 1}', None, None, HOME, WAIT, "finish")
    env.step(WAIT)
    assert env.menu[0] == '{"action_type": "click", "index": 1}'
    env.step(env.menu[0])
    assert env.menu[:3] == (None, '{"action_type": "click", "index": 2}', '{"action_type": "click", "index": 4}')
    env.close()


def test_members_of_a_vector_have_menus_of_their_own():
    envs = gym.make_vec("AgentWorld/Android-v0", num_envs=2, world="locators_phone").unwrapped
    envs.reset(seed=0, options={"task": ALARM})
    envs.step([OPEN.replace("@{TextView 'Clock'}", "1"), WAIT])
    assert [menu[0] is None for menu in envs.menus] == [True, False]
    envs.close()


def test_masks_follow_the_screen():
    sb3 = pytest.importorskip("agentworld_gym.integrations.sb3.vec_env")
    env = sb3.MenuEnv(gym.make("AgentWorld/Android-v0", world="locators_phone"))
    first, _ = env.reset(options={"task": ALARM})
    assert env.action_masks()[:6].tolist() == [True, False, False, True, True, True]
    second, *_ = env.step(0)
    assert env.action_masks()[:7].tolist() == [False, True, True, True, True, True, False]
    assert not np.array_equal(first, second)
    text = env.step(0)[-1]["text"]
    assert "| clickable, checked" in text.splitlines()[2], "a masked choice means the next one on offer: the switch"
    assert env.step(5)[-1]["success"] is True
    env.close()


def test_a_menu_with_nothing_on_offer_offers_finish():
    sb3 = pytest.importorskip("agentworld_gym.integrations.sb3.vec_env")
    env = sb3.MenuEnv(gym.make("AgentWorld/Android-v0", world="locators_phone"))
    env.reset(options={"task": {**ALARM, "menu": [FLIP, OTHER]}})
    assert env.action_masks()[:2].tolist() == [True, False]
    assert env.step(1)[2]
    env.close()


# Ways


@pytest.mark.parametrize("order", [["6:30", "7:45"], ["7:45", "6:30"]])
def test_an_expert_finds_its_elements_wherever_they_are(order):
    assert attempt(expert_policy, state={"order": order})[0]


def test_an_expert_stops_where_a_step_is_not_possible_and_a_mixed_one_leaves_it_out():
    detour = {"expert": (OPEN, OPEN, FLIP, "finish"), "menu": ("finish",)}
    assert attempt(expert_policy, **detour) == (False, ['{"action_type": "click", "index": 1}'])
    solved, actions = attempt(lambda task: mixed_policy(task, random.Random(0), 0.0), **detour)
    assert solved and len(actions) == 3


@pytest.mark.parametrize("seed", range(20))
def test_a_menu_agent_chooses_only_what_is_there(seed):
    way = menu_policy(Task(**ALARM), random.Random(seed))
    here = runner()
    ((episode, _, _),) = here.start([0], {"task": Task(**ALARM)})
    walk(here, episode, way)
    assert episode.actions and not any("no such element" in shown for shown in episode.observations)


def test_a_way_is_told_what_is_not_on_the_screen():
    def careful():
        try:
            yield FLIP
        except NotOnScreen:
            yield OPEN
        yield FLIP

    going = on_screen(careful(), "android", home())
    assert next(going) == '{"action_type": "click", "index": 1}'
    assert going.send(clock(["7:45", "6:30"], {"6:30": False, "7:45": True})) == '{"action_type": "click", "index": 4}'


def test_a_way_that_is_dropped_half_gone_loses_no_ctrl_c():
    dropped = [on_screen((word for word in ("ls", "pwd")), "terminal", "")]
    assert next(dropped[0]) == "ls"
    # A signal waits for the next line of Python. Between these two calls there is none but what a finalizer runs.
    calls = map(methodcaller("__call__"), (_thread.interrupt_main, dropped.clear))
    with pytest.raises(KeyboardInterrupt):
        deque(calls, maxlen=0)
    assert not dropped


def test_sight_keeps_the_last_screen_there_was():
    sight = Sight("android", [home(), "Action error: no such element", "Action error: again"])
    assert sight.offers([OPEN, FLIP]) == ('{"action_type": "click", "index": 1}', None)
    sight.see(clock(["6:30"], {"6:30": True}))
    assert sight.offers([OPEN, FLIP])[0] is None
    page = '### Snapshot\n```yaml\n- link "Cart" [ref=e4]\n```'
    assert Sight("web", [page, "### Snapshot\n```yaml\n\n```"]).nodes == [], "an empty page is a screen"
    assert Sight("terminal", ["x"]).resolve("git show HEAD@{1}") == "git show HEAD@{1}"


# Probes


def test_a_probe_sequence_walks_a_fork_and_leaves_the_episode_alone():
    here = runner()
    task = Task(**ALARM)
    started = here.start([0, 1], {"task": task})
    episodes = [episode for episode, _, _ in started]
    here.advance(episodes[:1], ['{"action_type": "click", "index": 1}'])
    here.advance(episodes[:1], ['{"action_type": "click", "index": 2}'])
    before = [list(episode.session.actions) for episode in episodes]
    ends = here.advance(episodes, ["finish", "finish"])
    assert [end.info["success"] for end in ends] == [True, False]
    assert [episode.session.actions for episode in episodes] == before


def test_probes_of_all_episodes_advance_together():
    waves = []

    class Counting(ScriptedWorld):
        def step(self, sessions, actions):
            waves.append(len(sessions))
            return super().step(sessions, actions)

    spec = load_spec("android")
    here = EpisodeRunner(spec, Counting(phone), TaskSource(spec))
    checks = [*ALARM["success"], {"probe": HOME, "expect": {"contains": "Clock"}}]
    started = here.start([0, 1, 2], {"task": Task(**{**ALARM, "success": checks})})
    ends = here.advance([episode for episode, _, _ in started], ["finish"] * 3)
    assert waves == [6, 3]
    assert [end.info["score"] for end in ends] == [0.5] * 3


def test_a_probe_whose_element_is_not_there_scores_nothing_and_is_no_failure():
    lost = [{"probe": [HOME, FLIP], "expect": {"contains": "Alarms"}}, {"answer": {"equals": "x"}}]
    solved, _ = attempt(lambda task: (action for action in ("finish: x",)), success=lost)
    assert not solved
    here = runner()
    ((episode, _, _),) = here.start([0], {"task": Task(**{**ALARM, "success": lost})})
    (end,) = here.advance([episode], ["finish: x"])
    assert end.info["score"] == 0.5 and "failure" not in end.info


def test_a_probe_that_cannot_be_read_scores_nothing():
    # A task of a family is trusted when it is loaded, so that only the probe itself can tell.
    unreadable = [{"probe": "blah", "expect": {"contains": "a"}}]
    here = runner()
    ((episode, _, _),) = here.start([0], {"task": Task(**{**ALARM, "success": unreadable, "seed": 1})})
    (end,) = here.advance([episode], ["finish"])
    assert end.info["score"] == 0.0 and "failure" not in end.info


def test_an_environment_follows_an_expert():
    env = make("AgentWorld/Android-v0", world="locators_phone")
    env.reset(seed=0, options={"task": {**ALARM}})
    *_, terminated, _, info = follow(env, expert_policy(env.task))
    assert terminated and info["success"] and env.episode.actions[-1] == "finish"
    env.reset(seed=0, options={"task": {**ALARM, "expert": [FLIP]}})
    assert follow(env, expert_policy(env.task)) is None
    env.close()


def test_a_world_that_fails_in_the_middle_of_a_probe_is_a_failure():
    def failing(task, actions):
        if actions and actions[-1].raw == HOME:
            return Failure(FailureKind.ENGINE, "gone")
        return phone(task, actions)

    spec = load_spec("android")
    here = EpisodeRunner(spec, ScriptedWorld(failing), TaskSource(spec))
    ((episode, _, _),) = here.start([0], {"task": Task(**ALARM)})
    (end,) = here.advance([episode], ["finish"])
    assert end.info["failure"]["message"] == "a probe failed: gone"
    assert "success" not in end.info


def test_a_recording_that_looks_with_probes_has_a_turn_for_each_of_their_actions():
    spec = load_spec("android")
    runner = EpisodeRunner(spec, open_world("grounded", WorldOptions(spec)), TaskSource(spec))
    recording = SessionRecording(runner, Prompts(spec), Task(**{**ALARM, "seed": 0}))
    recording.run_probes([[HOME, OPEN], [FLIP.replace("6:30", "nowhere"), HOME]])
    recording.close()
    first, second = (action for action, _ in recording.history.turns)
    assert recording.probes == 2
    assert first == HOME and '"index": 4' in second
