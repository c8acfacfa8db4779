"""What an app of the phone is: a part of the model, a view of each of its screens, and what its messages do."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from agentworld_gym.documents.strict import Strict
from agentworld_gym.engines.android.phone import Phone, Screen
from agentworld_gym.engines.gui import Message, Widget


class Nothing(Strict):
    """What a task says of an app that has no part in it."""


@dataclass(frozen=True)
class Scene:
    """What an app's part of the model is made from.

    `rng` is the app's own. `now` is the phone's time. `defaults` is the app's file in the scenario's folder
    (`domain_specs/scenarios/android/<scenario>/<app id>.yaml`; empty where there is none), `words` are the word lists
    that all scenarios share. `data` holds the parts of the apps before it in the order of `APPS`, contacts first.
    """

    rng: random.Random
    now: datetime
    defaults: Mapping[str, Any] = field(default_factory=dict)
    words: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)


class App:
    """One app. It keeps nothing: all that changes is in the phone's model, of which `phone.data[app.id]` is its own.

    A message is a tuple whose first entry is `<app id>/<what>`; it comes to the `update` of that app. A view is a pure
    function of the model.
    """

    id: ClassVar[str]
    """Lower case, one word: the key of its data, and the start of its messages."""
    title: ClassVar[str]
    """What the launcher shows, and `open_app` takes in any letter case."""
    package: ClassVar[str]
    """Its package name."""
    first: ClassVar[str] = "main"
    """The screen it starts with."""
    icon: ClassVar[bool] = True
    """Whether the launcher shows it."""
    aliases: ClassVar[tuple[str, ...]] = ()
    """Other names `open_app` takes."""
    State: ClassVar[type[Strict]] = Nothing
    """What a task's state may say under the app's id."""
    Defaults: ClassVar[type[Strict] | None] = None
    """What its file in a scenario's folder holds; None where it has none."""
    account: ClassVar[bool] = False
    """Whether it shows its content only to who is signed in."""
    permissions: ClassVar[tuple[str, ...]] = ()
    """What it may be allowed or refused: `contacts`, `files`, `location`, `notifications`."""
    granted: ClassVar[tuple[str, ...]] = ()
    """Which of them it has from the start; for the others it asks at their first use."""
    shares: ClassVar[tuple[str, ...]] = ()
    """What it takes from other apps: `text`, `file`. It gets the message `<id>/shared` with kind and content."""

    def begin(self, stated: Any, scene: Scene) -> dict[str, Any]:
        """Its part of the model at the start: what a task states (a `State`), and draws from the scene for the rest."""
        return {}

    def view(self, phone: Phone, screen: Screen) -> Widget:
        """What a screen shows; the whole display for a full screen, the panel alone for one that lies over another."""
        raise NotImplementedError

    def update(self, phone: Phone, message: Message) -> None:
        """Act on a message."""

    def opened(self, phone: Phone) -> None:
        """It was started, and its first screen is there: the place to ask for what it cannot do without."""

    def back(self, phone: Phone, screen: Screen) -> bool:
        """Going back from a screen of it; True if it was dealt with (a dialog asks, a selection ends)."""
        return False

    def tick(self, phone: Phone, seconds: int) -> None:
        """Time has passed; `phone.clock` is the time after it."""
