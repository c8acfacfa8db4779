"""Scenarios: a phone as its files describe it, and the model that a task's state and a seed make of it."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from pydantic import Field, create_model, field_validator

from agentworld_gym.base.documents.data_folder import data_folder
from agentworld_gym.base.documents.strict import Strict, read_yaml, validated
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.engines import Controls
from agentworld_gym.domains.android.engine.app import App, AppScene
from agentworld_gym.domains.android.engine.apps import apps
from agentworld_gym.domains.android.engine.apps.notification_shade import TILES
from agentworld_gym.domains.android.engine.phone import LAUNCHER, Phone
from agentworld_gym.kit.tables.word_lists import common_words

STATE = "task state"
TIME_FORMAT = "%Y-%m-%d %H:%M"
Setting = bool | int | str
USED = ("account", "time_zone", "24_hour", "brightness")
"""The settings that a device must have beside those with a tile."""
_ZONE = re.compile(r"GMT[+-]\d\d:\d\d ")


class Interruption(Strict):
    """A dialog that interrupts the user. All of its buttons close it."""

    title: str = Field(min_length=1)
    """The heading."""
    text: str
    """The text."""
    buttons: tuple[str, ...] = Field(min_length=1, max_length=3)
    """The labels of the buttons."""
    sets: dict[str, Setting] = Field(default_factory=dict)
    """The settings that the last button changes."""


class DeviceFile(Strict):
    """The document `device.yaml`."""

    title: str = Field(min_length=1)
    """The name of the device."""
    time: str
    """The phone's time at the start, such as `2026-03-04 09:41`."""
    settings: dict[str, Setting]
    """All settings with their initial values."""
    pages: tuple[tuple[str, ...], ...] = Field(min_length=1)
    """The titles of the apps on each page of the launcher."""
    dock: tuple[str, ...] = Field(max_length=4)
    """The titles of the apps on the dock."""
    interruptions: tuple[Interruption, ...] = Field(min_length=1)
    """The dialogs of the control `unexpected-dialog`."""

    @field_validator("time")
    @classmethod
    def _time(cls, time: str) -> str:
        return _checked_time(time)


class DeviceState(Strict):
    """What a task's state says about the phone itself; each app adds a key of its own."""

    scenario: str = "pixel"
    """The name of the scenario."""
    time: str | None = None
    """The phone's time at the start; None for that of the scenario."""
    seed: int | None = None
    """The seed of what is drawn; None for the seed of the episode."""
    device: str = ""
    """A text for language worlds alone."""
    rules: str = ""
    """A text for language worlds alone."""
    apps: tuple[str, ...] | None = None
    """The titles of the installed apps; None for all."""
    settings: dict[str, Setting] = Field(default_factory=dict)
    """Settings that differ from the scenario's."""
    permissions: dict[str, str] = Field(default_factory=dict)
    """Permissions by `app/permission`."""

    @field_validator("time")
    @classmethod
    def _time(cls, time: str | None) -> str | None:
        return None if time is None else _checked_time(time)


@dataclass(frozen=True)
class PhoneScenario:
    """One scenario: its device, and the plain data of each file by its name (`device` or the id of an app)."""

    name: str
    device: DeviceFile
    defaults: Mapping[str, Mapping[str, Any]]


def _checked_time(time: str) -> str:
    try:
        moment = datetime.strptime(time, TIME_FORMAT)
    except ValueError as error:
        raise ValueError('a time such as "2026-03-04 09:41"') from error
    if not 1990 <= moment.year <= 2090:
        raise ValueError("a year from 1990 to 2090")
    return time


def scenario_folder() -> Path:
    """Return the folder that holds one folder for each scenario."""
    return data_folder("domain_specs") / "scenarios" / "android"


def scenario_names() -> tuple[str, ...]:
    """Return the names of the shipped scenarios, sorted."""
    return tuple(sorted(path.parent.name for path in scenario_folder().glob("*/device.yaml")))


@lru_cache(maxsize=32)
def load_scenario(name: str) -> PhoneScenario:
    """Return a shipped scenario by its name, or any scenario by the path of its folder.

    Raises:
        SpecError: There is no such scenario, or one of its files is wrong. The error names file, key, value and what
            was expected.
    """
    folder = Path(name) if "/" in name else scenario_folder() / name
    if not (folder / "device.yaml").is_file():
        expected = f"one of {', '.join(scenario_names())}, or the path of a scenario's folder"
        raise SpecError(STATE, "scenario", name, expected)
    plain = read_yaml(folder / "device.yaml")
    device = validated(DeviceFile, plain, folder / "device.yaml")
    defaults = {"device": plain}
    for app in apps().values():
        path = folder / f"{app.id}.yaml"
        if app.Defaults is not None:
            defaults[app.id] = read_yaml(path)
            validated(app.Defaults, defaults[app.id], path)
    _check_settings(folder, device, defaults)
    titles = {app.title for app in apps().values() if app.icon}
    for shown in (*(title for page in device.pages for title in page), *device.dock):
        if shown not in titles:
            raise SpecError(folder / "device.yaml", "pages", shown, f"one of {', '.join(sorted(titles))}")
    return PhoneScenario(name, device, defaults)


