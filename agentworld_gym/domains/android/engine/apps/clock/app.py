"""The clock app: alarms that ring, a world clock, timers, a stopwatch, and bedtime."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from agentworld_gym.domains.android.engine.app import App, AppScene
from agentworld_gym.domains.android.engine.apps.clock import view
from agentworld_gym.domains.android.engine.apps.clock.state import (
    DAYS,
    MAX_ALARMS,
    MAX_TIMERS,
    AlarmState,
    ClockFile,
    ClockState,
    alarm_row,
    drawn_alarms,
    next_ring,
    to_24,
    until,
)
from agentworld_gym.domains.android.engine.phone import Phone, Screen
from agentworld_gym.kit.gui import Message, Widget

SNOOZE_MINUTES = 10
MAX_LAPS = 50


class ClockApp(App):
    """The clock app, which opens on the tab that was used last."""

    id = "clock"
    title = "Clock"
    package = "com.google.android.deskclock"
    State = ClockState
    Defaults = ClockFile
    permissions = granted = ("notifications",)

    def begin(self, stated: Any, scene: AppScene) -> dict[str, Any]:
        """Return alarms, cities and timers."""
        files = scene.defaults
        alarms = [alarm.model_dump() for alarm in stated.alarms] if stated.alarms is not None else drawn_alarms(scene)
        names = stated.cities
        if names is None:
            names = scene.rng.sample([city["name"] for city in files["cities"]], 2)
        return {
            "tab": stated.tab,
            "alarms": [alarm_row(number, row) for number, row in enumerate(alarms, 1)],
            "cities": list(names),
            "timers": [
                {"id": number, "label": row.label, "length": 60 * row.minutes, "left": 60 * row.minutes,
                 "running": row.running}
                for number, row in enumerate(stated.timers, 1)
            ],
            "typed": "",
            "adding": False,
            "watch": {"elapsed": 0, "running": False, "laps": []},
            "bedtime": {"start": to_24(stated.bedtime), "end": to_24(stated.wake_up), "on": False},
        }  # fmt: skip

    def view(self, phone: Phone, screen: Screen) -> Widget:
        """Return one of the tabs, the list of cities, or the ringing alarm or timer."""
        return view.view(phone, screen)

    def update(self, phone: Phone, message: Message) -> None:
        """Act on a message."""
        name = message[0].partition("/")[2]
        if (act := _ACTS.get(name)) is not None:
            act(phone, phone.data["clock"], *message[1:])

    def back(self, phone: Phone, screen: Screen) -> bool:
        """Stop the ringing alarm or timer."""
        if screen["name"] == "ring":
            phone.pop()
        return bool(screen["name"] == "ring")

    def tick(self, phone: Phone, seconds: int) -> None:
        """Let alarms ring, timers run down, and the stopwatch go on."""
        data, now = phone.data["clock"], phone.clock
        for alarm in data["alarms"]:
            due = now - timedelta(seconds=seconds)
            if alarm["snoozed"]:
                alarm["snoozed"] = max(0, alarm["snoozed"] - seconds)
                rings = not alarm["snoozed"]
            else:
                rings = alarm["on"] and due < next_ring(alarm, due) <= now
            if rings:
                if not alarm["days"]:
                    alarm["on"] = False
                title = phone.time_text(datetime.strptime(alarm["time"], "%H:%M"))
                phone.notify("clock", "Alarm", f"{title} {alarm['label']}".strip())
                phone.raise_above("ring", app="clock", sticky=True, kind="alarm", about=alarm["id"])
        for timer in data["timers"]:
            if timer["running"]:
                timer["left"] = max(0, timer["left"] - seconds)
                if not timer["left"]:
                    timer["running"] = False
                    phone.notify("clock", "Time's up", timer["label"] or "Timer")
                    phone.raise_above("ring", app="clock", sticky=True, kind="timer", about=timer["id"])
        if data["watch"]["running"]:
            data["watch"]["elapsed"] += seconds


def _row(rows: list[dict[str, Any]], number: int) -> dict[str, Any]:
    return next((row for row in rows if row["id"] == number), {})


def _tab(phone: Phone, data: dict[str, Any], tab: str) -> None:
    data["tab"] = tab
    phone.screen["scroll"].clear()
    phone.screen["open"] = 0


def _open(phone: Phone, data: dict[str, Any], number: int) -> None:
    screen = phone.screen
    screen["open"] = 0 if screen.get("open") == number else number


def _say_when(phone: Phone, alarm: dict[str, Any]) -> None:
    if alarm["on"]:
        phone.toast(f"Alarm set for {until(alarm, phone.clock)} from now")


def _toggle(phone: Phone, data: dict[str, Any], number: int) -> None:
    alarm = _row(data["alarms"], number)
    alarm["on"], alarm["snoozed"] = not alarm["on"], 0
    _say_when(phone, alarm)


def _add(phone: Phone, data: dict[str, Any]) -> None:
    if len(data["alarms"]) >= MAX_ALARMS:
        phone.toast("Can't add more alarms")
    else:
        phone.pick_time("09:00", ("clock/added",))


def _added(phone: Phone, data: dict[str, Any], time: str) -> None:
    alarm = alarm_row(phone.new_id(), AlarmState(time="9:00 AM").model_dump())
    alarm["time"] = time
    data["alarms"].append(alarm)
    phone.screen["open"] = alarm["id"]
    _say_when(phone, alarm)


def _ask_time(phone: Phone, data: dict[str, Any], number: int) -> None:
    phone.pick_time(_row(data["alarms"], number)["time"], ("clock/timed", number))


def _timed(phone: Phone, data: dict[str, Any], number: int, time: str) -> None:
    alarm = _row(data["alarms"], number)
    alarm["time"], alarm["on"] = time, True
    _say_when(phone, alarm)


def _day(phone: Phone, data: dict[str, Any], number: int, day: str) -> None:
    alarm = _row(data["alarms"], number)
    chosen = {*alarm["days"]} ^ {day}
    alarm["days"] = [name for name in DAYS if name in chosen]
    _say_when(phone, alarm)


def _ask_label(phone: Phone, data: dict[str, Any], number: int) -> None:
    phone.ask_text("Add label", _row(data["alarms"], number)["label"], ("clock/labelled", number), hint="Label")


def _labelled(phone: Phone, data: dict[str, Any], number: int, label: str) -> None:
    _row(data["alarms"], number)["label"] = label[:60]


def _ask_sound(phone: Phone, data: dict[str, Any], number: int) -> None:
    sounds = tuple(phone.defaults["clock"]["sounds"])
    sound = _row(data["alarms"], number)["sound"]
    phone.choose("Alarm sound", sounds, sounds.index(sound) if sound in sounds else None, ("clock/sounds", number))


def _sounds(phone: Phone, data: dict[str, Any], number: int, choice: int) -> None:
    _row(data["alarms"], number)["sound"] = phone.defaults["clock"]["sounds"][choice]


def _vibrate(phone: Phone, data: dict[str, Any], number: int) -> None:
    alarm = _row(data["alarms"], number)
    alarm["vibrate"] = not alarm["vibrate"]


def _delete(phone: Phone, data: dict[str, Any], number: int) -> None:
    at = next(at for at, row in enumerate(data["alarms"]) if row["id"] == number)
    phone.model["removed"] = data["alarms"].pop(at)
    phone.snack("Alarm deleted", "Undo", ("clock/undo",))


def _undo(phone: Phone, data: dict[str, Any]) -> None:
    data["alarms"].append(phone.model.pop("removed"))


def _ring(phone: Phone, data: dict[str, Any], kind: str, number: int, snooze: bool) -> None:
    phone.pop()
    if kind == "alarm":
        _row(data["alarms"], number)["snoozed"] = 60 * SNOOZE_MINUTES if snooze else 0
        if snooze:
            phone.toast(f"Snoozing for {SNOOZE_MINUTES} minutes")
    else:
        timer = _row(data["timers"], number)
        timer.update({"left": 60, "running": True} if snooze else {"left": timer["length"], "running": False})


def _city(phone: Phone, data: dict[str, Any], name: str) -> None:
    phone.pop()
    if name not in data["cities"]:
        data["cities"].append(name)


def _drop_city(phone: Phone, data: dict[str, Any], name: str) -> None:
    data["cities"].remove(name)


def _digit(phone: Phone, data: dict[str, Any], key: str) -> None:
    typed = data["typed"][:-1] if key == "⌫" else (data["typed"] + key).lstrip("0")
    data["typed"] = typed if len(typed) <= 6 else data["typed"]


def _start_timer(phone: Phone, data: dict[str, Any]) -> None:
    typed = data["typed"].zfill(6)
    seconds = 3600 * int(typed[:2]) + 60 * int(typed[2:4]) + int(typed[4:])
    if len(data["timers"]) >= MAX_TIMERS:
        phone.toast("Can't add more timers")
    elif seconds:
        data["timers"].append(
            {"id": phone.new_id(), "label": "", "length": seconds, "left": seconds, "running": True}
        )  # fmt: skip
        data["typed"], data["adding"] = "", False


def _timer(phone: Phone, data: dict[str, Any], number: int, command: str) -> None:
    timer = _row(data["timers"], number)
    if command == "toggle":
        timer["running"] = not timer["running"] and timer["left"] > 0
    elif command == "more":
        timer["left"] = min(timer["left"] + 60, 360_000)
    elif command == "reset":
        timer["left"], timer["running"] = timer["length"], False
    elif command == "label":
        phone.ask_text("Add label", timer["label"], ("clock/timer_label", number), hint="Label")
    else:
        data["timers"].remove(timer)


def _timer_label(phone: Phone, data: dict[str, Any], number: int, label: str) -> None:
    _row(data["timers"], number)["label"] = label[:60]


def _adding(phone: Phone, data: dict[str, Any], adding: bool) -> None:
    data["adding"], data["typed"] = adding, ""


def _watch(phone: Phone, data: dict[str, Any], command: str) -> None:
    watch = data["watch"]
    if command == "toggle":
        watch["running"] = not watch["running"]
    elif command == "lap":
        watch["laps"].insert(0, watch["elapsed"])
        del watch["laps"][MAX_LAPS:]
    else:
        watch.update(elapsed=0, running=False, laps=[])


def _bed(phone: Phone, data: dict[str, Any], which: str) -> None:
    if which == "on":
        data["bedtime"]["on"] = not data["bedtime"]["on"]
    else:
        phone.pick_time(data["bedtime"][which], ("clock/bed_set", which))


def _bed_set(phone: Phone, data: dict[str, Any], which: str, time: str) -> None:
    data["bedtime"][which] = time


_ACTS: dict[str, Callable[..., object]] = {
    "open": _open,
    "toggle": _toggle,
    "add": _add,
    "added": _added,
    "time": _ask_time,
    "timed": _timed,
    "day": _day,
    "label": _ask_label,
    "labelled": _labelled,
    "sound": _ask_sound,
    "sounds": _sounds,
    "vibrate": _vibrate,
    "delete": _delete,
    "undo": _undo,
    "ring": _ring,
    "tab": _tab,
    "city": _city,
    "drop_city": _drop_city,
    "digit": _digit,
    "start_timer": _start_timer,
    "timer": _timer,
    "timer_label": _timer_label,
    "adding": _adding,
    "watch": _watch,
    "bed": _bed,
    "bed_set": _bed_set,
    "cities": lambda phone, data: phone.push("cities", focus="query"),
    "city_held": lambda phone, data, name: phone.menu(("Delete", ("clock/drop_city", name))),
    "settings": lambda phone, data: phone.open("settings", "date"),
    "sound_settings": lambda phone, data: phone.open("settings", "sound"),
}

APP = ClockApp()
