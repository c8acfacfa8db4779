"""Names that belong to the package of a screen: of the app, of its activity, and of its widgets."""

from __future__ import annotations

from agentworld_gym.engines.android.phone import InstalledApp, Phone, Screen
from agentworld_gym.engines.gui import Widget


def resource_id(phone: Phone, widget: Widget) -> str:
    """Return the resource id of a widget that has a key; others have none.

    Keys belong to the screen on top, whose package the id names.
    """
    return f"{phone.apps[phone.screen['app']].package}:id/{widget.key}" if widget.key else ""


def front(phone: Phone) -> tuple[InstalledApp, Screen]:
    """Return the app in front and its screen; a dialog belongs to the screen that it lies over."""
    screens = [screen for screen in (*phone.stack, *phone.model["above"]) if not screen["over"]]
    screen = screens[-1] if screens else phone.screen
    return phone.apps[screen["app"]], screen


def activity(app: InstalledApp, screen: Screen) -> str:
    """Return the full name of the activity that a screen is.

    >>> from types import SimpleNamespace
    >>> activity(SimpleNamespace(package="org.example.shop"), {"name": "sign_in"})
    'org.example.shop.SignInActivity'
    """
    name = "".join(part.capitalize() for part in screen["name"].split("_"))
    return f"{app.package}.{name}Activity"
