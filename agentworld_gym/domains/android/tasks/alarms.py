"""Tasks in the clock: alarms that fit the day."""

from __future__ import annotations

import re
from datetime import timedelta

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.android.tasks.actions import app, enter_text, tap
from agentworld_gym.domains.android.tasks.calendar import clock
from agentworld_gym.domains.android.tasks.scene import AndroidScene, background, family, line, words

ALARMS = ("Early train", "Market", "Morning run", "Night shift", "Bakery", "Allotment", "Ferry", "Long walk")


@family
def set_alarms(scene: AndroidScene, level: int) -> TaskDraft:
    """The agent switches alarms by their labels, names one after an event, or makes one for a time that it works
    out."""
    names = background(scene, 5, 1)
    host = scene.pick(names)
    scene.silence(host)
    labels = scene.some(ALARMS, 4)
    if level == 1:
        return _switched(scene, labels)
    first = scene.rng.randint(7, 12)
    titles = scene.some(words().planned, 4)
    scene.event(titles[0], scene.tomorrow, first)
    scene.event(titles[1], scene.tomorrow, first + 2)
    scene.event(titles[2], scene.today, first - 1)
    scene.event(titles[3], scene.tomorrow + timedelta(days=1), first - 1)
    if level == 2:
        hours = scene.some([first - 3, first - 2, first, first + 1, first + 2], 3)
        alarms = [{"time": clock(hour), "label": "", "state": "off"} for hour in sorted([first - 1, *hours])]
        scene.state["clock"] = {"alarms": alarms}
        ring, *wrong = (clock(hour) for hour in (first - 1, *hours))
        name = [tap("Add label"), enter_text("Label", titles[0]), tap("OK")]
        goal = scene.say(
            "Turn on the alarm that rings an hour before your first event of tomorrow, and label it with the title of"
            " that event.",
            "Tomorrow you want to be woken an hour before the first thing in your calendar. There is an alarm for that "
            "time: turn it on, and give it the event's title as its label.",
        )
        return scene.draft(
            goal,
            [app("Calendar"), app("Clock"), tap(f"{ring} alarm"), tap(ring), *name],
            [
                tap(f"{wrong[0]} alarm"),
                tap(wrong[0]),
                enter_text("Label", titles[1]),
                tap(f"{wrong[1]} alarm"),
                tap(f"{wrong[2]} alarm"),
                tap("Delete"),
            ],
            [
                scene.shows([app("Clock")], f"{line(titles[0])}[^\\n]*\\n[^\\n]*{line(ring)}"),
                scene.shows([app("Clock")], _rings(re.escape(ring)), lacking=[_rings(rf'(?!{ring})[^\n"]*')]),
            ],
            "Finish with the time of the alarm.",
            ring,
            wrong[:1],
            menu_max=14,
        )
    ready, road = scene.some((20, 25, 35, 40, 45, 50), 2)
    other_ready = scene.pick([minutes for minutes in (15, 30, 55) if minutes not in (ready, road)])
    before = 60 * first - 30 - ready - road
    hour, minute = divmod(before, 60)
    wrong_hour, wrong_minute = divmod(before + scene.pick((30, -20)), 60)
    scene.need(wrong_minute != minute)
    scene.note(
        "Mornings",
        f"What I wrote down after being late three times:\nready in {ready} minutes\nroad to town {road} minutes",
    )
    scene.note(
        "Weekends", f"What I wrote down for the days without work:\nready in {other_ready} minutes\nroad 10 minutes"
    )
    scene.thread(
        host, f"The {titles[0].lower()} tomorrow starts half an hour earlier than planned!", day=scene.today, unread=1
    )
    scene.state["clock"] = {"alarms": [{"time": clock(first), "label": "", "state": "off"}]}
    ring, label = clock(hour, minute), titles[0]
    expert = [
        app("Messages"),
        tap(host),
        app("Calendar"),
        app("Notes"),
        tap("Mornings"),
        app("Clock"),
        tap("Add alarm"),
        enter_text("Hour", str(hour)),
        enter_text("Minute", f"{minute:02}"),
        tap("OK"),
        tap("Add label"),
        enter_text("Label", label),
        tap("OK"),
    ]
    goal = scene.say(
        f"Make an alarm for tomorrow's first event. {host} wrote to you when it really starts, and the note 'Mornings'"
        " says how long before you have to get up: the time to get ready plus the time on the road. Label the alarm"
        " with the title of the event.",
        f"When do you have to get up tomorrow? Take the first event of your calendar, what {host} wrote about it, and"
        " from that on the minutes that your note 'Mornings' wants: getting ready and the road. Add an alarm for that"
        " time, labelled with the event's title.",
    )
    return scene.draft(
        goal,
        expert,
        [
            enter_text("Minute", f"{wrong_minute:02}"),
            *([enter_text("Hour", str(wrong_hour))] if wrong_hour != hour else []),
            enter_text("Label", titles[1]),
            tap("Weekends"),
        ],
        [
            scene.shows(
                [app("Clock")], f"{line(label)}[^\\n]*\\n[^\\n]*{line(ring)}", lacking=[f"{line(label)}.*{line(label)}"]
            ),
            scene.shows([app("Clock")], _rings(re.escape(ring))),
        ],
        "Finish with the time of the alarm.",
        ring,
        [clock(wrong_hour, wrong_minute)],
        menu_max=16,
    )


def _rings(time: str) -> str:
    """Return a regular expression for an alarm that is on."""
    return rf'desc="{time} alarm" \| bounds=\S+ \| clickable, checked'


def _switched(scene: AndroidScene, labels: list[str]) -> TaskDraft:
    days = scene.some(("Mon, Wed", "Tue, Thu", "Sat, Sun", "Mon, Fri", "Wed, Fri"), 4)
    hours = sorted(scene.some(range(5, 10), 4))
    order = scene.some(range(4), 4)
    on, off = order[0], order[1]
    alarms = [
        {"time": clock(hour, 30), "label": label, "days": ring, "state": "on" if place in (off, order[2]) else "off"}
        for place, (hour, label, ring) in enumerate(zip(hours, labels, days, strict=True))
    ]
    scene.state["clock"] = {"tab": scene.pick(("timer", "stopwatch")), "alarms": alarms}
    switches = [tap("", "Switch", after=f"'{label}'") for label in labels]
    goal = scene.say(
        f"Turn the alarm '{labels[on]}' on and the alarm '{labels[off]}' off.",
        f"The alarm '{labels[off]}' shall not ring any more, but '{labels[on]}' shall.",
    )
    state = 'desc="{} alarm" \\| bounds=\\S+ \\| clickable{}'
    others = [(hours[order[2]], ", checked"), (hours[order[3]], "(?!, checked)")]
    wanted = [(hours[on], ", checked"), (hours[off], "(?!, checked)")]
    return scene.draft(
        f"{goal} Leave the others as they are.",
        [app("Clock"), tap("Alarm"), switches[on], switches[off]],
        [switches[order[2]], switches[order[3]], tap("Stopwatch"), tap("Bedtime"), tap("Delete")],
        [
            scene.shows([app("Clock")], *(state.format(clock(hour, 30), flag) for hour, flag in (alarm, *others)))
            for alarm in wanted
        ],
    )
