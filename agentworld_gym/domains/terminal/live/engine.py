"""The engine of real shells."""

from __future__ import annotations

from pathlib import Path

from agentworld_gym.base.errors import MissingFile, SpecError
from agentworld_gym.domains.terminal.live.config import ShellConfig
from agentworld_gym.domains.terminal.live.session import ShellSession
from agentworld_gym.kit.live import Confinement, LiveEngine, LiveSource
from agentworld_gym.kit.live.box import PreparedFiles, missing_programs
from agentworld_gym.kit.live.confinement import HOME

DOMAIN = "terminal"
"""The domain of shells."""


def open_live(source: LiveSource) -> ShellEngine:
    """Open a shell over a user's own files.

    Raises:
        SpecError: The configuration is wrong.
        WorldNotConfigured: Commands cannot be confined here.
    """
    return ShellEngine(source.read(ShellConfig, DOMAIN), source)


class ShellEngine(LiveEngine[ShellConfig]):
    """Starts shells, each over a copy of the same files.

    Args:
        config: The shell.
        source: Where the configuration stands.

    Raises:
        SpecError: A key is wrong, or a folder is not there.
        WorldNotConfigured: Commands cannot be confined here.
    """

    def __init__(self, config: ShellConfig, source: LiveSource) -> None:
        if config.trusted:
            raise SpecError(source.file, "trusted", True, "false: a live shell always runs in a sandbox")
        self.confinement = Confinement(config, source.file, source.folder)
        self._source = source
        self.folder = self._place(config.folder, "folder")
        self.image = self._place(config.image, "image")
        if self.image is not None and (missing := missing_programs(self.image)):
            raise SpecError(source.file, "image", config.image, f"a root file system with {', '.join(missing)}")
        self.cwd = HOME if self.folder is None else f"{HOME}/{self.folder.name}"
        self._files = PreparedFiles(self.confinement, self.folder, config.setup, self.cwd, self.image)
        super().__init__(config)

    def _place(self, given: str | None, key: str) -> Path | None:
        if given is None:
            return None
        place = self._source.path(given).resolve()
        if not place.is_dir():
            raise MissingFile(place, "a folder of this machine", kind="folder", key=key)
        return place

    def open_session(self) -> ShellSession:
        """Start a shell over a copy of the files."""
        return ShellSession(self.config, self.confinement, self._files.get(), self.image, self.cwd)

    def close(self) -> None:
        """End all shells."""
        super().close()
        self.confinement.close()
