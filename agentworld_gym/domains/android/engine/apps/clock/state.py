"""The state of the clock app: its schema, the rows that it stores, and when an alarm rings."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.domains.android.engine.app import AppScene

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MAX_ALARMS = MAX_TIMERS = 30
_TIME = re.compile(r"(1[0-2]|[1-9]):([0-5]\d) ([AP])M")


def _checked_time(text: str) -> str:
    if not _TIME.fullmatch(text):
        raise ValueError('a time such as "6:30 AM"')
    return text


def _checked_days(text: str) -> str:
    if text and any(day not in DAYS for day in text.split(", ")):
        raise ValueError('days such as "Tue, Thu", or nothing')
    return text


_Time = Annotated[str, AfterValidator(_checked_time)]
_Days = Annotated[str, AfterValidator(_checked_days)]


class AlarmState(Strict):
    """An alarm as a task states it."""

    time: _Time
    label: str = Field(default="", max_length=60)
    days: _Days = ""
    state: Literal["on", "off"] = "on"
    sound: str = Field(default="Bright morning", max_length=40)
    vibrate: bool = True


class TimerState(Strict):
    """A timer as a task states it."""

    label: str = Field(default="", max_length=60)
    minutes: int = Field(ge=1, le=6000)
    running: bool = False


class ClockState(Strict):
    """The clock app as a task states it; None is drawn. `tab` is the one used last."""

    tab: Literal["alarm", "clock", "timer", "stopwatch", "bedtime"] = "alarm"
    alarms: tuple[AlarmState, ...] | None = Field(default=None, max_length=MAX_ALARMS)
    cities: tuple[str, ...] | None = None
    timers: tuple[TimerState, ...] = Field(default=(), max_length=MAX_TIMERS)
    bedtime: _Time = "11:00 PM"
    wake_up: _Time = "7:00 AM"


class City(Strict):
    """A place, and the hours by which its clock is ahead of UTC."""

    name: str = Field(min_length=1)
    offset: float = Field(ge=-14, le=14)


class ClockFile(Strict):
    """The document `clock.yaml`."""

    sounds: tuple[str, ...] = Field(min_length=1)
    labels: tuple[str, ...] = Field(min_length=1)
    times: tuple[_Time, ...] = Field(min_length=6)
    days: tuple[_Days, ...] = Field(min_length=1)
    cities: tuple[City, ...] = Field(min_length=3)


def drawn_alarms(scene: AppScene) -> list[dict[str, Any]]:
    """Return drawn alarms in the form in which a task states them, for a task that states none."""
    files, rng = scene.defaults, scene.rng
    return [
        {"time": time, "label": rng.choice(files["labels"]), "days": rng.choice(files["days"]),
         "state": rng.choice(("on", "off")), "sound": rng.choice(files["sounds"]), "vibrate": rng.random() < 0.5}
        for time in rng.sample(list(files["times"]), rng.randint(3, 6))
    ]  # fmt: skip


def alarm_row(number: int, row: dict[str, Any]) -> dict[str, Any]:
    """Return an alarm as it is stored, from its stated form."""
    days = row["days"].split(", ") if row["days"] else []
    return {
        "id": number,
        "time": to_24(row["time"]),
        "label": row["label"],
        "days": [day for day in DAYS if day in days],
        "on": row["state"] == "on",
        "sound": row["sound"],
        "vibrate": row["vibrate"],
        "snoozed": 0,
    }


def to_24(text: str) -> str:
    """Return a time such as `6:30 PM` as `18:30`."""
    hour, minute, half = _TIME.fullmatch(text).groups()  # type: ignore[union-attr]
    return f"{int(hour) % 12 + (12 if half == 'P' else 0):02}:{minute}"


def next_ring(alarm: dict[str, Any], after: datetime) -> datetime:
    """Return the next time at which an alarm rings after a moment."""
    hour, minute = int(alarm["time"][:2]), int(alarm["time"][3:])
    moment = after.replace(hour=hour, minute=minute, second=0, microsecond=0)
    while moment <= after or (alarm["days"] and DAYS[moment.weekday()] not in alarm["days"]):
        moment += timedelta(days=1)
    return moment


def until(alarm: dict[str, Any], now: datetime) -> str:
    """Return the time until an alarm rings, in the words of the app.

    >>> until({"time": "06:30", "days": ["Tue", "Thu"]}, datetime(2026, 3, 4, 9, 41))
    '20 hours and 49 minutes'
    """
    minutes = int((next_ring(alarm, now) - now).total_seconds()) // 60
    days, hours, minutes = minutes // 1440, minutes // 60 % 24, minutes % 60
    counts = ((days, "day"), (hours, "hour"), (minutes, "minute"))
    words = [f"{count} {unit}{'' if count == 1 else 's'}" for count, unit in counts if count]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words) or "less than 1 minute"
