"""The base class of apps: a part of the model, a view of each screen, and what messages do."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.domains.android.engine.phone import Phone, Screen
from agentworld_gym.kit.gui import Message, Widget


class EmptyState(Strict):
    """The stated contents of an app about which a task cannot state anything."""


@dataclass(frozen=True)
class AppScene:
    """Everything from which an app makes its part of the model."""

    rng: random.Random
    """A source of random numbers for this app alone."""
    now: datetime
    """The phone's time."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """The app's file in the scenario's folder; empty where there is none."""
    words: Mapping[str, Any] = field(default_factory=dict)
    """The word lists that all scenarios share."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """The parts of earlier apps in the order of `MODULES`, contacts first."""


class App:
    """One app. It keeps nothing: all that changes is in the phone's model, in which `phone.data[app.id]` is its own.

    A message is a tuple whose first entry is `<app id>/<name>`; it goes to the `update` of that app. A view is a pure
    function of the model.
    """

    id: ClassVar[str]
    """One word in lower case: the key of the app's data, and the start of its messages."""
    title: ClassVar[str]
    """The title in the launcher, which `open_app` takes in any letter case."""
    package: ClassVar[str]
    """The name of its package."""
    first: ClassVar[str] = "main"
    """The name of its first screen."""
    icon: ClassVar[bool] = True
    """Whether the launcher shows it."""
    State: ClassVar[type[Strict]] = EmptyState
    """The schema of what a task's state may say under the app's id."""
    Defaults: ClassVar[type[Strict] | None] = None
    """The schema of its file in a scenario's folder; None where it has none."""
    account: ClassVar[bool] = False
    """Whether it shows its content only after a sign-in."""
    permissions: ClassVar[tuple[str, ...]] = ()
    """The permissions that it may be given or refused: `contacts`, `files`, `location`, `notifications`."""
    granted: ClassVar[tuple[str, ...]] = ()
    """The permissions that it has from the start; it asks for the others at their first use."""
    shares: ClassVar[tuple[str, ...]] = ()
    """What it takes from other apps:

    `text`, `file`. It gets the message `<id>/shared` with the kind and the content.
    """

    unseen: ClassVar[tuple[str, ...]] = ()
    """The keys of its data and of its screens that no view reads."""

    def begin(self, stated: Any, scene: AppScene) -> dict[str, Any]:
        """Return its part of the model at the start, from what a task states and from the scene."""
        return {}

    def view(self, phone: Phone, screen: Screen) -> Widget:
        """Return what a screen shows: the whole display, or the panel alone for a screen that lies over another one."""
        raise NotImplementedError

    def initial_texts(self, phone: Phone, screen: Screen) -> Mapping[str, str]:
        """Return the texts with which fields of a screen begin, by key; the others begin empty."""
        return {}

    def update(self, phone: Phone, message: Message) -> None:
        """Act on a message."""

    def on_open(self, phone: Phone) -> None:
        """Act on the start of the app, once its first screen exists; it may ask for permissions here."""

    def back(self, phone: Phone, screen: Screen) -> bool:
        """Act on a step back from a screen, and return whether the app dealt with it, as where a selection ends."""
        return False

    def tick(self, phone: Phone, seconds: int) -> None:
        """Act on time that has passed; `phone.clock` is the time after it."""
