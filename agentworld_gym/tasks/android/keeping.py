"""Settings, papers and calls: what a phone is kept in order with."""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from agentworld_gym.engines.tables.word_lists import common_words
from agentworld_gym.tasks.android.scene import BACK, AndroidScene, app, enter_text, family, line, tap
from agentworld_gym.tasks.android.writing import background
from agentworld_gym.tasks.draft import Draft


class Setting(NamedTuple):
    """A switch of the Settings app: its page, name and key, and what quick settings call it (nothing: not there)."""

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
FOLDERS = ("Bills", "Archive", "Taxes", "Letters", "Insurance")


def switched(setting: Setting, on: bool) -> str:
    """A regular expression for a switch on its page."""
    return line("", setting.name, " checkable checked" if on else " checkable(?! checked)")


@family
def change_settings(scene: AndroidScene, level: int) -> Draft:
    """Switches and a choice, as the task, a note, or the note for the calendar's next event wants them."""
    background(scene, 4)
    # At level 1 all can be done in quick settings too.
    known = [setting for setting in SWITCHES if setting.tile or level > 1]
    pages = scene.some(sorted({setting.page for setting in known}), 3)
    first, second, other = (scene.pick([s for s in known if s.page == page]) for page in pages)
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
            own = timeout if name == mode else wrong_timeout if name == modes[1] else last_timeout
            lines = [*scene.some(changes, len(changes)), f"Screen timeout {own}"]
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


@family
def sort_papers(scene: AndroidScene, level: int) -> Draft:
    """A file is found by its name, by what it says, or by what a message says of it, then moved."""
    names = background(scene, 5, 1)
    sender, other = scene.some(names, 2)
    scene.silence(sender, other)
    firms = scene.some(common_words()["companies"], 3)
    folders = scene.some(FOLDERS, 3)
    numbers = scene.some(range(1000, 9999), 3)
    sums = [f"{scene.rng.randrange(20, 400)}.{scene.rng.randrange(10, 99)}" for _ in range(3)]
    files = [f"scan_{number}.pdf" for number in sorted(numbers)]
    order = scene.some(range(3), 3)
    scene.state["files"] = {
        "folders": ["Downloads", *sorted(folders)],
        "files": [
            {"path": "Downloads", "name": files[place], "size": 80 + place, "changed": scene.today.isoformat(),
             "text": f"{firms[row]}. Total {sums[row]} euros."}
            for row, place in enumerate(order)
        ],
    }  # fmt: skip
    scene.state["permissions"] = {"files/files": "allowed"}
    name, wrong_name = files[order[0]], files[order[1]]
    firm, folder = firms[0], folders[0]
    find = [app("Files"), tap("Downloads"), tap(name)]
    move = [tap("More options"), tap("Move to"), tap(folder), tap("Move here")]
    landed = [app("Files"), tap(folder)]
    alone = scene.shows(landed, line(name), lacking=[line(other) for other in files if other != name])
    distractors = [
        tap(wrong_name),
        tap(folders[1]),
        tap(files[order[2]]),
        tap("Cancel"),
        tap("Delete"),
        tap(folders[2]),
    ]
    closing, answer, wrong = "Finish with the sum it is about.", sums[0], sums[1:]
    if level == 1:
        expert = [*find, *move]
        checks = [alone]
        goal = scene.say(
            f"Move the file {name} from Downloads to the folder {folder}.",
            f"{name} lies in Downloads, but belongs into the folder {folder}. Put it there.",
        )
    else:
        # The way through the other files: their texts tell whose they are.
        expert = [app("Files"), tap("Downloads"), tap(wrong_name), BACK, tap(name), *move]
        checks = [alone]
        goal = scene.say(
            f"One of the scans in Downloads is the bill of {firm}. Move it to the folder {folder}.",
            f"Find the bill of {firm} among the scans in Downloads, and put it into the folder {folder}.",
        )
        if level == 3:
            scene.thread(sender, f"The bill that I paid for you was the one over {sums[0]} euros.", unread=1)
            scene.thread(other, f"I wrote down {sums[1]} euros for the other one.")
            rules = scene.some(
                (f"paid bills go to {folder}", f"open bills go to {folders[1]}", f"post goes to {folders[2]}"), 3
            )
            scene.note("Papers", "\n".join(["How I keep all my papers in order this year:", *rules]))
            expert = [app("Messages"), tap(sender), app("Notes"), tap("Papers"), *expert]
            goal = (
                f"{sender} paid one of the bills that lie as scans in Downloads, and wrote you which. Move that scan to"
                " where your note 'Papers' wants it."
            )
            distractors = [tap(folders[1]), tap(files[order[2]]), tap(folders[2])]
            closing, answer, wrong = "Finish with the name of the file.", name, [wrong_name]
    scene.mix()
    return scene.draft(goal, expert, distractors, checks, closing, answer, wrong, {1: 12, 2: 15, 3: 16}[level])


