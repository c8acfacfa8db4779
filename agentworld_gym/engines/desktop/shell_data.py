"""The data of the desktop's shell."""

from __future__ import annotations

from functools import lru_cache

from agentworld_gym.documents.data_folder import data_folder
from agentworld_gym.documents.strict import Strict, read_yaml, validated
from agentworld_gym.engines import Scalar


class DialogText(Strict):
    """A dialog that opens of itself; `buttons` are ids and labels, the default one last."""

    title: str
    text: str
    buttons: dict[str, str]


class ShellData(Strict):
    """What `shell.yaml` holds."""

    dock: tuple[str, ...]
    settings: dict[str, str | bool | int | float | None]
    dialogs: tuple[DialogText, ...]


@lru_cache(maxsize=1)
def shell_data() -> ShellData:
    """The data of the shell.

    Raises:
        SpecError: the file is wrong.
    """
    path = data_folder("domain_specs") / "scenarios" / "desktop" / "shell.yaml"
    return validated(ShellData, read_yaml(path), path)


def shell_settings() -> dict[str, Scalar]:
    """The settings that the shell reads itself, with their defaults."""
    return dict(shell_data().settings)
