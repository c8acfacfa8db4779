"""Ways of the tasks in the calendar and the clock of the phone."""

from __future__ import annotations

import re
from datetime import date, timedelta

from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.domains.android.tasks.actions import BACK, app, enter_text, tap
from ways.android_screens import (
    OK,
    SAVE,
    SEND,
    clock,
    conversation,
    long,
    minutes,
    picked,
    said_by,
    schedule,
    short,
    texts,
    today,
    tomorrow,
)
from ways.playing import Ways, first, given, only_if, parts

TIME = r"\d+:\d\d [AP]M"


# book_slot


def _booking(instruction: str, screen: str) -> ActionStream:
    """Return title, day, time and who proposed it, who is empty where the instruction tells the time."""
    found = re.search(rf"Put '(.+?)' into your calendar, tomorrow from ({TIME}) on", instruction)
    if found is not None:
        return found[1], tomorrow(screen), found[2], ""
    found = re.search(rf"appointment tomorrow at ({TIME}), for an hour\. Plan it as '(.+?)'", instruction)
    if found is not None:
        return found[2], tomorrow(screen), found[1], ""
    host, title = parts(r"^(.+?) proposes .+ as '(.+?)'|^Read when (.+?) could .+ called '(.+?)'", instruction)
    told = "\n".join(said_by((yield from conversation(host)), host))
    day = tomorrow(screen)
    offers = [(day + timedelta(days=1) if found[1] else day, found[2])
              for found in re.finditer(rf"(the day after at )?({TIME})", told)]  # fmt: skip
    planned = schedule((yield app("Calendar")))
    busy = {(at, minutes(times)) for at, _, times in planned}
    free = first((at, time) for at, time in offers if (short(at), minutes(time)) not in busy)
    return title, *free, host


def _answered(instruction: str, host: str, time: str) -> ActionStream:
    """Send the answer where that is wanted; returns how the episode is finished."""
    if "is fine'" in instruction:
        yield from conversation(host)
        yield enter_text("Text message", f"{time} is fine")
        yield SEND
    return f"finish: {time}" if host else "finish"


def _guest(instruction: str, host: str) -> ActionStream:
    if "as a guest" in instruction:
        if "Allow" in texts((yield tap("Add guest"))):
            yield tap("Allow")
        yield tap(host)


def book_from_the_button(instruction: str, screen: str) -> ActionStream:
    """Make a new event and set its day and its time by the pickers."""
    title, day, time, host = yield from _booking(instruction, screen)
    yield app("Calendar")
    yield tap("Create new event")
    yield tap(f"{short(today(screen))}, {day.year}")
    yield tap(long(day))
    yield OK
    yield tap("Start")
    yield from picked(time)
    yield enter_text("Add title", title)
    yield from _guest(instruction, host)
    yield SAVE
    yield (yield from _answered(instruction, host, time))


def book_from_the_month(instruction: str, screen: str) -> ActionStream:
    """Come to the day by the month, and answer before the event is made."""
    title, day, time, host = yield from _booking(instruction, screen)
    end = yield from _answered(instruction, host, time)
    yield app("Calendar")
    yield tap("Month")
    yield tap(f"{day:%A, %B} {day.day}", part=True)
    yield tap("Day")
    yield tap(time)
    yield from _guest(instruction, host)
    yield enter_text("Add title", title)
    yield SAVE
    yield end


def book_and_correct(instruction: str, screen: str) -> ActionStream:
    """Make the event with another title, and edit it."""
    title, day, time, host = yield from _booking(instruction, screen)
    yield app("Calendar")
    yield tap("Day")
    for _ in range((day - today(screen)).days):
        yield tap("Next day")
    yield tap(time)
    yield enter_text("Add title", "To be named")
    yield SAVE
    yield tap("To be named", part=True)
    yield tap("Edit event")
    yield enter_text("Add title", title, clear=True)
    yield from _guest(instruction, host)
    yield SAVE
    yield (yield from _answered(instruction, host, time))


# move_event


def _moving(instruction: str, screen: str) -> ActionStream:
    """Return the title of the event, the day (None where it stays), the time, and the place (empty where it stays)."""
    found = re.search(rf"Let '(.+?)' in your calendar start at ({TIME})|^'(.+?)' begins at ({TIME}) now", instruction)
    if found is not None:
        return found[1] or found[3], None, found[2] or found[4], ""
    host = parts(r"^(.+?) wants to change|moves: (.+?) wrote", instruction)[0]
    title = parts(r"move '(.+?)' in|^'(.+?)' moves", instruction)[0]
    told = "\n".join(said_by((yield from conversation(host)), host))
    weekday = parts(r"(?:it|on) (\w+day)\b", told)[0]
    day = first(at for days in range(1, 8) if f"{(at := today(screen) + timedelta(days=days)):%A}" == weekday)
    if (given := re.search(TIME, told)) is not None:
        return title, day, given[0], ""
    other = parts(r"right after your (.+?), at the same", told)[0]
    planned = schedule((yield app("Calendar")))
    name, times = first((name, times) for at, name, times in planned if at == short(day) and name.lower() == other)
    page = texts((yield tap(name)))
    place = page[page.index("Location") - 1]
    yield BACK
    return title, day, parts(rf"– ({TIME})", times)[0], place


