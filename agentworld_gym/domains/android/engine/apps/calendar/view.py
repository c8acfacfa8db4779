"""The screens of the calendar app."""

from __future__ import annotations

import calendar as months
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from agentworld_gym.domains.android.engine import widgets
from agentworld_gym.domains.android.engine.apps.contacts import matching
from agentworld_gym.domains.android.engine.phone import Screen
from agentworld_gym.kit.gui import Message, Widget, column, grid

if TYPE_CHECKING:
    from agentworld_gym.domains.android.engine.phone import Phone

REMINDERS = {
    None: "No reminder",
    0: "At time of event",
    10: "10 minutes before",
    30: "30 minutes before",
    60: "1 hour before",
}
WEEKDAYS = ("M", "T", "W", "T", "F", "S", "S")

Event = dict[str, Any]


def view(phone: Phone, screen: Screen) -> Widget:
    """Return one of the tabs, an event, its form, or the choice of a guest."""
    name = screen["name"]
    if name == "day":
        return _day(phone, screen)
    if name == "month":
        return _month(phone, screen)
    if name == "event":
        event = event_of(phone, screen["event"])
        return widgets.deleted_screen("This event was deleted") if event is None else _event_widget(phone, event)
    if name == "edit":
        return _form(phone, screen)
    if name == "guests":
        return _guests(phone, screen)
    return _schedule(phone, screen)


def event_of(phone: Phone, number: Any) -> Event | None:
    """Return the event with an id; None if it was deleted."""
    events: list[Event] = phone.data["calendar"]["events"]
    return next((event for event in events if event["id"] == number), None)


def start_of(event: Event) -> datetime:
    """Return the start of an event."""
    return datetime.fromisoformat(f"{event['date']} {event['start']}")


def events_on(phone: Phone, day: str) -> list[Event]:
    """Return the events of a day in their order."""
    events = [event for event in phone.data["calendar"]["events"] if event["date"] == day]
    return sorted(events, key=lambda event: (event["start"], event["id"]))


def _times(phone: Phone, event: Event) -> str:
    start, end = (datetime.fromisoformat(f"{event['date']} {event[key]}") for key in ("start", "end"))
    return f"{phone.time_text(start)} – {phone.time_text(end)}"


def span_of(phone: Phone, event: Event) -> str:
    """Return the day and the times of an event as the phone writes them."""
    return f"{phone.date_text(start_of(event))}, {_times(phone, event)}"


def _tabbed(phone: Phone, bar: Widget, selected: int, body: Widget, day: str) -> Widget:
    names = (("Schedule", "main"), ("Day", "day"), ("Month", "month"))
    entries = tuple((title, ("calendar/tab", name, day)) for title, name in names)
    hour = min(phone.clock.hour + 1, 23)
    plus = widgets.floating("Create new event", ("calendar/new", day, f"{hour:02}:00"))
    return widgets.page(bar, body, floating=plus, bottom=widgets.tabs(entries, selected))


def _schedule(phone: Phone, screen: Screen) -> Widget:
    today = phone.clock.date().isoformat()
    coming = [event for event in phone.data["calendar"]["events"] if event["date"] >= today]
    coming.sort(key=lambda event: (event["date"], event["start"], event["id"]))
    rows = [(event, number == 0 or coming[number - 1]["date"] != event["date"]) for number, event in enumerate(coming)]

    def line(entry: tuple[Event, bool]) -> Widget:
        event, first = entry
        side = Widget(widgets.TEXT, text=phone.date_text(start_of(event)), shown=first, width=270, height=widgets.LINE)
        return widgets.item(
            event["title"],
            ("calendar/open", event["id"]),
            detail=_times(phone, event) + (f", {event['place']}" if event["place"] else ""),
            leading=side,
        )

    body = widgets.listing(screen, rows, line, end=230) if rows else widgets.empty("Nothing planned")
    return _tabbed(phone, widgets.bar("Schedule", back=False), 0, body, today)


def _day(phone: Phone, screen: Screen) -> Widget:
    day: str = screen["day"]
    moment = datetime.fromisoformat(day)
    before, after = ((moment + timedelta(days=step)).date().isoformat() for step in (-1, 1))
    planned = events_on(phone, day)
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
            return widgets.item(clock, message, detail=f"{going['title']} goes on" if going else "")
        return widgets.item(clock, ("calendar/open", event["id"]), detail=f"{event['title']}, {_times(phone, event)}")

    bar = widgets.bar(
        phone.date_text(moment),
        widgets.icon("Previous day", ("calendar/tab", "day", before)),
        widgets.icon("Next day", ("calendar/tab", "day", after)),
        widgets.more(("Today", ("calendar/tab", "day"))),
        back=False,
    )
    return _tabbed(phone, bar, 1, widgets.listing(screen, rows, line, end=230), day)


