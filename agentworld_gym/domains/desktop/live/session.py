"""One real desktop: its sandbox, its programs, and its screen."""

from __future__ import annotations

import shlex
import socket
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from agentworld_gym.base.documents.strict import validated
from agentworld_gym.core.engines import EngineError, Inspection, Scalar
from agentworld_gym.domains.desktop.engine.geometry import HEIGHT, WIDTH
from agentworld_gym.domains.desktop.live.config import DesktopConfig, DesktopTaskState
from agentworld_gym.domains.desktop.live.table import table
from agentworld_gym.kit.live import Confinement, LiveAbout, LiveSession, LiveStart
from agentworld_gym.kit.live.box import SandboxBox, begin_task, run_on_copy
from agentworld_gym.kit.live.config import Words
from agentworld_gym.kit.live.confinement import HOME
from agentworld_gym.kit.live.environments.process import EpisodeLine
from agentworld_gym.kit.live.file_archive import FileArchive

PYTHON = "/usr/bin/python3"
"""The Python of the system, which has Debian's modules."""

_INSIDE = "agentworld_gym.domains.desktop.live.inside"
_PLACE = "/dev/shm/desktop"
_SERVE = r"""
( exec {{jobs}}<&- {{answers}}>&- {{terminal}}<&-
  env -i {env} {python} -s -m {module} <&$channel {{channel}}<&- 2>{place}/serve.log
  printf '{{"lost": "ended: %s"}}\n' "$(tail -n 1 {place}/serve.log | tr -dc 'A-Za-z0-9 :._-')" >&$channel ) &
exec {{channel}}<&-
"""
_READING = 25.0
"""How many seconds reading a screen may take on a busy machine."""
_NOTHING = frozenset(("", "WAIT", "None", "pass"))
_OWN = (f"{HOME}/.dbus/", f"{HOME}/.cache/", "/tmp/.X")
"""What the parts of a desktop write by themselves."""


class DesktopSession(LiveSession):
    """A desktop in a sandbox.

    Args:
        config: What the user said.
        confinement: How commands run.
        files: What lies in the home folder and in /tmp.
        cwd: The folder in which programs and code start.

    Raises:
        EngineError: It cannot be started.
    """

    def __init__(self, config: DesktopConfig, confinement: Confinement, files: FileArchive, cwd: str) -> None:
        self._config, self._confinement, self._files, self._cwd = config, confinement, files, cwd
        own, other = socket.socketpair()
        try:
            self._box = SandboxBox(confinement, files, channel=other.fileno())
        except BaseException:
            own.close()
            raise
        finally:
            other.close()
        self._socket, self._line = own, EpisodeLine(own, "the desktop")
        try:
            self._box.add(_inside())
            variables = {**confinement.variables(), "PYTHONPATH": _PLACE}
            env = " ".join(shlex.quote(f"{name}={value}") for name, value in variables.items())
            self._box.begin(_SERVE.format(env=env, python=PYTHON, place=_PLACE, module=f"{_INSIDE}.serve"))
            most = config.limits.start_seconds
            self._ask({"do": "start", "size": [WIDTH, HEIGHT], "seconds": most}, most)
            self._start = self._open(config.programs)
        except BaseException:
            self.close()
            raise

    def _ask(self, request: Mapping[str, Any], seconds: float) -> str:
        """Return the table of the screen after a request.

        Args:
            request: The request.
            seconds: How long it may take beside a step.
        """
        self._box.check()
        most = max(self._config.limits.step_seconds, self._config.wait_seconds)
        told = self._line.ask({"wait": self._config.wait_seconds, "most": most, **request}, seconds + most + _READING)
        try:
            return table(told, (WIDTH, HEIGHT)) if "windows" in told else ""
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise EngineError(f"the desktop tells what is no screen: {error!r}") from error

    def _open(self, programs: tuple[Words, ...]) -> str:
        most = self._config.limits.start_seconds
        return self._ask({"do": "open", "programs": programs, "cwd": self._cwd, "seconds": most}, most)

    def about(self) -> LiveAbout:
        """Return what lies in the copy, and what a language world is told of it."""
        programs = [shlex.join(words) for words in self._config.programs]
        state = {"programs": programs, "files": self._files.texts()}
        return LiveAbout(
            {"files": self._files.digest, "programs": ", ".join(programs)},
            {"state": state, "first_observation": self._start},
        )

    def begin(self, start: LiveStart) -> str:
        """Write the files of a task, run its setup, and open its programs."""
        wanted = validated(DesktopTaskState, dict(start.state), "task state")
        programs = self._config.programs if wanted.programs is None else wanted.programs
        did = begin_task(self._box, self._files, wanted.files, wanted.setup, self._cwd)
        return self._open(programs) if did or programs != self._config.programs else self._start

    def act(self, action: Any) -> str:
        """Run code, and return the table of the screen once the programs are at rest."""
        if not isinstance(action, str) or action.strip() in _NOTHING:
            return self._ask({"do": "look"}, 0.0)
        most = min(self._config.action_seconds, self._config.limits.step_seconds)
        request = {"do": "act", "code": action, "cwd": self._cwd, "seconds": most}
        return self._ask(request, 0.0)

    def state(self) -> dict[str, Scalar]:
        """Return every file by its path, folders, links, and permissions that are not usual."""
        return {path: held for path, held in self._box.files().state().items() if not path.startswith(_OWN)}

    def inspect(self, command: str) -> Inspection:
        """Run a command in a clean shell over a copy of the files."""
        return run_on_copy(self._confinement, self._box.files(), command, self._cwd)

    @property
    def alive(self) -> bool:
        """Whether the sandbox and its worker run."""
        return self._box.alive and not self._line.broken

    @property
    def pids(self) -> list[int]:
        """The process of the sandbox."""
        return [self._box.pid] if self._box.alive else []

    def close(self) -> None:
        """End all that runs; the files are gone with it."""
        self._box.close()
        self._socket.close()


@lru_cache(maxsize=1)
def _inside() -> FileArchive:
    """Return the modules that run inside, as a package of the same name."""
    folder, texts = Path(__file__).with_name("inside"), dict[str, str]()
    package = f"{_PLACE}/{_INSIDE.replace('.', '/')}"
    for depth in range(_INSIDE.count(".")):
        above = "/".join(_INSIDE.split(".")[: depth + 1])
        texts[f"{_PLACE}/{above}/__init__.py"] = ""
    for module in folder.glob("*.py"):
        texts[f"{package}/{module.name}"] = module.read_text(encoding="utf-8")
    return FileArchive.of(texts)
