"""The screens of the clock app."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from agentworld_gym.domains.android.engine import widgets
from agentworld_gym.domains.android.engine.phone import Phone, Screen
from agentworld_gym.domains.android.engine.widgets import button, buttons, gap, item, label
from agentworld_gym.kit.gui import Widget, column, grid, row

_TABS = (("alarm", "Alarm"), ("clock", "Clock"), ("timer", "Timer"), ("stopwatch", "Stopwatch"), ("bedtime", "Bedtime"))
_LONG = {"Mon": "Monday", "Tue": "Tuesday", "Wed": "Wednesday", "Thu": "Thursday", "Fri": "Friday", "Sat": "Saturday",
         "Sun": "Sunday"}  # fmt: skip
CARD = 252
Data = dict[str, Any]


def view(phone: Phone, screen: Screen) -> Widget:
    """Return one of the tabs, the list of cities, or the ringing alarm or timer."""
    data = phone.data["clock"]
    if screen["name"] == "ring":
        return _ring(phone, screen, data)
    if screen["name"] == "cities":
        return _cities(phone, screen)
    tab = data["tab"]
    number = [name for name, _ in _TABS].index(tab)
    body, floating = _VIEWS[tab](phone, screen, data)
    menu = widgets.more(("Date & time settings", ("clock/settings",)), ("Sound settings", ("clock/sound_settings",)))
    bottom = widgets.tabs([(title, ("clock/tab", name)) for name, title in _TABS], number)
    return widgets.page(widgets.bar(_TABS[number][1], menu, back=False), body, floating=floating, bottom=bottom)


def _time(phone: Phone, time: str) -> str:
    return phone.time_text(datetime.strptime(time, "%H:%M"))


def _alarms(phone: Phone, screen: Screen, data: Data) -> tuple[Widget, Widget | None]:
    alarms = sorted(data["alarms"], key=lambda alarm: (alarm["time"], alarm["id"]))
    cards = [_card(phone, alarm, screen.get("open") == alarm["id"]) for alarm in phone.ordered("alarms", alarms)]
    add = widgets.floating("Add alarm", ("clock/add",))
    if not cards:
        return widgets.empty("No alarms"), add
    return widgets.scrolling(*cards, gap(260)), add


def _card(phone: Phone, alarm: Data, opened: bool) -> Widget:
    number = alarm["id"]
    days = ", ".join(alarm["days"])
    days = {"Mon, Tue, Wed, Thu, Fri, Sat, Sun": "Every day", "": "Not scheduled"}.get(days, days)
    texts = [label(alarm["label"])] if alarm["label"] else []
    time = label(_time(phone, alarm["time"]), height=90, width=460)
    if opened:
        time.on, time.flags = {"click": ("clock/time", number)}, ("focusable",)
    name = f"{_time(phone, alarm['time'])} alarm"
    top = row(
        gap(widgets.MARGIN),
        column(*texts, time, label(days), grow=1, fill=False),
        widgets.switch(alarm["on"], ("clock/toggle", number), name),
        gap(60),
        height=CARD,
    )
    toggle = {"click": ("clock/open", number)}
    flags = ("focusable", "selected") if opened else ("focusable",)
    top.role, top.shown, top.on, top.flags = widgets.GROUP, True, toggle, flags
    if not opened:
        return top
    chips = [
        Widget(
            widgets.CHECK,
            text=day[0],
            description=full,
            on={"click": ("clock/day", number, day)},
            flags=("focusable", "checkable", *(("checked",) if day in alarm["days"] else ())),
            grow=1,
            height=126,
        )
        for day, full in _LONG.items()
    ]
    return column(
        top,
        item(alarm["label"] or "Add label", ("clock/label", number), description="Label", height=126),
        row(gap(widgets.MARGIN), *chips, gap(widgets.MARGIN), height=150),
        item("Sound", ("clock/sound", number), detail=alarm["sound"], height=150),
        widgets.switch_item("Vibrate", alarm["vibrate"], ("clock/vibrate", number)),
        item("Delete", ("clock/delete", number), height=126),
    )


def _ring(phone: Phone, screen: Screen, data: Data) -> Widget:
    kind, number = screen["kind"], screen["about"]
    rows = data["alarms" if kind == "alarm" else "timers"]
    about = next((row for row in rows if row["id"] == number), {"label": "", "time": "00:00"})
    if kind == "alarm":
        title, again = _time(phone, about["time"]), "Snooze"
    else:
        title, again = "Time's up", "+1 minute"
    choices = buttons(
        button(again, ("clock/ring", kind, number, True)), button("Stop", ("clock/ring", kind, number, False))
    )
    return widgets.panel(title, item(about["label"] or kind.capitalize()), choices)


def _world(phone: Phone, screen: Screen, data: Data) -> tuple[Widget, Widget | None]:
    now = phone.clock
    offsets = {city["name"]: city["offset"] for city in phone.defaults["clock"]["cities"]}
    rows = []
    for name in phone.ordered("cities", data["cities"]):
        hours = offsets.get(name, 0) - phone.utc_hours
        there = now + timedelta(hours=hours)
        day = "Today" if there.date() == now.date() else "Tomorrow" if there > now else "Yesterday"
        ahead = (
            "same time"
            if not hours
            else f"{abs(hours):g} hr{'' if abs(hours) == 1 else 's'} {'ahead' if hours > 0 else 'behind'}"
        )
        time = Widget(widgets.CLOCK, text=phone.time_text(there), width=260, height=90)
        rows.append(item(name, detail=f"{day}, {ahead}", hold=("clock/city_held", name), trailing=(time,), height=180))
    top = column(
        row(gap(widgets.MARGIN), Widget(widgets.CLOCK, text=phone.time_text(now), grow=1, height=200)),
        row(gap(widgets.MARGIN), label(phone.date_text(now), grow=1), height=90),
    )
    return widgets.scrolling(top, *rows, gap(260)), widgets.floating("Add city", ("clock/cities",))


def _cities(phone: Phone, screen: Screen) -> Widget:
    field = widgets.entry(screen, "query", "Search for a city", height=widgets.BAR)
    field.grow = 1
    query = phone.text("query").strip().casefold()
    names = [city["name"] for city in phone.defaults["clock"]["cities"] if query in city["name"].casefold()]
    top = row(widgets.icon("Navigate up", widgets.BACK), field, gap(widgets.MARGIN), height=widgets.BAR)
    if not names:
        return widgets.page(top, widgets.empty("No cities found"))
    return widgets.page(top, widgets.listing(screen, names, lambda name: item(name, ("clock/city", name))))


def clocked(seconds: int) -> str:
    """Return a length of time as timers show it.

    >>> clocked(65), clocked(3725)
    ('1:05', '1:02:05')
    """
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return f"{hours}:{minutes:02}:{seconds % 60:02}" if hours else f"{minutes}:{seconds % 60:02}"


def _timers(phone: Phone, screen: Screen, data: Data) -> tuple[Widget, Widget | None]:
    if data["adding"] or not data["timers"]:
        return _timer_keys(data), None
    cards = []
    for timer in data["timers"]:
        number = timer["id"]
        run = "Pause" if timer["running"] else "Start"
        length = clocked(timer["length"])
        cards.append(
            column(
                item(timer["label"] or f"{length} timer", ("clock/timer", number, "label"), height=126),
                row(
                    gap(widgets.MARGIN),
                    Widget(widgets.CHRONOMETER, text=clocked(timer["left"]), description=length, grow=1, height=126),
                ),
                buttons(
                    button("+1:00", ("clock/timer", number, "more")),
                    button("Reset", ("clock/timer", number, "reset")),
                    button(run, ("clock/timer", number, "toggle"), enabled=timer["left"] > 0),
                    button("Delete", ("clock/timer", number, "delete")),
                ),
                role=widgets.GROUP,
            )
        )
    return widgets.scrolling(*cards, gap(260)), widgets.floating("Add timer", ("clock/adding", True))


def _timer_keys(data: Data) -> Widget:
    typed = data["typed"].zfill(6)
    display = label(f"{typed[:2]}h {typed[2:4]}m {typed[4:]}s", height=200, grow=1)
    keys = [
        Widget(
            widgets.BUTTON,
            text=key,
            description="Delete" if key == "⌫" else "",
            on={"click": ("clock/digit", key)},
            flags=("focusable",),
            height=220,
        )
        for key in ("1", "2", "3", "4", "5", "6", "7", "8", "9", "00", "0", "⌫")
    ]
    ends = [button("Start", ("clock/start_timer",), enabled=bool(data["typed"]))]
    if data["timers"]:
        ends.insert(0, button("Cancel", ("clock/adding", False)))
    top = row(gap(300), display, height=260)
    return column(top, grid(3, keys, padding=(150, 0), gap=24), gap(40), buttons(*ends), grow=1)


def _stopwatch(phone: Phone, screen: Screen, data: Data) -> tuple[Widget, Widget | None]:
    watch = data["watch"]
    display = Widget(widgets.CHRONOMETER, text=f"{clocked(watch['elapsed'])}.00", grow=1, height=200)
    ends = [button("Pause" if watch["running"] else "Start", ("clock/watch", "toggle"))]
    if watch["running"]:
        ends.insert(0, button("Lap", ("clock/watch", "lap")))
    elif watch["elapsed"] or watch["laps"]:
        ends.insert(0, button("Reset", ("clock/watch", "reset")))
    count = len(watch["laps"])
    laps = [
        row(
            gap(widgets.MARGIN),
            label(f"Lap {count - at}", grow=1),
            Widget(widgets.CHRONOMETER, text=clocked(lap), width=300, height=90),
            height=120,
        )
        for at, lap in enumerate(watch["laps"])
    ]
    body = (widgets.scrolling(*laps),) if laps else ()
    return column(row(gap(300), display, height=260), buttons(*ends), *body, grow=1), None


def _bedtime(phone: Phone, screen: Screen, data: Data) -> tuple[Widget, Widget | None]:
    bed = data["bedtime"]
    rows = (
        widgets.switch_item("Bedtime schedule", bed["on"], ("clock/bed", "on")),
        item("Bedtime", ("clock/bed", "start"), detail=_time(phone, bed["start"])),
        item("Wake-up", ("clock/bed", "end"), detail=_time(phone, bed["end"])),
    )
    return column(*rows, grow=1), None


_VIEWS: dict[str, Callable[[Phone, Screen, Data], tuple[Widget, Widget | None]]] = {
    "alarm": _alarms,
    "clock": _world,
    "timer": _timers,
    "stopwatch": _stopwatch,
    "bedtime": _bedtime,
}
