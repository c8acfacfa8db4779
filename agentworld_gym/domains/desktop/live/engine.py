"""The engine of real desktops."""

from __future__ import annotations

import shutil
import subprocess
import threading
from pathlib import Path

from agentworld_gym.base.errors import MissingFile, SpecError, WorldNotConfigured
from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.desktop.live.config import DesktopConfig
from agentworld_gym.domains.desktop.live.session import PYTHON, DesktopSession
from agentworld_gym.kit.live import Confinement, LiveEngine, LiveSource
from agentworld_gym.kit.live.box import SandboxBox
from agentworld_gym.kit.live.confinement import HOME, PATH
from agentworld_gym.kit.live.file_archive import FileArchive

DOMAIN = "desktop"
"""The domain of desktops."""

PACKAGES = {
    "Xvfb": "xvfb",
    "dbus-daemon": "dbus",
    "openbox": "openbox",
    "/usr/libexec/at-spi-bus-launcher": "at-spi2-core",
    PYTHON: "python3",
}
"""The programs of a desktop, with the Debian packages that hold them."""

MODULES = {"gi": "python3-gi", "Xlib": "python3-xlib"}
"""The modules of the system's Python, with the Debian packages that hold them."""


def open_live(source: LiveSource) -> DesktopEngine:
    """Open a desktop with a user's own programs.

    Raises:
        SpecError: The configuration is wrong.
        WorldNotConfigured: A package is missing, or commands cannot be confined here.
    """
    return DesktopEngine(source.read(DesktopConfig, DOMAIN), source)


class DesktopEngine(LiveEngine[DesktopConfig]):
    """Starts desktops, each over a copy of the same files.

    Args:
        config: The programs and their files.
        source: Where the configuration stands.

    Raises:
        SpecError: A key is wrong, or a folder or a program is not there.
        WorldNotConfigured: A package is missing, or commands cannot be confined here.
    """

    def __init__(self, config: DesktopConfig, source: LiveSource) -> None:
        if config.trusted:
            raise SpecError(source.file, "trusted", True, "false: a live desktop always runs in a sandbox")
        self.confinement = Confinement(config, source.file, source.folder)
        missing = missing_packages()
        if missing:
            raise WorldNotConfigured(f"{source.file}: a live desktop needs Debian's packages: apt install {missing}")
        for number, words in enumerate(config.programs):
            self.confinement.show(words[:1], f"programs.{number}")
        self.folder: Path | None = None
        if config.folder is not None:
            self.folder = source.path(config.folder).resolve()
            if not self.folder.is_dir():
                raise MissingFile(self.folder, "a folder of this machine", kind="folder", key="folder")
        self.cwd = HOME if self.folder is None else f"{HOME}/{self.folder.name}"
        self._prepared: FileArchive | None = None
        self._preparing = threading.Lock()
        super().__init__(config)

    def open_session(self) -> DesktopSession:
        """Start a desktop over a copy of the files, with its programs."""
        return DesktopSession(self.config, self.confinement, self._files(), self.cwd)

    def _files(self) -> FileArchive:
        """Return what every desktop begins with: the folder, after its setup.

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
        if config.setup is None:
            return files
        box = SandboxBox(self.confinement, files)
        try:
            done = box.run(config.setup, self.cwd, config.limits.start_seconds)
            if done.status:
                raise EngineError(f"the setup ended with status {done.status}: {done.output.strip()[-500:]}")
            return box.files()
        finally:
            box.close()

    def close(self) -> None:
        """End all desktops."""
        super().close()
        self.confinement.close()


def missing_packages() -> str:
    """Return the Debian packages that a desktop needs and this machine lacks, as words of a command.

    >>> isinstance(missing_packages(), str)
    True
    """
    missing = [package for program, package in PACKAGES.items() if shutil.which(program, path=PATH) is None]
    if Path(PYTHON).exists():
        test = "import importlib.util, sys; print(*(n for n in sys.argv[1:] if importlib.util.find_spec(n) is None))"
        words = [PYTHON, "-sE", "-c", test, *MODULES]
        told = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60).stdout.split()
        missing += [MODULES[name] for name in told if name in MODULES]
    return " ".join(missing)
