"""The data file of the desktop shell: its dock, settings and dialogs."""

from __future__ import annotations

from functools import lru_cache

from agentworld_gym.documents.data_folder import data_folder
from agentworld_gym.documents.strict import Strict, read_yaml, validated
from agentworld_gym.engines import Scalar


class DialogText(Strict):
    """A dialog that opens by itself. `buttons` are ids and labels, the default button last."""

    title: str
    text: str
    buttons: dict[str, str]


class ShellData(Strict):
    """The content of `shell.yaml`."""

    dock: tuple[str, ...]
    settings: dict[str, str | bool | int | float | None]
    dialogs: tuple[DialogText, ...]


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
