"""The apps of the phone."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from agentworld_gym.domains.android.engine.app import App

MODULES = (
    "system",
    "notification_shade",
    "launcher",
    "contacts",
    "dialer",
    "messages",
    "notes",
    "calendar.app",
    "shop",
    "settings",
    "clock.app",
    "calculator",
    "files",
)
"""The modules of the apps, each with an `APP`. In this order the apps make their parts of the model."""


@cache
def apps() -> dict[str, App]:
    """Return every app by its id."""
    every = [import_module(f"{__name__}.{name}").APP for name in MODULES]
    return {app.id: app for app in every}
