"""The apps that a model may never have seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.domain.unseen_names import UnseenNames
from agentworld_gym.core.screens import ScreenNode, read_screen


class UnseenApps(UnseenNames):
    """The apps of a phone.

    >>> "Clock" in UnseenApps().known_apps()
    True
    """

    def apps(self, task: Task) -> Sequence[str]:
        """Return the titles of the apps that are installed and have an icon."""
        installed, titles = task.state.get("apps"), self.known_apps()
        return [title for title in titles if title in installed] if isinstance(installed, Sequence) else titles

    def known_apps(self) -> Sequence[str]:
        """Return the titles of all apps that have an icon."""
        return tuple(_packages())

    def opens(self, action: Any, app: str, shown: str) -> bool:
        """Return whether an action names the app, or touches its icon on the launcher."""
        if not isinstance(action, Mapping):
            return False
        name, index = action.get("app_name"), action.get("index")
        if isinstance(name, str) and name.strip().casefold() in (app.casefold(), _packages()[app]):
            return True
        return any(node.handle == index and _is_icon(node, app) for node in read_screen("android", shown))


def _is_icon(node: ScreenNode, app: str) -> bool:
    """Whether an element is the icon of an app on the launcher, which can be held."""
    return app in (node.label, node.description) and "long_clickable" in node.flags


def _packages() -> dict[str, str]:
    """Return the package of each app that has an icon, by its title."""
    from agentworld_gym.domains.android.engine.apps import apps

    return {app.title: app.package for app in apps().values() if app.icon}
