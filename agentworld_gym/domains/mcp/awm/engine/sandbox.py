"""The sandbox of foreign code: a process under bubblewrap with the libraries loaded, which forks the others."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from agentworld_gym.base.process.bubblewrap import sandbox_command
from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.mcp.awm.engine.inside.clock import START
from agentworld_gym.domains.mcp.awm.engine.inside.fork_server import FOLDER
from agentworld_gym.domains.mcp.awm.engine.inside.frames import FrameError, Frames
from agentworld_gym.domains.mcp.awm.engine.libraries import Libraries

START_SECONDS = 60.0
"""How long the libraries may take to load."""

WORKER_MEMORY = 512 << 20
"""The bytes of memory that a worker may take beyond what it has at its start."""

VERDICT_MEMORY = 512 << 20
"""The bytes of memory that a verifier may take."""

VERDICT_SECONDS = 10.0
"""How long a verifier may take."""

VERDICT_FILES = 160 << 20
"""The bytes of the folder that a verifier reads, with the files that it makes there."""

CODE = "/opt/agentworld"
"""The folder of our own files inside."""

OURS = ("domains/mcp/awm/engine/inside", "kit/sandbox")
"""The folders of this package that run inside."""

DATABASE = "world.db"
"""The file that the code of a world takes for its database: an empty one, which some of the code looks for."""

EMPTY = "py.typed"
"""An empty file of this package."""

PROGRAM = "from agentworld_gym.domains.mcp.awm.engine.inside.fork_server import main; main({number}, {worlds})"


def require_bubblewrap() -> None:
    """Make sure that foreign code can be confined here.

    Raises:
        EngineError: It cannot; the message says what to install.
    """
    if not sys.platform.startswith("linux"):
        raise EngineError("their code runs under bubblewrap, which needs Linux")
    if shutil.which("bwrap") is None:
        raise EngineError("their code runs under bubblewrap, which is not installed: apt install bubblewrap")


class SandboxProcess(NamedTuple):
    """A process of a sandbox."""

    pid: int
    """Its number in the sandbox."""

    frames: Frames
    """The messages to it."""

    copyable: bool
    """Whether the kernel knows how it can be copied."""


class Sandbox:
    """One sandbox. What runs in it sees no network, no host file but those of the interpreter, and no other process.

    Args:
        libraries: The interpreter and its libraries.
        worlds: Whether worlds are played in it; otherwise verifiers run in it, which read databases from a folder.

    Raises:
        EngineError: The sandbox cannot be started.
    """

    def __init__(self, libraries: Libraries, worlds: bool) -> None:
        require_bubblewrap()
        self._worlds = worlds
        ours, theirs = socket.socketpair()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (it is closed with the sandbox)
        with theirs:
            self._process = subprocess.Popen(
                _command(libraries, worlds, theirs.fileno()),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                pass_fds=[theirs.fileno()],
                env={},
            )
        self._frames = Frames(ours)
        try:
            self._frames.receive(START_SECONDS)
        except (EOFError, TimeoutError, FrameError) as error:
            self._errors.seek(0)
            said = self._errors.read().decode("utf-8", "replace").strip()
            self.close()
            raise EngineError(f"bubblewrap cannot run Python here: {said[-500:] or type(error).__name__}") from error

    @property
    def alive(self) -> bool:
        """Whether the sandbox is there; somebody may have ended it."""
        return self._process.poll() is None

    def fork(self) -> SandboxProcess:
        """Start a process for a world.

        Raises:
            EngineError: The sandbox is gone.
        """
        return self._started({"do": "fork", "memory": WORKER_MEMORY})

    def copy(self, pid: int) -> SandboxProcess:
        """Start a copy of a process, which waits to be copied.

        Raises:
            EngineError: The sandbox is gone, or the process is.
        """
        return self._started({"do": "copy", "pid": pid})

    def _started(self, message: dict[str, Any]) -> SandboxProcess:
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                told = self._asked(message, START_SECONDS, file=theirs.fileno())
            if "error" in told:
                raise EngineError(f"a process of the sandbox cannot be started: {told['error']}")
        except EngineError:
            ours.close()
            raise
        return SandboxProcess(told["pid"], Frames(ours), told["copyable"])

    def end(self, pid: int, gone: bool) -> str:
        """End a process, and return how it ended by itself; nothing if it did not.

        Args:
            pid: The number of the process.
            gone: Whether it closed its socket, so that it is about to end.
        """
        with suppress(EngineError):
            return str(self._asked({"do": "end", "pid": pid, "gone": gone}, START_SECONDS)["how"])
        return "ended with its sandbox"

    def verdict(
        self, code: str, initial: bytes, final: bytes, answer: str | None, steps: int, moment: int = START
    ) -> Any:
        """Run a verifier and return what it returned.

        Args:
            code: The code.
            initial: The database of the start.
            final: The database of the end.
            answer: What the agent answered; where it answered nothing, the verifier gets an empty text, as AWM has it.
            steps: How many actions the agent took, for the clock.
            moment: The time of the first action, in seconds since 1970.

        Raises:
            EngineError: The verifier raised an error, or was stopped.
        """
        limits = {"memory": VERDICT_MEMORY, "seconds": VERDICT_SECONDS}
        job = {"code": code, "answer": answer or "", "steps": steps, "moment": moment, "split": len(initial), **limits}
        told = self._asked(job, VERDICT_SECONDS + START_SECONDS, initial + final)
        if told["late"]:
            raise EngineError(f"the verifier took longer than {VERDICT_SECONDS:g} s")
        try:
            result = json.loads(told["told"])
            if "raised" in result:
                raise EngineError(f"the verifier raised {result['raised']}")
            return result["returned"]
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise EngineError(f"the verifier {told['how'] or 'wrote no result'}") from error

    def _asked(
        self, message: dict[str, Any], seconds: float, blob: bytes = b"", file: int | None = None
    ) -> dict[str, Any]:
        """Send a message to the first process and return its reply.

        Raises:
            EngineError: It does not reply. The sandbox is ended, so that a late reply is not taken for the next one.
        """
        try:
            self._frames.send(message, blob, seconds, file)
            told, _ = self._frames.receive(seconds)
        except (OSError, EOFError, FrameError) as error:
            self.close()
            what = "worlds" if self._worlds else "verifiers"
            raise EngineError(f"the sandbox of {what} is gone ({type(error).__name__})") from error
        return told

    def close(self) -> None:
        """End everything in the sandbox; a second call does nothing."""
        self._frames.close()
        self._process.kill()
        self._process.wait()
        self._errors.close()


def _command(libraries: Libraries, worlds: bool, number: int) -> list[str]:
    import agentworld_gym

    package = Path(agentworld_gym.__file__).parent
    command = [*sandbox_command(libraries.interpreter)]
    for folder in OURS:
        command += ["--ro-bind", str(package / folder), f"{CODE}/agentworld_gym/{folder}"]
    path = [CODE]
    for place, folder in enumerate(libraries.folders):
        command += ["--ro-bind", folder, f"/opt/packages/{place}"]
        path.append(f"/opt/packages/{place}")
    if worlds:
        command += ["--ro-bind", str(package / EMPTY), f"/{DATABASE}"]
    else:
        command += ["--size", str(VERDICT_FILES), "--tmpfs", FOLDER, "--setenv", "TMPDIR", FOLDER]
    for name, value in (("PYTHONPATH", os.pathsep.join(path)), *_variables()):
        command += ["--setenv", name, value]
    return [
        *(*command, "--chdir", "/", "--remount-ro", "/", "--"),
        *(libraries.interpreter.inside, "-S", "-s", "-c", PROGRAM.format(number=number, worlds=worlds)),
    ]


@cache
def _variables() -> tuple[tuple[str, str], ...]:
    return (
        ("PYTHONHASHSEED", "0"),
        ("PYTHONDONTWRITEBYTECODE", "1"),
        ("LANG", "C.UTF-8"),
        ("TZ", "UTC"),
        ("HOME", "/"),
        ("DATABASE_PATH", f"sqlite:///{DATABASE}"),  # AWM sets it, and some of the code takes it as given.
    )
