"""What is in front: the app, its screen and the activity that the screen is."""

from __future__ import annotations

from agentworld_gym.domains.android.engine.phone import InstalledApp, Phone, Screen


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
