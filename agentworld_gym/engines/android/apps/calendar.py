"""Calendar: what is planned, by day and by month, with guests and reminders."""

from __future__ import annotations

import calendar as months
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from pydantic import Field

from agentworld_gym.engines.android import parts
from agentworld_gym.engines.android.app import App, Scene, Screen
from agentworld_gym.engines.android.apps.contacts import matching
from agentworld_gym.engines.gui import Message, Widget, column, grid
from agentworld_gym.task import Strict

if TYPE_CHECKING:
    from agentworld_gym.engines.android.phone import Phone

MAX_EVENTS = 500
TIME = r"^([01]\d|2[0-3]):[0-5]\d$"
REMINDERS = {
    None: "No reminder",
    0: "At time of event",
    10: "10 minutes before",
    30: "30 minutes before",
    60: "1 hour before",
}
DAY_STARTS = "07:00"
"""What a day shows first; earlier hours are above."""
WEEKDAYS = ("M", "T", "W", "T", "F", "S", "S")
FORM = ("date", "start", "end", "reminder")

Event = dict[str, Any]


class StatedEvent(Strict):
    """One event; `start` and `end` are `HH:MM`, `reminder` is minutes before it."""

    title: str = Field(min_length=1)
    date: date
    start: str = Field(pattern=TIME)
    end: str = Field(pattern=TIME)
    place: str = ""
    notes: str = ""
    guests: tuple[str, ...] = ()
    reminder: int | None = None


class Stated(Strict):
    """The calendar as a task states it."""

    events: tuple[StatedEvent, ...] | None = None


class Known(Strict):
    """What may be planned, and where."""

    events: tuple[tuple[str, str], ...]


class CalendarApp(App):
    """Schedule, day and month as tabs; an event, and its form."""

    id, title, package = "calendar", "Calendar", "com.google.android.calendar"
    State, Defaults = Stated, Known
    permissions, granted = ("contacts", "notifications"), ("notifications",)

    def begin(self, stated: Stated, scene: Scene) -> dict[str, Any]:
        """The stated events, or some of the scenario's in the next days."""
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
        """One of the tabs, an event, its form, or the choice of a guest."""
        name = screen["name"]
        if name == "day":
            return _day(phone, screen)
        if name == "month":
            return _month(phone, screen)
        if name == "event":
            event = _event(phone, screen["event"])
            return parts.gone("This event was deleted") if event is None else _shown(phone, event)
        if name == "edit":
            return _form(phone, screen)
        if name == "guests":
            return _guests(phone, screen)
        return _schedule(phone, screen)

    def update(self, phone: Phone, message: Message) -> None:
        """Look around, create, change, invite and delete."""
        what, *args = message
        screen = phone.screen
        event = _event(phone, args[0]) if args else None
        match what.removeprefix("calendar/"):
            case "tab":
                day = args[1] if len(args) > 1 else phone.clock.date().isoformat()
                phone.replace(args[0], **_at(args[0], day))
                if args[0] == "day":
                    early = sum(event["start"] < DAY_STARTS for event in _on(phone, day))
                    phone.screen["scroll"]["list"] = parts.ROW * max(int(DAY_STARTS[:2]), early)
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
                phone.share(f"{event['title']}, {_span(phone, event)}")

    def back(self, phone: Phone, screen: Screen) -> bool:
        """A changed form asks before it is left."""
        if screen["name"] != "edit" or self._values(phone) == screen["before"]:
            return False
        phone.confirm("Discard this event?", "", ("Keep editing", None), ("Discard", ("calendar/discard",)))
        return True

    def tick(self, phone: Phone, seconds: int) -> None:
        """Reminders of events whose moment has come."""
        since = phone.clock - timedelta(seconds=seconds)
        for event in phone.data["calendar"]["events"]:
            if event["reminder"] is not None:
                moment = _start(event) - timedelta(minutes=event["reminder"])
                if since < moment <= phone.clock:
                    phone.notify("calendar", event["title"], _span(phone, event), ("calendar/open", event["id"]))

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
        """The end moves with the start; an end before the start is moved behind it."""
        if which == "start":
            length = max(0, _minutes(screen["end"]) - _minutes(screen["start"]))
            screen["start"], screen["end"] = time, _clock(_minutes(time) + length)
        else:
            screen["end"] = max(time, screen["start"])

    def _save(self, phone: Phone) -> None:
        values = self._values(phone)
        values["title"] = values["title"] or "(No title)"
        events: list[Event] = phone.data["calendar"]["events"]
        event = _event(phone, phone.screen["event"])
        if event is None and len(events) >= MAX_EVENTS:
            phone.toast("Couldn't save the event: the calendar is full")
            return
        if event is None:
            events.append({"id": phone.new_id(), **values})
        else:
            event.update(values)
        phone.pop()
        phone.toast("Event saved")


