"""The initial state of a desktop."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import Field, field_validator

from agentworld_gym.base.documents.strict import Strict, validated
from agentworld_gym.domains.desktop.engine.filesystem import absolute


class DesktopFile(Strict):
    """One file."""

    content: str = ""
    """The text of the file."""
    mode: str = Field(default="644", pattern=r"^[0-7]{3}$")
    """Its octal permissions."""
    modified: datetime | None = None
    """The time of its last change; None for the start of the episode."""


class OpenState(Strict):
    """A window that is open at the start."""

    program: str
    """The id of its program."""
    arguments: tuple[str, ...] = ()
    """The arguments of the program, such as a path."""
    box: tuple[int, int, int, int] | None = None
    """The x, y, width and height of the window; None for a default."""
    maximized: bool | None = None
    """Whether it fills the screen; None for the program's default."""

    @field_validator("box")
    @classmethod
    def _is_box(cls, value: tuple[int, int, int, int] | None) -> tuple[int, int, int, int] | None:
        if value is not None and not (
            70 <= value[0] <= 1720 and 27 <= value[1] <= 980 and 200 <= value[2] <= 1850 and 120 <= value[3] <= 1053
        ):
            raise ValueError("x, y, width and height of a window on a screen of 1920 by 1080 pixels")
        return value


class DesktopState(Strict):
    """The initial state of a desktop, as a task's `state` gives it.

    >>> DesktopState.of({"files": {"~/a.txt": "hi"}}).files["/home/user/a.txt"].content
    'hi'
    """

    clock: datetime = datetime(2026, 3, 4, 9, 41)
    """The time of the desktop's clock."""
    files: dict[str, DesktopFile] = Field(default_factory=dict)
    """Files by path; a text stands for a file with that content."""
    folders: tuple[str, ...] = ()
    """Paths of folders, for those that hold no file."""
    settings: dict[str, str | bool | int | float | None] = Field(default_factory=dict)
    """Settings that differ from their defaults."""
    open: tuple[OpenState, ...] = ()
    """The open windows, the one in front last."""
    clipboard: str = ""
    """The text in the clipboard."""
    sites: dict[str, Any] = Field(default_factory=dict)
    """The state of the sites that the web browser shows."""
    notes: str = ""
    """A text for language worlds alone."""

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> DesktopState:
        """Validate a plain state.

        Raises:
            SpecError: The state is wrong. The error names the key, its value and what was expected.
        """
        return validated(cls, dict(state), "task state")

    @property
    def seconds(self) -> float:
        """The clock in seconds since 1970; a time without an offset is UTC."""
        return seconds(self.clock)

    @field_validator("clock")
    @classmethod
    def _is_clock(cls, value: datetime) -> datetime:
        if not 1980 <= value.year < 2100:
            raise ValueError("a time between 1980 and 2100")
        return value

    @field_validator("files", mode="before")
    @classmethod
    def _texts(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {path: {"content": file} if isinstance(file, str) else file for path, file in value.items()}

    @field_validator("files")
    @classmethod
    def _paths(cls, value: dict[str, DesktopFile]) -> dict[str, DesktopFile]:
        return {_absolute(path): file for path, file in value.items()}

    @field_validator("folders")
    @classmethod
    def _folders(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(_absolute, value))


def _absolute(path: str) -> str:
    if not path.startswith(("/", "~/")) or "\0" in path:
        raise ValueError("absolute paths")
    return absolute(path)


def seconds(time: datetime) -> float:
    """Return a time in seconds since 1970; a time without an offset is UTC."""
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
