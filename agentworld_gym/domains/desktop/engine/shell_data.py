"""The data file of the desktop shell: its dock, settings and dialogs."""

from __future__ import annotations

from functools import lru_cache

from agentworld_gym.base.documents.data_folder import data_folder
from agentworld_gym.base.documents.strict import Strict, read_yaml, validated
from agentworld_gym.core.engines import Scalar


class DialogText(Strict):
    """A dialog that opens by itself."""

    title: str
    """The heading."""
    text: str
    """The text."""
    buttons: dict[str, str]
    """The labels of the buttons by id, the default button last."""


class ShellData(Strict):
    """The content of `shell.yaml`."""

    dock: tuple[str, ...]
    """The ids of the programs on the dock."""
    settings: dict[str, str | bool | int | float | None]
    """The settings that the shell itself reads, with their defaults."""
    dialogs: tuple[DialogText, ...]
    """The dialogs of the control `unexpected-dialog`."""


@lru_cache(maxsize=1)
def shell_data() -> ShellData:
    """Return the data of the shell.

    Raises:
        SpecError: The file is wrong.
    """
    path = data_folder("domain_specs") / "scenarios" / "desktop" / "shell.yaml"
    return validated(ShellData, read_yaml(path), path)


def shell_settings() -> dict[str, Scalar]:
    """Return the settings that the shell itself reads, with their defaults."""
    return dict(shell_data().settings)
