"""The engine of real shells."""

from __future__ import annotations

import threading
from pathlib import Path

from agentworld_gym.base.errors import MissingFile, SpecError
from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.terminal.live.config import ShellConfig
from agentworld_gym.domains.terminal.live.session import ShellSession
from agentworld_gym.kit.live import Confinement, LiveEngine, LiveSource
from agentworld_gym.kit.live.box import after_setup, missing_programs
from agentworld_gym.kit.live.confinement import HOME
from agentworld_gym.kit.live.file_archive import FileArchive

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
        self._prepared: FileArchive | None = None
        self._preparing = threading.Lock()
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
        return ShellSession(self.config, self.confinement, self._files(), self.image, self.cwd)

    def _files(self) -> FileArchive:
        """Return what every shell begins with: the folder, after its setup.

        Raises:
            EngineError: The folder cannot be copied, or the setup fails.
        """
        with self._preparing:
            if self._prepared is None:
                self._prepared = self._made()
            return self._prepared

    def _made(self) -> FileArchive:
        config = self.config
        files = FileArchive.of({})
        if self.folder is not None:
            try:
                files = FileArchive.of_folder(self.folder, self.cwd, config.limits.disk_mb << 20)
            except OSError as error:
                raise EngineError(f"the folder cannot be copied: {error}") from error
        return after_setup(self.confinement, files, config.setup, self.cwd, self.image)

    def close(self) -> None:
        """End all shells."""
        super().close()
        self.confinement.close()
