"""What a user says of a desktop: the option `live` of this domain."""

from __future__ import annotations

from pydantic import Field

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.kit.live import LiveConfig
from agentworld_gym.kit.live.config import SandboxFiles, Words


class DesktopConfig(LiveConfig):
    """Programs, and the files that they work on.

    >>> DesktopConfig(programs=["mousepad notes.txt", ["galculator"]]).programs
    (('mousepad', 'notes.txt'), ('galculator',))
    """

    programs: tuple[Words, ...] = Field(min_length=1)
    """The programs that are open at the start, the last one in front. Each has shown a window before the next one
    starts."""

    folder: str | None = None
    """A folder of this machine. The programs start in a private copy of it, under its name in the home folder."""

    setup: str | None = None
    """A command that runs once in the copy, before all episodes."""

    action_seconds: float = Field(default=10.0, gt=0)
    """How long the code of an action may run. What takes longer is stopped, and the screen is shown."""

    wait_seconds: float = Field(default=3.0, ge=0)
    """How long is waited for programs to come to rest before the screen is read. Those that never rest, as one with a
    clock, are read then."""


class DesktopTaskState(Strict):
    """What a task states to a desktop."""

    files: SandboxFiles = Field(default_factory=dict)
    """Texts of files by path, which are written before the programs start. Relative paths begin where they do."""

    setup: str | None = None
    """A command that runs after that."""

    programs: tuple[Words, ...] | None = None
    """The programs that are open at the start, instead of those of the configuration."""
