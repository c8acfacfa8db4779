"""What a user says of phones: the option `live` of this domain."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StringConstraints, field_validator

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.kit.live import LiveConfig

PACKAGE = r"^[A-Za-z]\w*(\.\w+)+$"
"""The name of a package."""

COMPONENT = re.compile(r"[A-Za-z]\w*(?:\.\w+)+/[\w.$]+")
"""A package with one of its activities."""


def _one(given: Any) -> Any:
    """Take a text as a list of one."""
    return (given,) if isinstance(given, str) else given


Package = Annotated[str, StringConstraints(pattern=PACKAGE)]
Packages = Annotated[tuple[Package, ...], BeforeValidator(_one)]


class PhoneReset(Strict):
    """How a phone goes back to its start, in this order. Then the button home is pressed.

    >>> PhoneReset(clear="org.example.notes").clear
    ('org.example.notes',)
    """

    snapshot: str | None = Field(default=None, pattern=r"^[\w.][\w.-]*$")
    """A snapshot of an emulator, which is loaded."""

    stop: Packages = ()
    """Packages whose processes are ended (`am force-stop`), beside those of the apps that were used."""

    clear: Packages = ()
    """Packages whose data is removed (`pm clear`)."""

    command: str | None = None
    """A line for the phone's shell (`adb shell`), which has to succeed."""


class PhoneConfig(LiveConfig):
    """Phones behind `adb`, one session each.

    >>> PhoneConfig(serial="emulator-5554").serial
    ('emulator-5554',)
    """

    adb: str = Field(default="adb", min_length=1)
    """The program. One that is named by its path runs outside of the sandbox, and needs `trusted: true`."""

    serial: Annotated[tuple[str, ...], BeforeValidator(_one)] = Field(min_length=1)
    """The serials of the phones, as `adb devices` lists them. There are as many sessions at a time."""

    reset: PhoneReset = PhoneReset()
    """How a phone goes back to its start before each episode."""

    apps: dict[str, str] = Field(default_factory=dict)
    """What `open_app` opens by these names: packages, or activities (`org.example.notes/.MainActivity`). Other names
    are those of packages, or their last part."""

    settle_seconds: float = Field(default=5.0, ge=0)
    """How long is waited at most until two screens in a row are equal. Without, the first one is taken."""

    wait_seconds: float = Field(default=1.0, ge=0)
    """How long the action `wait` takes."""

    @field_validator("serial")
    @classmethod
    def _serials(cls, serials: tuple[str, ...]) -> tuple[str, ...]:
        for serial in serials:
            if not re.fullmatch(r"[\w\[][\w.:%\[\]-]*", serial):
                raise ValueError(f"a serial as `adb devices` lists it (got {serial!r})")
        if len({*serials}) < len(serials):
            raise ValueError("different serials")
        return serials

    @field_validator("apps")
    @classmethod
    def _apps(cls, apps: dict[str, str]) -> dict[str, str]:
        for name, app in apps.items():
            if not re.fullmatch(PACKAGE, app) and not COMPONENT.fullmatch(app):
                raise ValueError(f"{name}: a package, or a package with an activity (got {app!r})")
        return apps


class PhoneTaskState(Strict):
    """What a task states to a phone."""

    setup: str | None = None
    """A line for the phone's shell, which runs before the agent acts and has to succeed."""

    apps: Any = None
    """The names of the apps; for the prompts of language worlds."""

    device: Any = None
    """The phone, likewise."""
