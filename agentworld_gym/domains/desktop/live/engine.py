"""The engine of real desktops."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from agentworld_gym.base.errors import MissingFile, SpecError, WorldNotConfigured
from agentworld_gym.domains.desktop.live.config import DesktopConfig
from agentworld_gym.domains.desktop.live.session import PYTHON, DesktopSession
from agentworld_gym.kit.live import Confinement, LiveEngine, LiveSource
from agentworld_gym.kit.live.box import PreparedFiles
from agentworld_gym.kit.live.confinement import HOME, PATH

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
        self._files = PreparedFiles(self.confinement, self.folder, config.setup, self.cwd)
        super().__init__(config)

    def open_session(self) -> DesktopSession:
        """Start a desktop over a copy of the files, with its programs."""
        return DesktopSession(self.config, self.confinement, self._files.get(), self.cwd)

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