def _event(phone: Phone, number: Any) -> Event | None:
    events: list[Event] = phone.data["calendar"]["events"]
    return next((event for event in events if event["id"] == number), None)


def _start(event: Event) -> datetime:
    return datetime.fromisoformat(f"{event['date']} {event['start']}")


def _minutes(time: str) -> int:
    return int(time[:2]) * 60 + int(time[3:])


def _clock(minutes: int) -> str:
    minutes = min(minutes, 24 * 60 - 1)
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _at(tab: str, day: str) -> dict[str, str]:
    return {"main": {}, "day": {"day": day}, "month": {"month": day[:7]}}[tab]


def _on(phone: Phone, day: str) -> list[Event]:
    events = [event for event in phone.data["calendar"]["events"] if event["date"] == day]
    return sorted(events, key=lambda event: (event["start"], event["id"]))


def _times(phone: Phone, event: Event) -> str:
    start, end = (datetime.fromisoformat(f"{event['date']} {event[key]}") for key in ("start", "end"))
    return f"{phone.time_text(start)} – {phone.time_text(end)}"


def _span(phone: Phone, event: Event) -> str:
    return f"{phone.date_text(_start(event))}, {_times(phone, event)}"


def _tabbed(phone: Phone, bar: Widget, selected: int, body: Widget, day: str) -> Widget:
    names = (("Schedule", "main"), ("Day", "day"), ("Month", "month"))
    entries = tuple((title, ("calendar/tab", name, day)) for title, name in names)
    hour = min(phone.clock.hour + 1, 23)
    plus = parts.floating("Create new event", ("calendar/new", day, f"{hour:02}:00"))
    return parts.page(bar, body, floating=plus, bottom=parts.tabs(entries, selected))


def _schedule(phone: Phone, screen: Screen) -> Widget:
    today = phone.clock.date().isoformat()
    coming = [event for event in phone.data["calendar"]["events"] if event["date"] >= today]
    coming.sort(key=lambda event: (event["date"], event["start"], event["id"]))
    rows = [(event, number == 0 or coming[number - 1]["date"] != event["date"]) for number, event in enumerate(coming)]

    def line(entry: tuple[Event, bool]) -> Widget:
        event, first = entry
        side = Widget(parts.TEXT, text=phone.date_text(_start(event)), shown=first, width=270, height=parts.LINE)
        return parts.item(
            event["title"],
            ("calendar/open", event["id"]),
            detail=_times(phone, event) + (f", {event['place']}" if event["place"] else ""),
            leading=side,
        )

    body = parts.listing(screen, rows, line, end=230) if rows else parts.empty("Nothing planned")
    return _tabbed(phone, parts.bar("Schedule", back=False), 0, body, today)


def _day(phone: Phone, screen: Screen) -> Widget:
    day: str = screen["day"]
    moment = datetime.fromisoformat(day)
    before, after = ((moment + timedelta(days=step)).date().isoformat() for step in (-1, 1))
    planned = _on(phone, day)
    rows: list[tuple[int, Event | None]] = []
    for hour in range(24):
        events = [event for event in planned if int(event["start"][:2]) == hour]
        rows += [(hour, event) for event in events] or [(hour, None)]

    def line(entry: tuple[int, Event | None]) -> Widget:
        hour, event = entry
        clock = phone.time_text(moment.replace(hour=hour))
        if event is None:
            going = next((e for e in planned if int(e["start"][:2]) < hour and e["end"] > f"{hour:02}:00"), None)
            message: Message = ("calendar/open", going["id"]) if going else ("calendar/new", day, f"{hour:02}:00")
            return parts.item(clock, message, detail=f"{going['title']} goes on" if going else "")
        return parts.item(clock, ("calendar/open", event["id"]), detail=f"{event['title']}, {_times(phone, event)}")

    bar = parts.bar(
        phone.date_text(moment),
        parts.icon("Previous day", ("calendar/tab", "day", before)),
        parts.icon("Next day", ("calendar/tab", "day", after)),
        parts.more(("Today", ("calendar/tab", "day"))),
        back=False,
    )
    return _tabbed(phone, bar, 1, parts.listing(screen, rows, line, end=230), day)


