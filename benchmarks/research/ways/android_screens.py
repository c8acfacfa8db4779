"""What ways of the phone read off a screen, and what several of them do."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

from agentworld_gym.core.screens import ScreenNode, read_screen
from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.domains.android.tasks.actions import app, enter_text, tap
from ways.playing import parts

SHADE = '{"action_type": "swipe", "direction": "down"}'
SAVE = tap("Save", "Button")
OK = tap("OK")
SEND = tap("Send SMS")
HALVES = {"AM": 0, "PM": 12}


def nodes(screen: str) -> list[ScreenNode]:
    """Return the elements of a screen."""
    return read_screen("android", screen)


def texts(screen: str) -> list[str]:
    """Return what the elements of a screen say, in their order; line breaks are real."""
    return [said.replace("\\n", "\n") for node in nodes(screen) if (said := node.text or node.description)]


def after(screen: str, text: str) -> str:
    """Return what a screen says next after a text.

    Raises:
        ValueError: It does not say the text.
    """
    said = texts(screen)
    return said[said.index(text) + 1]


def today(screen: str) -> date:
    """Return the day that the home screen tells, in 2026, the year of the calendar."""
    (told,) = parts(r'text="\w+, (\w+ \d+)"', screen)
    return datetime.strptime(f"{told} 2026", "%b %d %Y").date()


def tomorrow(screen: str) -> date:
    """Return the day after the one that the home screen tells."""
    return today(screen) + timedelta(days=1)


def short(day: date) -> str:
    """Return a day as the calendar writes it."""
    return f"{day:%a, %b} {day.day}"


def long(day: date) -> str:
    """Return a day as the date picker names it."""
    return f"{day:%A, %B} {day.day}, {day.year}"


def minutes(told: str) -> int:
    """Return a time of day in minutes.

    >>> minutes("12:05 AM"), minutes("2:00 PM")
    (5, 840)
    """
    hour, minute, half = parts(r"(\d+):(\d\d) ?([AP]M)", told)
    return (int(hour) % 12 + HALVES[half]) * 60 + int(minute)


def clock(count: int) -> str:
    """Return minutes of a day as the phone writes a time."""
    hour, minute = divmod(count, 60)
    return f"{hour % 12 or 12}:{minute:02} {'AM' if hour < 12 else 'PM'}"


def picked(told: str) -> ActionStream:
    """Set the time picker that is open, with every field."""
    hour, minute, half = parts(r"(\d+):(\d\d) ([AP]M)", told)
    yield tap(half, "RadioButton")
    yield enter_text("Hour", hour, clear=True)
    yield enter_text("Minute", minute, clear=True)
    return (yield OK)


def said_by(screen: str, person: str) -> list[str]:
    """Return the messages of a conversation that somebody else wrote."""
    written = (node for node in nodes(screen) if node.description.startswith(f"{person}, "))
    return [node.text.replace("\\n", "\n") for node in written if node.text]


def conversation(person: str) -> ActionStream:
    """Open the conversation with somebody, or begin one; returns what it shows."""
    screen = yield app("Messages")
    if person in texts(screen):
        return (yield tap(person))
    return (yield from new_chat(person))


def new_chat(person: str) -> ActionStream:
    """Begin a chat with somebody, given by name or number, whose name is typed where the list is long; returns what it
    shows."""
    screen = yield tap("Start chat")
    if person not in texts(screen):
        screen = yield enter_text("Type a name or phone number", person)
    to = f"Send to {person}"
    return (yield tap(to if to in texts(screen) else person, "TextView"))


def schedule(screen: str) -> list[tuple[str, str, str]]:
    """Return the events of the schedule: the day, the title and the time."""
    events, day, title = [], "", ""
    for text in texts(screen):
        if re.fullmatch(r"\w{3}, \w{3} \d+", text):
            day = text
        elif re.fullmatch(r"\d+:\d\d [AP]M – \d+:\d\d [AP]M.*", text):
            events.append((day, title, text))
        title = text
    return events
