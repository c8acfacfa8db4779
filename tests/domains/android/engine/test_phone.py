"""The phone: what is shown is what a touch hits; back stacks, keyboard, dialogs, scrolling, permissions, controls."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.engines import Controls
from agentworld_gym.core.engines.controls import suspended
from agentworld_gym.core.screens import read_screen, resolve_if_shown
from agentworld_gym.core.screens.node import ScreenNode
from agentworld_gym.domains.android.engine.apps import apps
from agentworld_gym.domains.android.engine.display import Display
from agentworld_gym.domains.android.engine.machine import AndroidMachine
from agentworld_gym.domains.android.engine.scenario import scenario_folder
from agentworld_gym.kit.gui import handler

ALARMS = [
    {"time": "6:30 AM", "label": "Early train", "days": "Tue, Thu", "state": "off"},
    {"time": "9:43 AM", "label": "Tea", "state": "on"},
]
FILES = [{"path": "Papers", "name": f"page_{number:02}.txt", "size": number} for number in range(1, 41)]
STATE: dict[str, Any] = {
    "time": "2026-03-04 09:41",
    "clock": {"alarms": ALARMS, "cities": ["Tokyo"], "timers": [{"label": "Eggs", "minutes": 2}]},
    "files": {"folders": ["Papers", "Archive"], "files": FILES},
    "permissions": {"files/files": "allowed"},
}


class Hand:
    """Uses a phone by what its elements are called."""

    def __init__(self, controls: dict[str, float] | None = None, seed: int = 0, **state: Any) -> None:
        self.machine = AndroidMachine.start({**STATE, **state}, seed, Controls(controls or {}, seed))

    @property
    def nodes(self) -> list[ScreenNode]:
        return read_screen("android", self.machine.observation)

    @property
    def texts(self) -> list[str]:
        return [node.label for node in self.nodes if node.label]

    def node(self, locator: str) -> ScreenNode:
        index = resolve_if_shown(f"@{{{locator}}}", self.nodes)
        assert index is not None, f"{locator} is not on the screen: {self.texts}"
        return self.nodes[int(index)]

    def do(self, kind: str, locator: str = "", **more: Any) -> Hand:
        if locator:
            more["index"] = self.node(locator).handle
        self.machine.act({"action_type": kind, **more})
        return self

    def tap(self, *locators: str) -> Hand:
        for locator in locators:
            self.do("click", locator)
        return self

    def app(self, name: str) -> Hand:
        return self.do("open_app", app_name=name)

    def back(self) -> Hand:
        return self.do("navigate_back")

    def pull_shade(self) -> Hand:
        return self.do("swipe", direction="down", x=540, y=5)


def test_the_screen_is_numbered_lines_in_the_form_of_the_spec() -> None:
    lines = Hand().machine.observation.splitlines()
    assert lines[1] == '[ 1] | android.widget.TextView | text="Wed, Mar 4" | bounds=[72,180][420,276] | clickable'
    assert [node.handle for node in Hand().nodes] == list(range(len(lines)))
    shown = load_spec("android").observation.examples[0]
    assert read_screen("android", shown)[0].flags == read_screen("android", lines[1])[0].flags


def test_a_name_with_quotes_and_lines_stays_on_one_line() -> None:
    hand = Hand(files={"files": [{"name": 'a "b"\\c', "text": "one\ntwo"}]}).app("Files")
    assert hand.node("TextView").text == "Files"
    hand.tap("""'a "b"\\c'""")
    assert "one\ntwo" in hand.texts and len(hand.nodes) == len(hand.machine.observation.splitlines())


def explored(seed: int, steps: int, controls: dict[str, float] | None = None) -> Any:
    """The phone after each of some random touches, most of them on what can be touched."""
    rng = random.Random(seed)
    machine = AndroidMachine.start({}, seed, Controls(controls or {}, seed))
    titles = [app.title for app in apps().values()]
    others: list[dict[str, Any]] = [
        {"action_type": "navigate_back"},
        {"action_type": "scroll", "direction": "down"},
        {"action_type": "wait"},
        {"action_type": "input_text", "text": "Ana 12"},
        {"action_type": "keyboard_enter"},
        {"action_type": "swipe", "direction": "down", "x": 540, "y": 5},
    ]
    for _ in range(steps):
        nodes = read_screen("android", machine.observation)
        live = [node.handle for node in nodes if "clickable" in node.flags or "long_clickable" in node.flags]
        draw = rng.random()
        if live and draw < 0.75:
            action = {"action_type": "click", "index": rng.choice(live)}
        elif live and draw < 0.8:
            action = {"action_type": "long_press", "index": rng.choice(live)}
        elif draw < 0.87:
            action = {"action_type": "open_app", "app_name": rng.choice(titles)}
        else:
            action = rng.choice(others)
        yield machine, action
        machine.act(action)


@pytest.mark.parametrize("seed", range(8))
def test_the_middle_of_whatever_is_shown_hits_it(seed: int) -> None:
    for machine, _ in explored(seed, 120):
        display = Display(machine.phone)
        for element in display.elements:
            path = display.at(*element.centre)
            inside = path and (element.widget in path or path[0] in _tree(element.widget))
            about = f"{element.widget.text or element.widget.description} on {machine.phone.screen}"
            assert inside, about
            if "click" in element.widget.on and element.widget.enabled:
                found = handler(path, "click")
                assert found is not None and found[0] is element.widget, about


def _tree(widget: Any) -> list[Any]:
    return [widget, *(inner for child in widget.children for inner in _tree(child))]


@pytest.mark.parametrize("seed", range(4))
def test_boxes_lie_on_the_screen_and_what_is_named_by_index_or_by_its_middle_is_the_same(seed: int) -> None:
    for machine, action in explored(seed, 80):
        for node in read_screen("android", machine.observation):
            assert node.box is not None and node.box.width > 0 and node.box.height > 0
            assert node.box.x >= 0 and node.box.x + node.box.width <= 1080 and node.box.y + node.box.height <= 2400
        if action["action_type"] == "click":
            box = read_screen("android", machine.observation)[action["index"]].box
            assert box is not None
            left, right = machine.fork(), machine.fork()
            by_point = {"action_type": "click", "x": (2 * box.x + box.width) // 2, "y": (2 * box.y + box.height) // 2}
            assert left.act(action) == right.act(by_point)


@pytest.mark.parametrize("seed", range(6))
def test_a_fork_is_exact(seed: int) -> None:
    strengths = dict.fromkeys(load_spec("android").controls, 0.15) if seed % 2 else {}
    twins = [AndroidMachine.start({}, 0)]
    for step, (machine, action) in enumerate(explored(seed, 80, strengths)):
        if step % 8 == 0:
            twins = [machine.fork()]
        twin = twins[0]
        assert (twin.observation, twin.state(), twin.spans) == (machine.observation, machine.state(), machine.spans)
        before = machine.state()
        twin.act(action)
        assert machine.state() == before


def test_the_state_has_a_field_for_whatever_an_action_changes() -> None:
    hand = Hand().app("Clock")

    def changed(*locators: str) -> dict[str, Any]:
        before = hand.machine.state()
        after = hand.tap(*locators).machine.state()
        return {key: after.get(key) for key in before | after if before.get(key) != after.get(key)}

    toast = "Alarm set for 20 hours and 49 minutes from now"
    assert changed("Switch after 'Early train'") == {"clock/alarms/1/on": True, "toast": toast}
    assert changed("'Stopwatch'") == {"clock/tab": "stopwatch", "toast": "", "tasks/clock/0/open": 0}
    hand.app("Files")
    assert changed("'Search'")["tasks/files/1/name"] == "search"
    hand.do("input_text", text="page")
    assert hand.machine.state()["tasks/files/1/fields/query"] == "page"


def test_the_same_seed_gives_the_same_phone_and_another_one_another() -> None:
    first, second, other = (AndroidMachine.start({}, seed) for seed in (3, 3, 4))
    assert first.state() == second.state() != other.state()
    assert AndroidMachine.start({"seed": 3}, 9).state() == AndroidMachine.start({"seed": 3}, 5).state()


@pytest.mark.parametrize(
    "action",
    [
        {"action_type": "click", "index": 999},
        {"action_type": "click", "x": 1000, "y": 700},
        {"action_type": "double_tap", "x": 1000, "y": 700},
        {"action_type": "input_text", "text": "nowhere"},
        {"action_type": "keyboard_enter"},
        {"action_type": "navigate_back"},
        {"action_type": "open_app", "app_name": "Sudoku"},
        {"action_type": "scroll", "direction": "left"},
        {"action_type": "swipe", "direction": "right"},
    ],
)
def test_what_cannot_be_done_changes_nothing(action: dict[str, Any]) -> None:
    machine = Hand().machine
    before, state = machine.observation, machine.state()
    assert machine.act(action) == before and machine.state() == state


def test_an_index_may_be_written_as_a_float() -> None:
    left, right = Hand().machine, Hand().machine
    assert left.act({"action_type": "click", "index": 2.0}) == right.act({"action_type": "click", "index": 2})
    before = left.observation
    assert left.act({"action_type": "click", "index": 1.5}) == before


def test_each_app_keeps_its_screens_and_starts_afresh_by_name() -> None:
    hand = Hand().app("files").tap("'Papers'")
    hand.do("navigate_home").tap("'Clock'")
    assert hand.node("'Alarm'")
    hand.do("navigate_home").do("swipe", direction="left").tap("'Files'")
    assert hand.texts[1] == "Papers"
    assert hand.app("FILES").texts[0] == "Files"
    assert hand.back().nodes[0].description == "Home screen 2 of 2"


def test_the_launcher_has_pages_a_drawer_and_a_search() -> None:
    hand = Hand()
    assert hand.do("scroll", direction="right").nodes[0].description == "Home screen 2 of 2"
    assert hand.do("navigate_home").nodes[0].description == "Home screen 1 of 2"
    assert "Calculator" in hand.do("swipe", direction="up").texts
    hand.back().tap("'Search'").do("input_text", text="calc")
    assert [node.text for node in hand.nodes if "long_clickable" in node.flags] == ["Calculator"]
    assert "Result preview" in hand.do("keyboard_enter").texts


def test_the_keyboard_comes_with_the_focus_and_goes_first() -> None:
    hand = Hand().app("Files").tap("'Search'")
    assert hand.texts[-3:] == ["Keyboard", "Delete", "Search"] and "focused" in hand.node("EditText").flags
    hand.do("input_text", text="page_07").tap("'Delete'")
    assert hand.node("EditText").text == "page_0" and "page_01.txt" in hand.texts
    hand.do("input_text", "EditText", text="page_40", clear_text=True)
    assert hand.node("EditText").text == "page_40"
    assert "Keyboard" not in hand.back().texts and "page_40.txt" in hand.texts
    assert hand.back().texts[0] == "Files"


def test_a_dialog_hides_what_is_below_until_it_is_closed() -> None:
    hand = Hand().app("Clock").tap("'Timer'", "~'Eggs'")
    assert "Stopwatch" not in hand.texts
    hand.do("click", x=540, y=300)
    assert "Stopwatch" in hand.texts
    hand.tap("~'Eggs'").do("input_text", "EditText", text="Soft eggs", clear_text=True).tap("'OK'")
    assert "Soft eggs" in hand.texts


def test_every_row_of_a_long_list_is_reached_and_none_is_shown_twice() -> None:
    hand = Hand().app("Files").tap("'Papers'")
    seen: dict[str, None] = {}
    while True:
        names = [name for name in hand.texts if name.startswith("page_")]
        assert len(names) == len(set(names))
        seen |= dict.fromkeys(names)
        before = hand.machine.observation
        if hand.do("scroll", direction="down").machine.observation == before:
            break
    assert list(seen) == [row["name"] for row in FILES]
    assert "page_01.txt" in hand.do("swipe", direction="down").do("scroll", direction="up").do(
        "scroll", "RecyclerView", direction="up"
    ).do("scroll", direction="up").texts  # fmt: skip
    hand.tap("'page_05.txt'").back()
    assert "page_05.txt" in hand.texts


def test_a_scrolled_list_comes_back_as_it_was_left() -> None:
    hand = Hand().app("Files").tap("'Papers'").do("scroll", direction="down")
    before = hand.machine.observation
    hand.do("click", x=540, y=1000).back()
    assert hand.machine.observation == before


def test_a_selection_is_moved_renamed_and_deleted() -> None:
    hand = Hand().app("Files").tap("'Papers'").do("long_press", "'page_01.txt'").tap("'page_02.txt'")
    assert hand.texts[1] == "2 selected"
    hand.tap("'More options'", "'Move to'", "'Archive'", "'Move here'")
    assert "page_01.txt" not in hand.texts and "Moved to Archive" in hand.texts
    hand.back().tap("'Archive'", "'page_01.txt'", "'More options'", "'Rename'")
    hand.do("input_text", "EditText", text="first.txt", clear_text=True).tap("'OK'")
    hand.tap("'More options'", "'Delete'", "'Delete'")
    assert [row["name"] for row in hand.machine.phone.data["files"]["items"] if row["in"] == 2] == ["page_02.txt"]


def test_a_file_is_shared_with_another_app() -> None:
    hand = Hand().app("Files").tap("'Papers'", "'page_03.txt'", "'Share'")
    assert "Files" not in hand.texts
    hand.tap("'Messages'").back().back().back()
    assert "page_03.txt" in hand.texts


def test_an_alarm_is_switched_on_with_a_message_on_the_next_screen_only() -> None:
    hand = Hand().app("Clock")
    hand.tap("Switch after 'Early train'")
    assert "checked" in hand.node("Switch after 'Early train'").flags
    assert hand.texts[-1] == "Alarm set for 20 hours and 49 minutes from now"
    assert hand.node("Toast") and "Toast" not in str(hand.tap("'Clock'").nodes)


def test_an_alarm_is_made_with_the_time_picker() -> None:
    hand = Hand().app("Clock").tap("'Add alarm'")
    hand.do("input_text", "'Hour'", text="25").tap("'OK'")
    assert "Enter a valid time" in hand.texts
    hand.do("input_text", "'Hour'", text="5").do("input_text", "'Minute'", text="20").tap("'PM'", "'OK'")
    hand.tap("'Saturday'")
    stored = hand.machine.phone.data["clock"]["alarms"][-1]
    assert (stored["time"], stored["days"], stored["on"]) == ("17:20", ["Sat"], True)
    assert "5:20 PM" in hand.texts and "Sat" in hand.texts


def test_a_clock_of_24_hours_is_set_without_halves() -> None:
    hand = Hand(settings={"24_hour": True}).app("Clock").tap("'Add alarm'")
    assert not {"AM", "PM"} & set(hand.texts)
    hand.do("input_text", "'Hour'", text="24").tap("'OK'")
    assert "Enter a valid time" in hand.texts
    hand.do("input_text", "'Hour'", text="18").do("input_text", "'Minute'", text="05").tap("'OK'")
    assert "18:05" in hand.texts


def test_an_opened_alarm_is_closed_by_its_head() -> None:
    hand = Hand().app("Clock").tap("'6:30 AM'")
    head = next(node for node in hand.nodes if "selected" in node.flags and node.role == "ViewGroup")
    hand.do("click", index=head.handle)
    assert hand.machine.phone.data["clock"]["alarms"][0]["days"] == ["Tue", "Thu"] and "Vibrate" not in hand.texts


def test_what_was_deleted_comes_back_while_the_bar_at_the_bottom_offers_it() -> None:
    hand = Hand().app("Clock").tap("~'Early train'", "'Delete'")
    assert "Early train" not in hand.texts and "Alarm deleted" in hand.texts
    assert "Early train" in hand.tap("'Undo'").texts
    hand.tap("'Delete'").tap("'Clock'")
    assert "Undo" not in hand.texts and "Early train" not in hand.tap("'Alarm'").texts


def test_a_double_tap_is_two_touches_and_a_long_press_opens_a_menu() -> None:
    hand = Hand().app("Clock").do("double_tap", "Switch after 'Early train'")
    assert "checked" not in hand.node("Switch after 'Early train'").flags
    hand.tap("'Clock'").do("long_press", "'Tokyo'").tap("'Delete'")
    assert "Tokyo" not in hand.texts
    hand.tap("'Add city'").do("input_text", text="nai").tap("'Nairobi'")
    assert "Today, 3 hrs ahead" in hand.texts
    hand.tap("'Stopwatch'", "'Start'").do("wait").tap("'Lap'").do("wait").tap("'Stop'", "'Pause'")
    assert "2:00.00" in hand.texts and "1:00" in hand.texts


def test_time_passes_only_by_waiting_and_alarms_and_timers_ring() -> None:
    hand = Hand().app("Clock")
    hand.tap("'Timer'").tap("'Start'").do("wait")
    assert "1:00" in hand.texts
    hand.do("wait")
    assert "Time's up" in hand.texts
    assert "Tea" in hand.tap("'Stop'").texts
    hand.tap("'Snooze'")
    assert hand.machine.phone.data["clock"]["alarms"][1]["on"] is False
    assert "Alarm" in hand.pull_shade().texts and "9:43 AM" in hand.texts
    for _ in range(10):
        hand.back().do("wait")
    assert "Snooze" in hand.texts


def test_a_setting_shows_everywhere() -> None:
    hand = Hand(settings={"wifi": True, "bluetooth": True}).pull_shade().tap("'Airplane mode'")
    assert "checked" not in hand.node("'Wi-Fi'").flags
    hand.app("Settings").tap("'Network & internet'")
    assert "checked" in hand.node("Switch 'Airplane mode'").flags
    assert "checked" not in hand.node("Switch 'Wi-Fi'").flags
    hand.tap("'Wi-Fi'")
    assert "checked" in hand.pull_shade().node("'Wi-Fi'").flags


def test_settings_are_found_by_search_and_chosen_from_lists() -> None:
    hand = Hand().app("Settings").tap("'Search settings'").do("input_text", text="timeout").tap("'Screen timeout'")
    hand.tap("'Screen timeout'", "'5 minutes'")
    assert hand.machine.phone.settings["screen_timeout"] == "5 minutes" and "5 minutes" in hand.texts
    bar = hand.node("SeekBar 'Brightness level'").box
    assert bar is not None
    hand.do("click", x=bar.x + bar.width // 4, y=bar.centre[1])
    assert hand.node("SeekBar").text == "25%"
    assert hand.do("scroll", "SeekBar", direction="right").node("SeekBar").text == "35%"


def test_another_time_zone_is_another_time() -> None:
    hand = Hand().app("Clock").tap("'Clock'")
    assert "6:41 PM" in hand.texts and "Today, 9 hrs ahead" in hand.texts
    hand.app("Settings").do("scroll", direction="down").tap("'System'", "'Date & time'", "'Time zone'", "~'New York'")
    hand.tap("'Use 24-hour format'").app("Clock")
    assert "04:41" in hand.texts and "18:41" in hand.texts and "Today, 14 hrs ahead" in hand.texts


def test_the_calculator_counts() -> None:
    hand = Hand().app("Calculator")
    for key in ("7", "×", "(", "2", "+", "4", ")", "÷", "0"):
        hand.tap(f"Button '{key}'")
    assert "Can't divide by 0" in hand.tap("'='").texts
    hand.tap("'delete'", "Button '4'")
    assert hand.node("'Result preview'").text == "10.5"
    assert hand.tap("'='").node("'Formula'").text == "10.5"
    assert "7×(2+4)÷4" in hand.tap("'More options'", "'History'").texts


def test_files_are_read_once_that_is_allowed() -> None:
    hand = Hand(permissions={}).app("Files")
    assert hand.texts == ["Allow Files to access photos, media and files on your device?", "Allow", "Don't allow"]
    hand.do("click", x=540, y=100)
    assert "Allow" in hand.texts
    assert "Files may not access your files" in hand.tap("'Don''t allow'").texts
    assert "Papers" not in hand.texts
    assert "Files has no permission: files" in hand.app("Files").texts
    hand.app("Settings").tap("'Apps'", "'Files'", "'Files' after 'Permissions'", "'Allow'")
    assert "Papers" in hand.app("Files").texts


def test_a_location_can_be_told_only_this_time() -> None:
    sold_out = [{"name": "Dill", "category": "Produce", "price": 129, "stock": 0}]
    hand = Hand(shop={"products": sold_out}).app("Pantry")
    assert "€1.29, sold out" in hand.texts and "clickable" not in hand.node("'Add Dill to basket'").flags
    hand.tap("'Dill'", "'Find in a shop near me'")
    assert hand.texts[1:] == ["While using the app", "Only this time", "Don't allow"]
    assert any("In stock at" in text for text in hand.tap("'Only this time'").texts)
    hand.tap("'OK'", "'Find in a shop near me'")
    assert "Shops near you" in hand.texts
    hand.app("Pantry").tap("'Dill'", "'Find in a shop near me'", "'Don''t allow'", "'Find in a shop near me'")
    assert "Pantry has no permission: location" in hand.texts


@pytest.mark.parametrize("grant", ["allowed", "denied"])
def test_an_alarm_is_only_announced_where_that_is_allowed(grant: str) -> None:
    hand = Hand(permissions={"clock/notifications": grant}).do("wait").do("wait")
    assert [row["text"] for row in hand.machine.phone.model["notifications"]] == ["9:43 AM Tea"][: grant == "allowed"]


def test_contents_that_nobody_told_are_pre_existing_until_they_were_shown() -> None:
    machine = AndroidMachine.start({key: STATE[key] for key in ("clock", "permissions")}, 1)
    texts = lambda: {machine.observation[span.start : span.end]: span.kind for span in machine.spans}  # noqa: E731
    machine.act({"action_type": "open_app", "app_name": "Files"})
    assert texts()["Documents"] == "pre-existing"
    machine.act({"action_type": "open_app", "app_name": "Clock"})
    assert texts() == {}
    machine.act({"action_type": "open_app", "app_name": "Files"})
    assert "Documents" not in texts()
    machine.act({"action_type": "swipe", "direction": "down", "x": 540, "y": 5})
    assert texts() == {"9:41 AM": "metadata"}


@pytest.mark.parametrize("seed", range(4))
def test_spans_are_in_order_and_do_not_overlap(seed: int) -> None:
    for machine, _ in explored(seed, 60):
        end = 0
        for span in machine.spans:
            assert end <= span.start < span.end
            end = span.end


@pytest.mark.parametrize(
    ("state", "key"),
    [
        ({"apps": ["Clock", "Sudoku"]}, "apps"),
        ({"time": "yesterday"}, "time"),
        ({"settings": {"wifi": "yes"}}, "settings.wifi"),
        ({"settings": {"warp": True}}, "settings.warp"),
        ({"clock": {"alarms": [{"time": "25:00"}]}}, "clock.alarms.0.time"),
        ({"files": {"files": [{"name": "a", "changed": "today"}]}}, "files.files.0.changed"),
        ({"permissions": {"clock/camera": "allowed"}}, "permissions.clock/camera"),
        ({"scenario": "brick"}, "scenario"),
        ({"weather": "fine"}, "weather"),
    ],
)
def test_a_wrong_state_is_named(state: dict[str, Any], key: str) -> None:
    with pytest.raises(SpecError) as caught:
        AndroidMachine.start(state, 0)
    assert (caught.value.file, caught.value.key) == ("task state", key)


@pytest.mark.parametrize(
    ("file", "old", "new", "key"),
    [
        ("device.yaml", "dock: [Phone,", "dock: [Sudoku,", "pages"),
        ("device.yaml", "  wifi: true\n", "", "settings.wifi"),
        ("device.yaml", "2026-03-04 09:41", "soon", "time"),
        ("device.yaml", "sets: {battery_saver", "sets: {battery_savior", "interruptions.0.sets"),
        ("settings.yaml", "switch: nfc", "switch: warp", "pages.devices.rows.1.switch"),
        ("settings.yaml", "page: display", "page: attic", "the whole document"),
        ("clock.yaml", "6:30 AM", "6.30 AM", "times.2"),
    ],
)
def test_a_phone_is_a_folder_of_files_and_what_is_wrong_in_them_is_named(
    tmp_path: Path, file: str, old: str, new: str, key: str
) -> None:
    folder = tmp_path / "brick"
    shutil.copytree(scenario_folder() / "pixel", folder)
    assert AndroidMachine.start({"scenario": str(folder)}, 0).observation == AndroidMachine.start({}, 0).observation
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    text = (broken / file).read_text(encoding="utf-8")
    assert old in text
    (broken / file).write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        AndroidMachine.start({"scenario": str(broken)}, 0)
    assert caught.value.file.endswith(file) and caught.value.key == key


def test_a_dialog_at_the_wrong_moment_has_to_be_answered() -> None:
    hand = Hand({"unexpected-dialog": 1.0}).app("Clock")
    before = hand.texts
    assert "Alarm" not in before
    assert hand.app("Settings").back().do("navigate_home").texts == before
    with suspended():
        assert hand.tap("Button").texts[0] == "Alarm"


def test_the_last_button_of_such_a_dialog_does_what_it_says() -> None:
    seen = set()
    for seed in range(30):
        hand = Hand({"unexpected-dialog": 1.0}, seed).app("Clock")
        answers = [node.text for node in hand.nodes if node.role == "Button"]
        before = dict(hand.machine.phone.settings)
        hand.tap(f"'{answers[-1]}'")
        seen.add((answers[-1], hand.machine.phone.settings == before))
    assert {("Turn on", False), ("Rate", True)} <= seen


def test_a_screen_that_loads_shows_nothing_until_one_waits() -> None:
    hand = Hand({"slow-loading": 1.0}).app("Clock")
    assert hand.texts == ["Loading"]
    assert hand.do("click", x=100, y=2200).texts == ["Loading"]
    assert "Early train" in hand.do("wait").texts
    hand.app("Files")
    with suspended():
        assert hand.do("scroll", direction="down").texts[0] == "Files"


def test_a_stale_index_names_the_element_before() -> None:
    hand = Hand({"stale-element": 1.0}).app("Clock")
    stopwatch, timer = hand.node("'Stopwatch'"), hand.node("'Timer'")
    assert hand.do("click", index=stopwatch.handle).texts[0] == "Timer" and timer.handle == stopwatch.handle - 1
    assert stopwatch.box is not None
    x, y = stopwatch.box.centre
    assert hand.do("click", x=x, y=y).texts[0] == "Stopwatch"


def test_lists_come_in_another_order_at_each_visit() -> None:
    plain = Hand().app("Settings").texts
    orders = {tuple(Hand({"reordered-menu": 1.0}, seed).app("Settings").texts) for seed in range(4)}
    assert len(orders) > 2 and {tuple(sorted(order)) for order in orders} == {tuple(sorted(plain))}


def test_an_app_with_an_account_asks_to_sign_in_again() -> None:
    hand = Hand({"session-expired": 1.0}).app("Pantry")
    assert "Your session has expired. Sign in to go on." in hand.texts
    assert hand.tap("~'Continue as'").texts[0] == "Pantry" and len(hand.texts) > 5
    assert hand.app("Pantry").back().nodes[0].description == "Home screen 1 of 2"
    assert hand.app("Clock").texts[0] == "Alarm"


def test_a_setting_that_the_admin_locked_takes_no_touch() -> None:
    hand = Hand({"permission-denied": 1.0}).app("Settings").tap("'Network & internet'")
    assert (
        "clickable" not in hand.nodes[hand.node("'Wi-Fi'").line - 1].flags
        and hand.texts.count("Disabled by admin") == 5
    )
    before = hand.machine.state()
    assert hand.tap("'Wi-Fi'").machine.state() == before
    assert "checked" not in hand.pull_shade().tap("'Wi-Fi'").node("'Wi-Fi'").flags


def test_an_app_that_does_not_respond_is_waited_for_or_closed() -> None:
    hand = Hand({"intermittent-errors": 1.0}).app("Clock")
    assert "Clock isn't responding" in hand.texts
    assert "Alarm" in hand.tap("'Wait'").texts
    assert hand.app("Clock").tap("'Close app'").nodes[0].description == "Home screen 1 of 2"


def test_every_control_of_the_spec_is_acted_out_here() -> None:
    assert set(load_spec("android").controls) == {
        "unexpected-dialog",
        "slow-loading",
        "stale-element",
        "reordered-menu",
        "session-expired",
        "permission-denied",
        "intermittent-errors",
    }