def _month(phone: Phone, screen: Screen) -> Widget:
    year, month = (int(part) for part in screen["month"].split("-"))
    first = date(year, month, 1)
    before = (first - timedelta(days=1)).replace(day=1)
    after = (first + timedelta(days=31)).replace(day=1)
    today = phone.clock.date()
    counts: dict[str, int] = {}
    for event in phone.data["calendar"]["events"]:
        counts[event["date"]] = counts.get(event["date"], 0) + 1
    cells: list[Widget] = [Widget(parts.TEXT, text=name, height=90) for name in WEEKDAYS]
    for number in months.Calendar().itermonthdates(year, month):
        if number.month != month:
            cells.append(parts.gap(230))
            continue
        count = counts.get(number.isoformat(), 0)
        planned = f"{count} event{'s' if count > 1 else ''}" if count else "no events"
        cells.append(
            Widget(
                parts.TEXT,
                text=str(number.day),
                description=f"{number:%A, %B} {number.day}, {planned}",
                on={"click": ("calendar/tab", "day", number.isoformat())},
                flags=("focusable", "selected") if number == today else ("focusable",),
                height=230,
            )
        )
    bar = parts.bar(
        f"{first:%B %Y}",
        parts.icon("Previous month", ("calendar/tab", "month", before.isoformat())),
        parts.icon("Next month", ("calendar/tab", "month", after.isoformat())),
        back=False,
    )
    shown = today if (today.year, today.month) == (year, month) else first
    return _tabbed(phone, bar, 2, parts.scrolling(grid(7, cells)), shown.isoformat())


def _shown(phone: Phone, event: Event) -> Widget:
    number = event["id"]
    lines = [parts.item(event["title"], detail=_span(phone, event))]
    if event["place"]:
        lines.append(parts.item(event["place"], detail="Location"))
    lines += [parts.item(guest, detail="Guest") for guest in event["guests"]]
    minutes = event["reminder"]
    lines.append(parts.item(REMINDERS.get(minutes, f"{minutes} minutes before"), detail="Reminder"))
    if event["notes"]:
        lines.append(parts.paragraph(event["notes"]))
    return parts.page(
        parts.bar(
            "",
            parts.icon("Edit event", ("calendar/edit", number)),
            parts.more(("Delete", ("calendar/ask_delete", number)), ("Share", ("calendar/share", number))),
        ),
        parts.scrolling(*lines),
    )


def _form(phone: Phone, screen: Screen) -> Widget:
    moments = {key: datetime.fromisoformat(f"{screen['date']} {screen[key]}") for key in ("start", "end")}
    clashes = [
        event["title"]
        for event in _on(phone, screen["date"])
        if event["id"] != screen["event"] and event["start"] < screen["end"] and screen["start"] < event["end"]
    ]
    minutes = screen["reminder"]
    day = f"{phone.date_text(moments['start'])}, {moments['start'].year}"
    body: list[Widget] = [column(parts.entry(screen, "title", "Add title"), padding=(parts.MARGIN, 0))]
    if clashes:
        body.append(parts.label("Conflicts with " + ", ".join(clashes), height=96))
    body += [
        parts.item(day, ("calendar/ask_date",), detail="Date"),
        parts.item(phone.time_text(moments["start"]), ("calendar/ask_time", "start"), detail="Start"),
        parts.item(phone.time_text(moments["end"]), ("calendar/ask_time", "end"), detail="End"),
        column(parts.entry(screen, "place", "Add location"), padding=(parts.MARGIN, 0)),
        *(parts.item(guest, ("calendar/uninvite", guest), detail="Guest. Tap to remove") for guest in screen["guests"]),
        parts.item("Add guest", ("calendar/ask_guest",)),
        parts.item(REMINDERS.get(minutes, f"{minutes} minutes before"), ("calendar/ask_reminder",), detail="Reminder"),
        column(parts.entry(screen, "notes", "Add description", multiline=True, height=300), padding=(parts.MARGIN, 0)),
    ]  # fmt: skip
    title = "New event" if screen["event"] is None else "Edit event"
    return parts.page(parts.bar(title, parts.button("Save", ("calendar/save",)), up="Close"), parts.scrolling(*body))


def _guests(phone: Phone, screen: Screen) -> Widget:
    people = matching(phone.data["contacts"]["people"], "")
    rows = parts.listing(
        screen,
        people,
        lambda person: parts.item(person["name"], ("calendar/guest", person["name"]), detail=person["email"]),
    )
    return parts.page(parts.bar("Add guest"), rows if people else parts.empty("No contacts"))


APP = CalendarApp()
