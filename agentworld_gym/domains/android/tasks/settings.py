"""Tasks in the settings: the agent turns switches and makes choices."""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.android.tasks.actions import BACK, app, tap
from agentworld_gym.domains.android.tasks.scene import AndroidScene, background, checked, family, line


class Setting(NamedTuple):
    """A switch of the Settings app: its page, name and key, and its name in quick settings, if it is there."""

    page: str
    name: str
    key: str
    tile: str = ""


SWITCHES = (
    Setting("Network & internet", "Mobile data", "mobile_data"),
    Setting("Network & internet", "Wi-Fi hotspot", "hotspot"),
    Setting("Connected devices", "Bluetooth", "bluetooth", "Bluetooth"),
    Setting("Connected devices", "NFC", "nfc"),
    Setting("Battery", "Battery Saver", "battery_saver", "Battery Saver"),
    Setting("Battery", "Adaptive Battery", "adaptive_battery"),
    Setting("Display", "Dark theme", "dark_theme", "Dark theme"),
    Setting("Display", "Night Light", "night_light"),
    Setting("Display", "Auto-rotate screen", "auto_rotate", "Auto-rotate"),
    Setting("Sound & vibration", "Vibrate for calls", "vibrate_calls"),
    Setting("Sound & vibration", "Touch sounds", "touch_sounds"),
    Setting("Notifications", "Notification history", "notification_history"),
    Setting("Notifications", "Do Not Disturb", "dnd", "Do Not Disturb"),
)
TIMEOUTS = ("15 seconds", "1 minute", "2 minutes", "5 minutes", "10 minutes")
MODES = ("Night shift", "Long flight", "Concert", "Field trip", "Library day")


def switched(setting: Setting, on: bool) -> str:
    """Return a regular expression for a switch on its page."""
    return line("", setting.name, checked(on))


@family
def change_settings(scene: AndroidScene, level: int) -> TaskDraft:
    """The agent sets switches and a choice as the task, a note, or the note for the next event in the calendar says."""
    background(scene, 4)
    # At level 1 all switches are in quick settings too.
    switches = [setting for setting in SWITCHES if setting.tile or level > 1]
    pages = scene.some(sorted({setting.page for setting in switches}), 3)
    first, second, other = (scene.pick([s for s in switches if s.page == page]) for page in pages)
    siblings = [s for s in SWITCHES if s.page in pages[:2] and s not in (first, second)]
    modes = scene.some(MODES, 3)
    timeout, wrong_timeout, last_timeout = scene.some(TIMEOUTS, 3)
    change = [app("Settings"), tap(first.page), tap(first.name), BACK, tap(second.page), tap(second.name)]
    settings = {setting.key: scene.rng.random() < 0.5 for setting in SWITCHES}
    scene.state["settings"] = settings
    wanted = {first: not settings[first.key], second: not settings[second.key]}
    say = {setting: f"{setting.name} {'on' if on else 'off'}" for setting, on in wanted.items()}
    checks = [
        scene.shows(
            [app("Settings"), tap(setting.page)],
            switched(setting, on),
            *(switched(s, settings[s.key]) for s in siblings if s.page == setting.page),
        )
        for setting, on in wanted.items()
    ]
    distractors = [tap(other.page), *(tap(s.name) for s in siblings), tap("Apps"), tap("Wi-Fi")]
    if level == 1:
        expert = change
        goal = scene.say(
            f"Switch {say[first]} and {say[second]}, and nothing else on their pages.",
            f"Change two settings: {say[first]}, {say[second]}. Leave the others on their pages alone.",
        )
        closing, answer, wrong = "", "", list[str]()
    else:
        mode = modes[0]
        rules = {
            modes[0]: [say[first], say[second]],
            modes[1]: [say[first], f"{other.name} {'off' if settings[other.key] else 'on'}"],
            modes[2]: [f"{second.name} {'on' if settings[second.key] else 'off'}"],
        }
        for name, changes in rules.items():
            choice = timeout if name == mode else wrong_timeout if name == modes[1] else last_timeout
            lines = [*scene.some(changes, len(changes)), f"Screen timeout {choice}"]
            scene.note(name, "\n".join([f"What to set on the phone for a {name.lower()}:", *lines]))
        look = [app("Notes"), tap(mode)]
        if level == 3:
            scene.event(mode, scene.tomorrow, 19)
            scene.event(modes[1], scene.tomorrow + timedelta(days=2), 18)
            scene.event("Dentist", scene.today, 16)
            look = [app("Calendar"), *look]
        choose = [tap("Screen timeout"), tap(timeout)]
        expert = [*look, *change]
        if "Display" not in (first.page, second.page):
            expert += [BACK, tap("Display"), *choose]
        elif first.page == "Display":
            place = expert.index(tap(first.name)) + 1
            expert[place:place] = choose
        else:
            expert += choose
        checks.append(
            scene.shows([app("Settings"), tap("Display")], line("Screen timeout") + rf"[^\n]*\n[^\n]*{line(timeout)}")
        )
        distractors = [tap(wrong_timeout), tap(modes[1]), *distractors, tap(modes[2])]
        answer, wrong = timeout, [wrong_timeout]
        goal = (
            scene.say(
                f"Your note '{mode}' lists how the phone has to be set for it. Set it so.",
                f"Get the phone ready as the note '{mode}' says.",
            )
            if level == 2
            else scene.say(
                "Tomorrow evening's event has a note of the same name that says how to set the phone. Set it so.",
                "Set the phone as your notes want it for what is in the calendar tomorrow evening.",
            )
        )
        closing = "Finish with the screen timeout it has then."
    scene.mix()
    return scene.draft(goal, expert, distractors, checks, closing, answer, wrong, {2: 15, 3: 16}.get(level))