def _ended(instruction: str, screen: str) -> str:
    """Return how the episode is finished, given the page of the event."""
    if "Finish with" not in instruction:
        return "finish"
    return f"finish: {parts(rf'{TIME} – ({TIME})', screen)[0]}"


def _when(screen: str) -> str:
    """Return the date in the form of an event."""
    return first(text for text in texts(screen) if re.fullmatch(r"\w{3}, \w{3} \d+, \d{4}", text))


def _put_on(day: date | None, form: str) -> ActionStream:
    """Choose the day of the event whose form is shown, where the day changes."""
    if day is not None:
        yield tap(_when(form))
        yield tap(long(day))
        yield OK


def move_time_before_day(instruction: str, screen: str) -> ActionStream:
    """Set the place first, then the time with all its fields, then the day."""
    title, day, time, place = yield from _moving(instruction, screen)
    yield app("Calendar")
    yield tap(title)
    form = yield tap("Edit event")
    if place:
        yield enter_text("Add location", place, clear=True)
        yield BACK
    yield tap("Start")
    yield from picked(time)
    yield from _put_on(day, form)
    shown = yield SAVE
    if (TIME and not re.search(rf"{TIME} – {TIME}", shown)) or "Edit event" not in texts(shown):
        yield app("Calendar")
        shown = yield tap(title)
    yield _ended(instruction, shown)


def move_in_two_steps(instruction: str, screen: str) -> ActionStream:
    """Save the day first, open the event once more, and move its time."""
    title, day, time, place = yield from _moving(instruction, screen)
    yield app("Calendar")
    yield tap(title)
    if day is not None:
        form = yield tap("Edit event")
        yield from _put_on(day, form)
        yield SAVE
        yield app("Calendar")
        yield tap(title)
    yield tap("Edit event")
    yield tap("Start")
    yield from picked(time)
    if place:
        yield enter_text("Add location", place, clear=True)
    yield SAVE
    yield app("Calendar")
    shown = yield tap(title)
    yield _ended(instruction, shown)


def move_and_set_the_end(instruction: str, screen: str) -> ActionStream:
    """Set start and end, each by the picker."""
    title, day, time, place = yield from _moving(instruction, screen)
    yield app("Calendar")
    page = yield tap(title)
    start, end = parts(rf"({TIME}) – ({TIME})", page)
    until = clock(minutes(time) + minutes(end) - minutes(start))
    form = yield tap("Edit event")
    yield from _put_on(day, form)
    yield tap("Start")
    yield from picked(time)
    yield tap("End")
    yield from picked(until)
    if place:
        yield enter_text("Add location", place, clear=True)
    yield SAVE
    yield f"finish: {until}" if "Finish with" in instruction else "finish"


# set_alarms


def _switches(instruction: str) -> tuple[str, str] | None:
    """Return the label of the alarm that goes on and of the one that goes off."""
    found = re.search(r"Turn the alarm '(.+?)' on and the alarm '(.+?)' off", instruction)
    if found is not None:
        return found[1], found[2]
    found = re.search(r"alarm '(.+?)' shall not ring any more, but '(.+?)' shall", instruction)
    return None if found is None else (found[2], found[1])


def _flip(label: str) -> str:
    return tap("", "Switch", after=f"'{label}'")


