"""The calendar app: its state and its messages."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from pydantic import Field

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.domains.android.engine import widgets
from agentworld_gym.domains.android.engine.app import App, AppScene
from agentworld_gym.domains.android.engine.apps.calendar.view import (
    REMINDERS,
    Event,
    event_of,
    events_on,
    span_of,
    start_of,
    view,
)
from agentworld_gym.domains.android.engine.phone import Screen
from agentworld_gym.kit.gui import Message, Widget

if TYPE_CHECKING:
    from agentworld_gym.domains.android.engine.phone import Phone

MAX_EVENTS = 500
TIME = r"^([01]\d|2[0-3]):[0-5]\d$"
DAY_STARTS = "07:00"
"""The first hour in the view of a day; earlier hours lie above."""
FORM = ("date", "start", "end", "reminder")


class StatedEvent(Strict):
    """One event. `start` and `end` are `HH:MM`, and `reminder` is a number of minutes before it."""

    title: str = Field(min_length=1)
    date: date
    start: str = Field(pattern=TIME)
    end: str = Field(pattern=TIME)
    place: str = ""
    notes: str = ""
    guests: tuple[str, ...] = ()
    reminder: int | None = None


class CalendarSetup(Strict):
    """The calendar as a task states it."""

    events: tuple[StatedEvent, ...] | None = None


class CalendarExamples(Strict):
    """The events and places to draw from."""

    events: tuple[tuple[str, str], ...]


class CalendarApp(App):
    """The calendar app: schedule, day and month as tabs; an event, and its form."""

    id, title, package = "calendar", "Calendar", "com.google.android.calendar"
    State, Defaults = CalendarSetup, CalendarExamples
    permissions, granted = ("contacts", "notifications"), ("notifications",)
    unseen = ("before",)

    def begin(self, stated: CalendarSetup, scene: AppScene) -> dict[str, Any]:
        """Return the stated events, or some of the scenario's in the next days."""
        if stated.events is not None:
            events = [{**event.model_dump(), "date": event.date.isoformat()} for event in stated.events]
            for event in events:
                event["guests"] = list(event["guests"])
        else:
            known = scene.defaults.get("events", ())
            events = []
            for title, place in scene.rng.sample(known, min(7, len(known))):
                day = scene.now.date() + timedelta(days=scene.rng.randrange(9))
                hour = scene.rng.randint(8, 19)
                events.append(
                    {
                        "title": title, "date": day.isoformat(), "start": f"{hour:02}:00", "end": f"{hour + 1:02}:00",
                        "place": place, "notes": "", "guests": [], "reminder": scene.rng.choice([None, 10, 30]),
                    }
                )  # fmt: skip
        return {"events": [{"id": number, **event} for number, event in enumerate(events, 1)]}

    def view(self, phone: Phone, screen: Screen) -> Widget:
        """Return one of the tabs, an event, its form, or the choice of a guest."""
        return view(phone, screen)

    def update(self, phone: Phone, message: Message) -> None:
        """Browse, create, change and delete events, and invite guests."""
        name, *args = message
        screen = phone.screen
        event = event_of(phone, args[0]) if args else None
        match name.removeprefix("calendar/"):
            case "tab":
                day = args[1] if len(args) > 1 else phone.clock.date().isoformat()
                phone.replace(args[0], **_at(args[0], day))
                if args[0] == "day":
                    early = sum(event["start"] < DAY_STARTS for event in events_on(phone, day))
                    phone.screen["scroll"]["list"] = widgets.ROW * max(int(DAY_STARTS[:2]), early)
            case "open" if event:
                phone.push("event", event=event["id"])
            case "new":
                self._edit(phone, None, args[0], args[1])
            case "edit" if event:
                self._edit(phone, event, event["date"], event["start"])
            case "ask_date":
                phone.pick_date(screen["date"], ("calendar/date",))
            case "date":
                screen["date"] = args[0]
            case "ask_time":
                phone.pick_time(screen[args[0]], ("calendar/time", args[0]))
            case "time":
                self._set_time(screen, args[0], args[1])
            case "ask_reminder":
                chosen = list(REMINDERS).index(screen["reminder"]) if screen["reminder"] in REMINDERS else None
                phone.choose("Reminder", list(REMINDERS.values()), chosen, ("calendar/reminder",))
            case "reminder":
                screen["reminder"] = list(REMINDERS)[args[0]]
            case "ask_guest":
                phone.ask_permission("contacts", ("calendar/pick_guest",))
            case "pick_guest":
                phone.push("guests")
            case "guest":
                phone.pop()
                if args[0] not in phone.screen["guests"]:
                    phone.screen["guests"].append(args[0])
            case "uninvite":
                if args[0] in screen["guests"]:
                    screen["guests"].remove(args[0])
            case "save":
                self._save(phone)
            case "discard":
                phone.pop()
            case "ask_delete" if event:
                phone.confirm("Delete this event?", "", ("Cancel", None), ("Delete", ("calendar/delete", event["id"])))
            case "delete" if event:
                phone.data["calendar"]["events"].remove(event)
                phone.pop()
                phone.toast("Event deleted")
            case "share" if event:
                phone.share(f"{event['title']}, {span_of(phone, event)}")

    def back(self, phone: Phone, screen: Screen) -> bool:
        """Ask before a changed form is left."""
        if screen["name"] != "edit" or self._values(phone) == screen["before"]:
            return False
        phone.confirm("Discard this event?", "", ("Keep editing", None), ("Discard", ("calendar/discard",)))
        return True

    def tick(self, phone: Phone, seconds: int) -> None:
        """Send the reminders of events whose time has come."""
        since = phone.clock - timedelta(seconds=seconds)
        for event in phone.data["calendar"]["events"]:
            if event["reminder"] is not None:
                moment = start_of(event) - timedelta(minutes=event["reminder"])
                if since < moment <= phone.clock:
                    phone.notify("calendar", event["title"], span_of(phone, event), ("calendar/open", event["id"]))

    def _edit(self, phone: Phone, event: Event | None, day: str, start: str) -> None:
        end = event["end"] if event else f"{min(int(start[:2]) + 1, 23):02}:{start[3:] if start < '23' else '59'}"
        texts = {key: event[key] if event else "" for key in ("title", "place", "notes")}
        phone.push(
            "edit",
            fields=texts,
            event=event["id"] if event else None,
            date=day,
            start=start,
            end=end,
            reminder=event["reminder"] if event else 30,
            guests=list(event["guests"]) if event else [],
        )
        phone.screen["before"] = self._values(phone)

    def _values(self, phone: Phone) -> dict[str, Any]:
        texts = {key: phone.text(key).strip() for key in ("title", "place", "notes")}
        return {**texts, **{key: phone.screen[key] for key in FORM}, "guests": list(phone.screen["guests"])}

    def _set_time(self, screen: Screen, which: str, time: str) -> None:
        """Set a time of the form: the end moves with the start, and an end before the start is moved behind it."""
        if which == "start":
            length = max(0, _minutes(screen["end"]) - _minutes(screen["start"]))
            screen["start"], screen["end"] = time, _clock(_minutes(time) + length)
        else:
            screen["end"] = max(time, screen["start"])

    def _save(self, phone: Phone) -> None:
        values = self._values(phone)
        values["title"] = values["title"] or "(No title)"
        events: list[Event] = phone.data["calendar"]["events"]
        event = event_of(phone, phone.screen["event"])
        if event is None and len(events) >= MAX_EVENTS:
            phone.toast("Couldn't save the event: the calendar is full")
            return
        if event is None:
            events.append({"id": phone.new_id(), **values})
        else:
            event.update(values)
        phone.pop()
        phone.toast("Event saved")


def _minutes(time: str) -> int:
    return int(time[:2]) * 60 + int(time[3:])


def _clock(minutes: int) -> str:
    minutes = min(minutes, 24 * 60 - 1)
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _at(tab: str, day: str) -> dict[str, str]:
    return {"main": {}, "day": {"day": day}, "month": {"month": day[:7]}}[tab]


APP = CalendarApp()
