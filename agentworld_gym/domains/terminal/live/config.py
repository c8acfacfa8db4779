"""What a user says of a shell: the option `live` of this domain."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.kit.live import LiveConfig
from agentworld_gym.kit.live.config import SandboxFiles


class ShellConfig(LiveConfig):
    """A shell, and the files that it begins with.

    >>> ShellConfig(folder="~/project", setup="make data").wait_seconds
    5.0
    """

    folder: str | None = None
    """A folder of this machine. The shell begins in a private copy of it, under its name in the home folder."""

    image: str | None = None
    """The folder of a root file system, as `debootstrap` makes it, or an unpacked image of a container. Its programs
    are there instead of those of this machine; only the home folder and /tmp can be written."""

    setup: str | None = None
    """A command that runs once in the copy, before all episodes."""

    wait_seconds: float = Field(default=5.0, ge=0)
    """How long a command may at least take before the screen is read while it still runs. An action that asks for more
    waits longer, and no action waits once the prompt is back."""


class ShellState(Strict):
    """What a task states to a shell."""

    files: SandboxFiles = Field(default_factory=dict)
    """Texts of files by path, which are written before the agent acts. Relative paths begin where the shell does."""

    setup: str | None = None
    """A command that runs in a clean shell after that."""

    user: Any = None
    """The name of the user, which is always `user`; for the prompts of language worlds."""

    host: Any = None
    """The name of the machine, which is always `live`."""

    home: Any = None
    """The home folder."""

    cwd: Any = None
    """The folder in which the shell begins."""

    programs: Any = None
    """The version of the shell."""
