"""The apps of the phone."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from agentworld_gym.engines.android.app import App

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
"""One module an app, each with its `APP`; in this order they make their parts of the model."""


@cache
def apps() -> dict[str, App]:
    """Every app by its id."""
    found = [import_module(f"{__name__}.{name}").APP for name in MODULES]
    return {app.id: app for app in found}