@given(_switches)
def switch_off_first(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Switch off first."""
    yield app("Clock")
    yield tap("Alarm")
    yield _flip(wish[1])
    yield _flip(wish[0])
    yield "finish"


@given(_switches)
def switch_after_a_mistake(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Switch one of them twice too often."""
    yield app("Clock")
    yield tap("Alarm")
    for label in (wish[0], wish[1], wish[1], wish[1]):
        yield _flip(label)
    yield "finish"


@given(_switches)
def switch_and_look_around(wish: tuple[str, str], instruction: str, screen: str) -> ActionStream:
    """Look at the other tabs by the way, and go home in the end."""
    yield app("Clock")
    yield tap("Timer")
    yield tap("Alarm")
    yield _flip(wish[0])
    yield tap("Stopwatch")
    yield tap("Alarm")
    yield _flip(wish[1])
    yield '{"action_type": "navigate_home"}'
    yield '{"action_type": "status", "goal_status": "complete"}'


def _first(screen: str) -> ActionStream:
    """Return the title and the time of the first event of tomorrow."""
    planned = schedule((yield app("Calendar")))
    day = short(tomorrow(screen))
    return min(((minutes(times), name) for at, name, times in planned if at == day))


def _labelled(title: str) -> ActionStream:
    """Label the alarm that is open."""
    yield tap("Add label")
    yield enter_text("Label", title)
    yield OK


def _is_ready(instruction: str) -> bool:
    return "an hour before" in instruction


@only_if(_is_ready)
def label_before_ringing(instruction: str, screen: str) -> ActionStream:
    """Label the alarm first, and turn it on then."""
    start, title = yield from _first(screen)
    ring = clock(start - 60)
    yield app("Clock")
    yield tap("Alarm")
    yield tap(ring)
    yield from _labelled(title)
    yield app("Clock")
    yield tap(f"{ring} alarm")
    yield f"finish: {ring}"


@only_if(_is_ready)
def label_twice(instruction: str, screen: str) -> ActionStream:
    """Look at the day in the calendar, begin a label and cancel it; the time is told with 24 hours."""
    start, title = yield from _first(screen)
    ring = clock(start - 60)
    yield app("Clock")
    yield tap(f"{ring} alarm")
    yield tap(ring)
    yield tap("Add label")
    yield enter_text("Label", title.lower())
    yield tap("Cancel")
    yield from _labelled(title)
    hour, minute = divmod(start - 60, 60)
    yield f"finish: {hour:02}:{minute:02}"


@only_if(_is_ready)
def ring_then_label(instruction: str, screen: str) -> ActionStream:
    """Turn the alarm on in the list, and finish as phones do."""
    start, title = yield from _first(screen)
    ring = clock(start - 60)
    yield app("Clock")
    yield tap("Alarm")
    yield tap(f"{ring} alarm")
    yield tap(ring)
    yield from _labelled(title)
    yield f'{{"action_type": "answer", "text": "at {ring}"}}'


def _is_morning(instruction: str) -> bool:
    return "'Mornings'" in instruction


def _rising(instruction: str, screen: str) -> ActionStream:
    """Return when to get up, in minutes, and the title of the event."""
    yield app("Notes")
    note = "\n".join(texts((yield tap("Mornings"))))
    ready, road = (int(parts(rf"{what} (\d+) minutes", note)[0]) for what in ("ready in", "road to town"))
    yield BACK
    host = parts(r"what (.+?) wrote about it|first event\. (.+?) wrote", instruction)[0]
    yield from conversation(host)
    start, title = yield from _first(screen)
    return start - 30 - ready - road, title


@only_if(_is_morning)
def alarm_with_all_fields(instruction: str, screen: str) -> ActionStream:
    """Read the note first, and set every field of the time."""
    at, title = yield from _rising(instruction, screen)
    yield app("Clock")
    yield tap("Alarm")
    yield tap("Add alarm")
    yield from picked(clock(at))
    yield from _labelled(title)
    yield f"finish: {clock(at)}"


@only_if(_is_morning)
def alarm_changed(instruction: str, screen: str) -> ActionStream:
    """Add the alarm at another time, and change its time then."""
    at, title = yield from _rising(instruction, screen)
    yield app("Clock")
    yield tap("Alarm")
    yield tap("Add alarm")
    yield from picked(clock(at + 1))
    yield from _labelled(title)
    yield tap(clock(at + 1))
    yield from picked(clock(at))
    yield f"finish: {at // 60:02}:{at % 60:02}"


@only_if(_is_morning)
def alarm_made_again(instruction: str, screen: str) -> ActionStream:
    """Add a wrong alarm, delete it, and add the right one."""
    at, title = yield from _rising(instruction, screen)
    yield app("Clock")
    yield tap("Alarm")
    yield tap("Add alarm")
    yield from picked(clock(at + 60))
    shown = yield tap("Delete")
    if "Delete" in [text for text in texts(shown) if text == "Delete"] and "Cancel" in texts(shown):
        yield tap("Delete", "Button")
    yield tap("Add alarm")
    yield from picked(clock(at))
    yield from _labelled(title)
    yield f"finish: {clock(at)}"


WAYS: Ways = {
    "book_slot": [book_from_the_button, book_from_the_month, book_and_correct],
    "move_event": [move_time_before_day, move_in_two_steps, move_and_set_the_end],
    "set_alarms": [
        switch_off_first,
        switch_after_a_mistake,
        switch_and_look_around,
        label_before_ringing,
        label_twice,
        ring_then_label,
        alarm_with_all_fields,
        alarm_changed,
        alarm_made_again,
    ],
}