def _month(phone: Phone, screen: Screen) -> Widget:
    year, month = (int(part) for part in screen["month"].split("-"))
    first = date(year, month, 1)
    before = (first - timedelta(days=1)).replace(day=1)
    after = (first + timedelta(days=31)).replace(day=1)
    today = phone.clock.date()
    counts: dict[str, int] = {}
    for event in phone.data["calendar"]["events"]:
        counts[event["date"]] = counts.get(event["date"], 0) + 1
    cells: list[Widget] = [Widget(widgets.TEXT, text=name, height=90) for name in WEEKDAYS]
    for number in months.Calendar().itermonthdates(year, month):
        if number.month != month:
            cells.append(widgets.gap(230))
            continue
        count = counts.get(number.isoformat(), 0)
        planned = f"{count} event{'s' if count > 1 else ''}" if count else "no events"
        cells.append(
            Widget(
                widgets.TEXT,
                text=str(number.day),
                description=f"{number:%A, %B} {number.day}, {planned}",
                on={"click": ("calendar/tab", "day", number.isoformat())},
                flags=("focusable", "selected") if number == today else ("focusable",),
                height=230,
            )
        )
    bar = widgets.bar(
        f"{first:%B %Y}",
        widgets.icon("Previous month", ("calendar/tab", "month", before.isoformat())),
        widgets.icon("Next month", ("calendar/tab", "month", after.isoformat())),
        back=False,
    )
    day = today if (today.year, today.month) == (year, month) else first
    return _tabbed(phone, bar, 2, widgets.scrolling(grid(7, cells)), day.isoformat())


def _event_widget(phone: Phone, event: Event) -> Widget:
    number = event["id"]
    lines = [widgets.item(event["title"], detail=span_of(phone, event))]
    if event["place"]:
        lines.append(widgets.item(event["place"], detail="Location"))
    lines += [widgets.item(guest, detail="Guest") for guest in event["guests"]]
    minutes = event["reminder"]
    lines.append(widgets.item(REMINDERS.get(minutes, f"{minutes} minutes before"), detail="Reminder"))
    if event["notes"]:
        lines.append(widgets.paragraph(event["notes"]))
    return widgets.page(
        widgets.bar(
            "",
            widgets.icon("Edit event", ("calendar/edit", number)),
            widgets.more(("Delete", ("calendar/ask_delete", number)), ("Share", ("calendar/share", number))),
        ),
        widgets.scrolling(*lines),
    )


def _form(phone: Phone, screen: Screen) -> Widget:
    moments = {key: datetime.fromisoformat(f"{screen['date']} {screen[key]}") for key in ("start", "end")}
    clashes = [
        event["title"]
        for event in events_on(phone, screen["date"])
        if event["id"] != screen["event"] and event["start"] < screen["end"] and screen["start"] < event["end"]
    ]
    minutes = screen["reminder"]
    day = f"{phone.date_text(moments['start'])}, {moments['start'].year}"
    body: list[Widget] = [column(widgets.entry(screen, "title", "Add title"), padding=(widgets.MARGIN, 0))]
    if clashes:
        body.append(widgets.label("Conflicts with " + ", ".join(clashes), height=96))
    body += [
        widgets.item(day, ("calendar/ask_date",), detail="Date"),
        widgets.item(phone.time_text(moments["start"]), ("calendar/ask_time", "start"), detail="Start"),
        widgets.item(phone.time_text(moments["end"]), ("calendar/ask_time", "end"), detail="End"),
        column(widgets.entry(screen, "place", "Add location"), padding=(widgets.MARGIN, 0)),
        *(
            widgets.item(guest, ("calendar/uninvite", guest), detail="Guest. Tap to remove")
            for guest in screen["guests"]
        ),
        widgets.item("Add guest", ("calendar/ask_guest",)),
        widgets.item(
            REMINDERS.get(minutes, f"{minutes} minutes before"), ("calendar/ask_reminder",), detail="Reminder"
        ),
        column(
            widgets.entry(screen, "notes", "Add description", multiline=True, height=300),
            padding=(widgets.MARGIN, 0),
        ),
    ]  # fmt: skip
    title = "New event" if screen["event"] is None else "Edit event"
    return widgets.page(
        widgets.bar(title, widgets.button("Save", ("calendar/save",)), up="Close"), widgets.scrolling(*body)
    )


def _guests(phone: Phone, screen: Screen) -> Widget:
    people = matching(phone.data["contacts"]["people"], "")
    rows = widgets.listing(
        screen,
        people,
        lambda person: widgets.item(person["name"], ("calendar/guest", person["name"]), detail=person["email"]),
    )
    return widgets.page(widgets.bar("Add guest"), rows if people else widgets.empty("No contacts"))
