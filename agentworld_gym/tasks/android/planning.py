"""Plans and alarms: events that find a free hour, events that move, alarms that fit the day."""

from __future__ import annotations

import re
from datetime import date, timedelta

from agentworld_gym.tasks.android.scene import AndroidScene, app, enter_text, family, line, tap
from agentworld_gym.tasks.android.words import words
from agentworld_gym.tasks.android.writing import background
from agentworld_gym.tasks.draft import Draft

PLACES = ("Mill Road 4", "Ferry Road 18", "Tarn pool", "Elm Grove 7", "Room Cedar", "North Quay 2", "Castle Hill 31")
ALARMS = ("Early train", "Market", "Morning run", "Night shift", "Bakery", "Allotment", "Ferry", "Long walk")


def clock(hour: int, minute: int = 0) -> str:
    """A time as the phone writes it.

    >>> clock(14), clock(0, 5)
    ('2:00 PM', '12:05 AM')
    """
    return f"{hour % 12 or 12}:{minute:02} {'AM' if hour < 12 else 'PM'}"


def short(day: date) -> str:
    """A day as the phone writes it."""
    return f"{day:%a, %b} {day.day}"


@family
def book_slot(scene: AndroidScene, level: int) -> Draft:
    """An appointment gets the only hour of those proposed that is free."""
    names = background(scene, 5, 1)
    host, stranger = scene.some(names, 2)
    scene.silence(host)
    title, other_title = scene.some(words().appointments, 2)
    days = [scene.tomorrow, scene.tomorrow + timedelta(days=1)]
    hours = scene.some(range(8, 16), 4)
    planned = scene.some(words().planned, 4)
    moves = [app("Calendar"), tap("Day"), tap("Next day")]
    if level == 1:
        day, hour = days[0], hours[0]
        scene.need(hour > 8 and hour - 1 not in hours[1:])
        scene.event(planned[0], day, hour - 1)
        for name, taken in zip(planned[1:], hours[1:], strict=True):
            scene.event(name, scene.pick(days), taken)
        expert = [*moves, tap(clock(hour)), enter_text("Add title", title), tap("Save", "Button")]
        instruction = scene.say(
            f"Put '{title}' into your calendar, tomorrow from {clock(hour)} on for an hour.",
            f"You have an appointment tomorrow at {clock(hour)}, for an hour. Plan it as '{title}'.",
        )
        answer, wrong = planned[0], planned[1:3]
        others = [tap(clock(hours[1])), tap(clock(hours[2]))]
    else:
        # Of the proposed hours all but one are taken; at level 3 the free one may be a day later.
        place = scene.rng.randrange(2) if level == 2 else scene.rng.randrange(3)
        offers = [(days[0], hours[0]), (days[0], hours[1])] + ([(days[1], hours[2])] if level == 3 else [])
        for number, (taken_day, taken) in enumerate(offers):
            if number != place:
                scene.event(planned[number], taken_day, taken)
        day, hour = offers[place]
        later = [days[1]] if day == days[0] else [days[0]]
        scene.event(planned[3], later[0], hour)
        told = [f"{clock(h)}" if d == days[0] else f"the day after at {clock(h)}" for d, h in offers]
        proposal = f"For the {title.lower()}: tomorrow at {told[0]} or {told[1]}"
        scene.thread(host, f"{proposal}, or {told[2]}?" if level == 3 else f"{proposal}?", day=scene.today, unread=1)
        expert = [app("Messages"), tap(host), *moves, *([tap("Next day")] if day == days[1] else [])]
        expert += [tap(clock(hour)), enter_text("Add title", title)]
        if level == 3:
            expert += [tap("Add guest"), tap("Allow"), tap(host)]
        expert.append(tap("Save", "Button"))
        first = host.split()[0]
        instruction = scene.say(
            f"{host} proposes hours for the {title.lower()}. Enter it into your calendar as '{title}', an hour long, at"
            " the one when you have nothing else.",
            f"Read when {host} could make it for the {title.lower()}, and plan an hour called '{title}' at the proposed"
            " time that is still free in your calendar.",
        )
        answer = clock(hour)
        wrong = [clock(h) for d, h in offers if (d, h) != (day, hour)]
        others = [tap(clock(h)) for h in hours[:3] if h != hour]
        if level == 3:
            reply = f"{answer} is fine"
            expert += [app("Messages"), tap(host), enter_text("Text message", reply), tap("Send SMS")]
            instruction += (
                f" Invite {first} as a guest, and send '… is fine' with the time in the place of the dots, as in"
                f" '{clock(7, 30)} is fine'."
            )
            others = [tap(wrong[0]), enter_text("Text message", f"{wrong[0]} is fine"), *others]
    span = rf"{clock(hour)} – {clock(hour + 1)}"
    to_day = [tap("Next day")] if day == days[1] else []
    once = scene.shows(
        [app("Calendar")],
        f"{line(title)}[^\\n]*\\n[^\\n]*{line(span)}",
        lacking=[f"{line(title)}.*{line(title)}"],
        weight=0.5,
    )
    checks = [scene.shows([*moves, *to_day], line(f"{title}, {span}")), once]
    if level == 3:
        checks.append(
            scene.shows([*moves, *to_day, tap(f"{title}, {span}")], line(host) + rf"[^\n]*\n[^\n]*{line('Guest')}")
        )
        checks.append(scene.sent(host, reply))
    scene.mix()
    return scene.draft(
        instruction,
        expert,
        [*others, enter_text("Add title", other_title), tap("Previous day"), tap("Create new event"), tap(stranger)],
        checks,
        "Finish with the time.",
        answer,
        wrong,
        menu_max={2: 13, 3: 16}.get(level),
    )