@family
def return_calls(scene: AndroidScene, level: int) -> Draft:
    """Missed calls are returned: by a message, or by a call to a number that gets a name; another one is blocked."""
    names = background(scene, 5, 2)
    first, second, third = scene.some(names, 3)
    scene.silence(first, second)
    minutes = scene.some(range(5, 55), 4)
    firms = scene.some(common_words()["companies"], 3)
    numbers = [scene.number() for _ in range(2)]
    texts = scene.some(
        ("I call you back at noon", "Was in the train, what is up?", "In a meeting until ten", "Call you tonight"), 4
    )
    scene.call(third, "incoming", 6, minutes[3], 75)
    if level == 1:
        scene.call(first, "missed", 6, minutes[1])
        scene.call(second, "outgoing", 6, minutes[0], 64)
        expert = [app("Phone"), tap(first), tap("Send message"), enter_text("Text message", texts[0]), tap("Send SMS")]
        goal = scene.say(
            f"Send '{texts[0]}' to the person whose call you missed this morning.",
            f"You missed a call this morning. Answer it with the message '{texts[0]}'.",
        )
        distractors = [
            tap(second),
            *(enter_text("Text message", text) for text in texts[1:]),
            tap(third),
            tap(f"Call {scene.pick((first, second))}"),
            tap("Keypad"),
        ]
        return scene.draft(goal, expert, distractors, [scene.sent(first, texts[0])], menu_max=13)
    scene.call(numbers[0], "missed", 6, minutes[0])
    scene.call(numbers[1], "missed", 6, minutes[1])
    if level == 3:
        scene.call(numbers[1], "missed", 6, minutes[2])
    jobs = scene.some(("Plumber", "Carpenter", "Electrician", "Tiler", "Painter"), 3)
    scene.note(
        "Repairs",
        f"Who promised to call about the bathroom:\n{firms[0]}, {jobs[0]}: {numbers[0]}\nTiles are in the cellar.",
    )
    scene.note("Old flat", f"Who we had there in the last years:\n{firms[1]}, {jobs[1]}: {scene.number()}")
    save = [
        app("Phone"),
        tap(numbers[0]),
        tap("More options"),
        tap("Add contact"),
        enter_text("Name", firms[0]),
        tap("Save", "Button"),
        tap(numbers[0]),
        tap("End call"),
    ]
    saved = scene.shows([app("Contacts"), tap(firms[0])], line(numbers[0]))
    called = scene.shows([app("Phone"), tap(firms[0])], line("Outgoing call"))
    distractors = [
        tap(numbers[1]),
        enter_text("Name", firms[1]),
        tap("Old flat"),
        tap(f"Call {numbers[1]}"),
        tap("Delete calls"),
    ]
    goal = scene.say(
        "One of the unknown numbers that you missed a call from this morning stands in your note 'Repairs'. Save it as"
        " a contact under the name of the firm, and call it.",
        "Your note 'Repairs' knows one of the numbers whose calls you missed. Make it a contact, named like the firm,"
        " and call back.",
    )
    checks = [saved, called]
    expert = [app("Notes"), tap("Repairs"), *save]
    if level == 3:
        scene.thread(
            first, f"Somebody from {numbers[1]} calls everyone about a prize. Do not pick up, block it!", unread=1
        )
        scene.thread(second, "Did the firm call about the bathroom?")
        expert = [
            app("Messages"),
            tap(first),
            *expert,
            app("Phone"),
            tap(numbers[1]),
            tap("More options"),
            tap("Block number"),
        ]
        block = [app("Phone"), tap(numbers[1]), tap("More options")]
        checks.append(scene.shows(block, line("Unblock number")))
        goal += f" {first} warns you of a number in a message: block that one."
        distractors = [enter_text("Name", firms[1]), tap("Old flat"), tap("Delete calls")]
    scene.mix()
    return scene.draft(
        goal,
        expert,
        distractors,
        checks,
        "Finish with what the firm is.",
        jobs[0],
        jobs[1:],
        menu_max={2: 14, 3: 16}[level],
    )