def _check_settings(folder: Path, device: DeviceFile, defaults: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise an error where a setting is shown or used that does not exist.

    Raises:
        SpecError: A setting does not exist.
    """
    settings = device.settings
    for key in (*USED, *(key for key, _ in TILES)):
        if key not in settings:
            raise SpecError(folder / "device.yaml", f"settings.{key}", None, "this key to be there")
    if not _ZONE.match(str(settings["time_zone"])):
        raise SpecError(folder / "device.yaml", "settings.time_zone", settings["time_zone"], "GMT+00:00 and a name")
    for number, interruption in enumerate(device.interruptions):
        for key in interruption.sets:
            if key not in settings:
                where = f"interruptions.{number}.sets"
                raise SpecError(folder / "device.yaml", where, key, "a setting of device.yaml")
    for name, page in defaults.get("settings", {}).get("pages", {}).items():
        for number, line in enumerate(page["rows"]):
            for kind in ("switch", "choice", "slider", "text", "tell"):
                if kind in line and line[kind] not in settings:
                    where = f"pages.{name}.rows.{number}.{kind}"
                    raise SpecError(folder / "settings.yaml", where, line[kind], "a setting of device.yaml")


@cache
def _state_model() -> type[DeviceState]:
    parts: dict[str, Any] = {app.id: (app.State | None, None) for app in apps().values() if app.icon}
    # The settings app and the settings of the task share one name.
    parts.pop("settings", None)
    return create_model("State", __base__=DeviceState, **parts)


def begin(state: Mapping[str, Any], seed: int, controls: Controls) -> Phone:
    """Return a phone at the start, on the first page of its launcher.

    Raises:
        SpecError: The state is wrong. The error names the key, its value and what was expected.
    """
    wanted = validated(_state_model(), dict(state), STATE)
    scenario = load_scenario(wanted.scenario)
    settings = dict(scenario.device.settings)
    for key, value in wanted.settings.items():
        if key.startswith("notify:") and isinstance(value, bool):
            settings[key] = value
        elif key not in settings:
            raise SpecError(STATE, f"settings.{key}", value, f"one of {', '.join(sorted(settings))}")
        elif key == "time_zone" and not _ZONE.match(str(value)):
            raise SpecError(STATE, f"settings.{key}", value, "a zone such as GMT+01:00 Berlin")
        elif type(value) is not type(settings[key]):
            raise SpecError(STATE, f"settings.{key}", value, f"a value such as {settings[key]!r}")
        else:
            settings[key] = value
    installed = _installed(wanted.apps)
    now = datetime.strptime(wanted.time or scenario.device.time, TIME_FORMAT)
    drawn_from = seed if wanted.seed is None else wanted.seed
    data: dict[str, Any] = {}
    for app in apps().values():
        rng = random.Random(f"{drawn_from} {app.id}")
        scene = AppScene(rng, now, scenario.defaults.get(app.id, {}), common_words(), data)
        stated = getattr(wanted, app.id, None) if app.id != "settings" else None
        data[app.id] = app.begin(stated if isinstance(stated, app.State) else app.State(), scene)
    data[LAUNCHER] = {"pages": [list(page) for page in scenario.device.pages], "dock": list(scenario.device.dock)}
    model: dict[str, Any] = {
        "data": data,
        "settings": settings,
        "grants": _grants(wanted.permissions),
        "notifications": [],
        "tasks": {LAUNCHER: []},
        "front": LAUNCHER,
        "above": [],
        "toast": "",
        "snack": None,
        "clock": int((now - datetime(1970, 1, 1)).total_seconds()),
        "scenario": wanted.scenario,
        "ids": 1000 * (1 + _highest(data) // 1000),
        "steps": 0,
        "openings": 0,
        "visits": 0,
    }
    phone = Phone(model, installed, controls, scenario.defaults)
    phone.stack.append(phone.new_screen(LAUNCHER, "home"))
    return phone


def _installed(titles: tuple[str, ...] | None) -> dict[str, App]:
    """Return the apps of a phone.

    Raises:
        SpecError: There is no such app.
    """
    every = apps()
    if titles is None:
        return every
    by_title = {app.title: app for app in every.values() if app.icon}
    for title in titles:
        if title not in by_title:
            raise SpecError(STATE, "apps", title, f"one of {', '.join(sorted(by_title))}")
    return {app.id: app for app in every.values() if not app.icon or app.title in titles}


def _grants(stated: Mapping[str, str]) -> dict[str, str]:
    for key, grant in stated.items():
        app, _, permission = key.partition("/")
        if app not in apps() or permission not in apps()[app].permissions:
            expected = "an app's id and one of its permissions, such as messages/contacts"
            raise SpecError(STATE, f"permissions.{key}", grant, expected)
        if grant not in ("allowed", "denied"):
            raise SpecError(STATE, f"permissions.{key}", grant, "allowed or denied")
    granted = {f"{app.id}/{permission}": "allowed" for app in apps().values() for permission in app.granted}
    return {**granted, **stated}


def _highest(value: Any) -> int:
    """Return the highest `id` of any row."""
    if isinstance(value, dict):
        number = value.get("id")
        inner = max(map(_highest, value.values()), default=0)
        return max(inner, number) if type(number) is int else inner
    return max(map(_highest, value), default=0) if isinstance(value, list) else 0