@family
def move_event(scene: AndroidScene, level: int) -> Draft:
    """An event gets another time: one that is given, one that a message names, or the end of another event."""
    names = background(scene, 5, 1)
    host, stranger = scene.some(names, 2)
    scene.silence(host)
    title, second, third, fourth = scene.some(words().planned, 4)
    places = scene.some(PLACES, 3)
    length, old, new = scene.rng.randint(1, 2), scene.rng.randint(12, 13), scene.rng.randint(15, 18)
    wrong_hour = scene.pick([hour for hour in range(15, 20) if hour != new])
    day = scene.tomorrow + timedelta(days=scene.rng.randint(0, 1))
    to_day = day if level == 1 else scene.tomorrow + timedelta(days=3)
    scene.need((to_day + timedelta(days=1)).month == day.month)
    scene.event(title, day, old, old + length, place=places[0])
    scene.event(third, scene.today, 10, place=places[2])
    start = [tap(clock(old)), enter_text("Hour", str(new - 12)), tap("OK"), tap("Save", "Button")]
    edit = [app("Calendar"), tap(title), tap("Edit event")]
    distractors = [enter_text("Hour", str(wrong_hour - 12)), tap(clock(old + length)), tap("AM"), tap(second)]
    times = f" {clock(new)} – {clock(new + length)}"
    having = (
        [rf'text="{short(to_day)},', rf'text="[^"\n]*,{times}"'] if level > 1 else [line(f"{short(to_day)},{times}")]
    )
    if level == 1:
        scene.event(second, scene.tomorrow + timedelta(days=3), new)
        expert = [*edit, *start]
        other_hour = scene.pick([hour for hour in range(14, 20) if hour not in (new, wrong_hour)])
        distractors[1:1] = [
            enter_text("Minute", "30"),
            enter_text("Hour", str(other_hour - 12)),
            tap("Delete"),
            enter_text("Add title", f"{title} at {clock(new)}", clear=True),
        ]
        goal = scene.say(
            f"Let '{title}' in your calendar start at {clock(new)} on the same day. It stays as long as it is.",
            f"'{title}' begins at {clock(new)} now, on the day it was planned for, and lasts as long as before."
            " Change it.",
        )
    else:
        named_day = f"{to_day:%A, %B} {to_day.day}, {to_day.year}"
        other_day = to_day + timedelta(days=1)
        expert = [
            app("Messages"),
            tap(host),
            *edit,
            tap(f"{short(day)}, {day.year}"),
            tap(named_day),
            tap("OK"),
            *start,
        ]
        distractors.insert(1, tap(f"{other_day:%A, %B} {other_day.day}, {other_day.year}"))
        weekday = f"{to_day:%A}"
        if level == 2:
            scene.event(second, other_day, new)
            text = f"About the {title.lower()}: could we make it {weekday} at {clock(new)}?"
        else:
            scene.event(second, to_day, new - 2, new, place=places[1])
            scene.event(fourth, other_day, wrong_hour - 1, wrong_hour, place=places[2])
            text = (
                f"About the {title.lower()}: let us meet on {weekday} right after your {second.lower()}, at the same"
                " place."
            )
            put = [enter_text("Add location", places[1], clear=True)]
            expert = [*expert[:-1], *put, expert[-1]]
            distractors = [
                enter_text("Add location", places[2], clear=True), *distractors[:2], tap(stranger),
            ]  # fmt: skip
            having.append(line(places[1]))
        scene.thread(host, text, day=scene.today, unread=1)
        goal = scene.say(
            f"{host} wants to change when you meet for the {title.lower()}. Read how, and move '{title}' in your"
            " calendar accordingly; it lasts as long as before.",
            f"'{title}' moves: {host} wrote to you how. Change the event in your calendar and keep its length.",
        )
    scene.mix()
    return scene.draft(
        goal,
        expert,
        distractors,
        [scene.shows([app("Calendar"), tap(title)], pattern) for pattern in having],
        "Finish with the time at which it ends then.",
        clock(new + length),
        [clock(new + 3 - length), clock(wrong_hour + length)],
        menu_max={1: 14, 2: 15, 3: 16}[level],
    )


@family
def set_alarms(scene: AndroidScene, level: int) -> Draft:
    """Alarms are switched, named and made, as labels, the calendar, a note and a message say."""
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
    """A regular expression for an alarm that is on."""
    return rf'content_desc="{time} alarm" class=\S+ clickable checkable checked'


def _switched(scene: AndroidScene, labels: list[str]) -> Draft:
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
    state = 'content_desc="{} alarm" class=\\S+ clickable checkable{}'
    others = [(hours[order[2]], " checked"), (hours[order[3]], "(?! checked)")]
    wanted = [(hours[on], " checked"), (hours[off], "(?! checked)")]
    return scene.draft(
        f"{goal} Leave the others as they are.",
        [app("Clock"), tap("Alarm"), switches[on], switches[off]],
        [switches[order[2]], switches[order[3]], tap("Stopwatch"), tap("Bedtime"), tap("Delete")],
        [
            scene.shows([app("Clock")], *(state.format(clock(hour, 30), flag) for hour, flag in (alarm, *others)))
            for alarm in wanted
        ],
    )
