"""Tasks in the calendar: the agent finds a free hour for an event, or moves an event."""

from __future__ import annotations

from datetime import date, timedelta

from agentworld_gym.core.tasks.family import TaskDraft
from agentworld_gym.domains.android.tasks.actions import app, enter_text, tap
from agentworld_gym.domains.android.tasks.scene import AndroidScene, background, family, line, words

PLACES = ("Mill Road 4", "Ferry Road 18", "Tarn pool", "Elm Grove 7", "Room Cedar", "North Quay 2", "Castle Hill 31")


def clock(hour: int, minute: int = 0) -> str:
    """Return a time as the phone writes it.

    >>> clock(14), clock(0, 5)
    ('2:00 PM', '12:05 AM')
    """
    return f"{hour % 12 or 12}:{minute:02} {'AM' if hour < 12 else 'PM'}"


def short(day: date) -> str:
    """Return a day as the phone writes it."""
    return f"{day:%a, %b} {day.day}"


@family
def book_slot(scene: AndroidScene, level: int) -> TaskDraft:
    """The agent enters an appointment at the only proposed hour that is free."""
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
        # All proposed hours but one are taken; at level 3 the free hour may be a day later.
        place = scene.rng.randrange(2) if level == 2 else scene.rng.randrange(3)
        offers = [(days[0], hours[0]), (days[0], hours[1])] + ([(days[1], hours[2])] if level == 3 else [])
        for number, (taken_day, taken) in enumerate(offers):
            if number != place:
                scene.event(planned[number], taken_day, taken)
        day, hour = offers[place]
        later = [days[1]] if day == days[0] else [days[0]]
        scene.event(planned[3], later[0], hour)
        times = [f"{clock(h)}" if d == days[0] else f"the day after at {clock(h)}" for d, h in offers]
        proposal = f"For the {title.lower()}: tomorrow at {times[0]} or {times[1]}"
        scene.thread(host, f"{proposal}, or {times[2]}?" if level == 3 else f"{proposal}?", day=scene.today, unread=1)
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
def move_event(scene: AndroidScene, level: int) -> TaskDraft:
    """The agent moves an event to a time that the task gives, that a message names, or at which another event ends."""
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
