"""One private clone of a repository, and the tools that act on it."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agentworld_gym.base.documents.strict import validated
from agentworld_gym.base.text.envelope import Envelope
from agentworld_gym.core.engines import NO_CONTROLS, EngineError, Inspection, Scalar, Span
from agentworld_gym.domains.swe.engine.episode import BackgroundShell, RepositoryEpisode
from agentworld_gym.domains.swe.engine.file_operations import number_of, text_of
from agentworld_gym.domains.swe.engine.files import absolute, relative
from agentworld_gym.domains.swe.engine.python.sandbox import NO_SANDBOX
from agentworld_gym.domains.swe.engine.results import (
    BackgroundRead,
    Killed,
    Listed,
    Refused,
    Result,
    Said,
    Started,
)
from agentworld_gym.domains.swe.engine.scaffolds import FIRST, PRINTERS
from agentworld_gym.domains.swe.engine.tools import SHELL, TOOLS, read_call, use
from agentworld_gym.domains.swe.live.clones import Clones
from agentworld_gym.domains.swe.live.config import NAMED, RepositoryTaskState
from agentworld_gym.domains.swe.live.grading import graded
from agentworld_gym.domains.swe.live.sandbox_files import SandboxFiles
from agentworld_gym.kit.live import LiveAbout, LiveMachine, LiveSession, LiveStart
from agentworld_gym.kit.live.box import TIMED_OUT, SandboxBox, begin_task, run_on_copy
from agentworld_gym.kit.live.file_archive import FileArchive

TERMINATED = 15
_CACHES = re.compile(r"/(?:__pycache__|\.pytest_cache)(?:/|\Z)")


class RepositorySession(LiveSession):
    """A clone in a sandbox.

    Args:
        clones: The clones.
        files: What lies in the home folder; None takes the clone at the commit of the configuration.

    Raises:
        EngineError: It cannot be started.
    """

    def __init__(self, clones: Clones, files: FileArchive | None = None) -> None:
        self._clones, self._start = clones, LiveStart()
        self._commit = clones.config.commit
        self._box = SandboxBox(clones.confinement, clones.files_at(self._commit) if files is None else files)
        self._read_bytes = dict[str, int]()
        """How many bytes of the output of each shell in the background were read."""
        self.episode = self._begun()
        self.result: Result = self._greeting()

    def _begun(self) -> RepositoryEpisode:
        root = self._clones.root
        files = SandboxFiles(self._box.first, root)
        return RepositoryEpisode(root, "3.11", 0, files, None, NO_SANDBOX, NO_CONTROLS)

    def _greeting(self) -> Result:
        root = self._clones.root
        listing = PRINTERS[FIRST](Listed(root, *self.episode.files.names(root)))
        return Said(f"Working directory: {root}\n{listing}")

    def about(self) -> LiveAbout:
        """Return what the clone begins with."""
        files = self._clones.files_at(self._clones.config.commit)
        state = {"root": self._clones.root, "files": files.texts(f"{self._clones.root}/")}
        return LiveAbout(
            {"commit": self._clones.resolved(self._clones.config.commit)},
            {"state": state, "first_observation": PRINTERS[FIRST](self._greeting())},
        )

    def begin(self, start: LiveStart) -> str:
        """Go to the commit of a task, write its files, and run its setup."""
        told = {key: value for key, value in start.state.items() if key != "files" or self._is_own(value)}
        wanted = validated(RepositoryTaskState, told, "task state")
        self._start, commit = start, wanted.commit or self._clones.config.commit
        if commit != self._commit:
            box = SandboxBox(self._clones.confinement, self._clones.files_at(commit))
            self._box.close()
            self._box, self._commit = box, commit
            self.episode = self._begun()
        begin_task(self._box, self._clones.files_at(commit), wanted.files, wanted.setup, self._clones.root)
        self.result = self._greeting()
        return self.shown_in(FIRST)

    def _is_own(self, files: Any) -> bool:
        """Return whether files are those that a task states, and not what was told of the clone."""
        about = self._clones.files_at(self._clones.config.commit).texts(f"{self._clones.root}/")
        return bool(files != about)

    def act(self, action: Any) -> str:
        """Call a tool, and return what the first scaffold prints."""
        if not self._box.alive:
            self._box.check()
        self.episode.step += 1
        name, arguments = read_call(action)
        if not isinstance(name, str) or not isinstance(arguments, Mapping):
            self.result = Refused("no call")
        elif name in (SHELL, "BashOutput", "KillShell"):
            try:
                self.result = self._commanded(name, arguments)
            except Refused as refused:
                self.result = refused.with_traceback(None)
        elif name in TOOLS:
            self.result = use(self.episode, name, arguments)
        else:
            self.result = Refused("no tool", name=name[:100])
        return self.shown_in(FIRST)

    def shown_in(self, dialect: str) -> str:
        """Return the last answer as a scaffold prints it.

        Raises:
            EngineError: No scaffold has the name.
        """
        if dialect not in PRINTERS:
            raise EngineError(f"the repository speaks {' and '.join(PRINTERS)}, not {dialect!r}")
        return PRINTERS[dialect](self.result)

    def _commanded(self, name: str, arguments: Mapping[str, Any]) -> Result:
        if name == "BashOutput":
            return self._read_background(text_of(arguments, "bash_id"))
        if name == "KillShell":
            return self._kill_background(text_of(arguments, "shell_id"))
        command = text_of(arguments, "command")
        if not command.strip():
            raise Refused("argument", problem="command must be a non-empty string")
        root = self._clones.root
        folder = absolute(text_of(arguments, "directory", "") or root, root)
        if not self.episode.files.is_folder(folder):
            raise Refused("no directory", path=folder)
        place = relative(folder, root)
        place = "" if place == "." else place
        if arguments.get("is_background") is True:
            return self._begin_background(command, folder, place)
        given = number_of(arguments, "timeout", 1)
        most = self._clones.config.limits.step_seconds
        seconds = min(most, given / 1000 if given is not None else most)
        done = self._box.run(command, folder, seconds)
        output = done.output.encode("utf-8", "replace").decode()
        if done.status == TIMED_OUT:
            told = round(1000 * seconds)
            stopped = f"Command timed out after {told} ms."
            return Envelope(command, place, output, stopped, signal=TERMINATED, timeout=told)
        return Envelope(command, place, output, exit_code=done.status)

    def _begin_background(self, command: str, folder: str, place: str) -> Result:
        name = f"bash_{len(self.episode.shells) + 1}"
        job = (
            "mkdir -p /dev/shm/background; "
            f"( setsid bash --noprofile --norc -c {shlex.quote(command)} >/dev/shm/background/{name} 2>&1 </dev/null & "
            f"echo $! >/dev/shm/background/{name}.pid; wait $!; echo $? >/dev/shm/background/{name}.status ) "
            ">/dev/null 2>&1 & "
            f"while ! [ -s /dev/shm/background/{name}.pid ]; do sleep 0.01; done; cat /dev/shm/background/{name}.pid"
        )
        told = self._box.run(job, folder).output.strip()
        pid = int(told) if told.isdigit() else 0
        shell = BackgroundShell(command, "", None, True, pid)
        self.episode.shells = {**self.episode.shells, name: shell}
        return Started(name, Envelope(command, place, exit_code=0, pids=[pid]))

    def _shell(self, name: str) -> BackgroundShell:
        if name not in self.episode.shells:
            raise Refused("argument", problem=f"No shell found with ID: {name[:100]}")
        return self.episode.shells[name]

    def _read_background(self, name: str) -> Result:
        shell = self._shell(name)
        seen, file = self._read_bytes.get(name, 0), f"/dev/shm/background/{name}"
        # The first line tells how far the file is read, whatever is left out of the middle of a long output.
        told = self._box.run(
            f"size=$(stat -c %s {file}); echo $size; tail -c +{seen + 1} {file} | head -c $((size - {seen}))"
        ).output
        size, _, output = told.partition("\n")
        self._read_bytes[name] = int(size) if size.isdigit() else seen
        status = self._box.run(f"cat /dev/shm/background/{name}.status 2>/dev/null").output.strip()
        code = int(status) if status.isdigit() else None
        read = replace(shell, exit_code=code, running=code is None and shell.running)
        self.episode.shells = {**self.episode.shells, name: read}
        when = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
        if code is None:
            return BackgroundRead("running" if shell.running else "killed", None, output, when)
        return BackgroundRead("failed" if code else "completed", code, output, when)

    def _kill_background(self, name: str) -> Result:
        shell = self._shell(name)
        status = self._box.run(f"cat /dev/shm/background/{name}.status 2>/dev/null").output.strip()
        if status or not shell.running:
            raise Refused("argument", problem=f"Shell {name} is not running, so cannot be killed")
        self._box.run(f"kill -KILL -- -{shell.pid} 2>/dev/null || kill -KILL {shell.pid}")
        self.episode.shells = {**self.episode.shells, name: replace(shell, running=False)}
        return Killed(name, shell.command)

    def state(self) -> dict[str, Scalar]:
        """Return every file of the repository by its path, and the to-do list."""
        root = f"{self._clones.root}/"
        fields = {
            path: value
            for path, value in self._box.files().state().items()
            if path.startswith(root)
            and not path.startswith(f"{root}.git/")
            and not path.endswith("/")
            and not _CACHES.search(path)
        }
        for todo in self.episode.todos:
            fields[f"todo/{todo.id}/content"], fields[f"todo/{todo.id}/status"] = todo.content, todo.status
        fields.update({f"memory/{number}": fact for number, fact in enumerate(self.episode.memories, 1)})
        return fields

    def copy(self) -> RepositorySession | None:
        """Return an exact copy where nothing runs in the background; None elsewhere."""
        if self.episode.shells or self._box.inside():
            return None
        twin = RepositorySession(self._clones, self._box.files())
        twin._start, twin._commit, twin.result = self._start, self._commit, self.result
        twin.episode.todos, twin.episode.memories = self.episode.todos, self.episode.memories
        twin.episode.step = self.episode.step
        return twin

    def inspect(self, command: str) -> Inspection:
        """Run a command in the root of a copy, or the named tests of a row over a clean copy."""
        if command == NAMED:
            return graded(self._clones, self._box.files(), self._start.hidden.get("row", {}))
        return run_on_copy(self._clones.confinement, self._box.files(), command, self._clones.root)

    @property
    def alive(self) -> bool:
        """Whether the sandbox runs."""
        return self._box.alive

    @property
    def pids(self) -> list[int]:
        """The process of the sandbox."""
        return [self._box.pid] if self._box.alive else []

    def close(self) -> None:
        """End all that runs; the files are gone with it."""
        self._box.close()


class RepositoryMachine(LiveMachine):
    """One episode in a repository, whose answers both scaffolds can print."""

    noun = "live repository"

    def observation_in(self, dialect: str) -> str:
        """Return the answer to the last action as another scaffold prints it."""
        session = self._session()
        assert isinstance(session, RepositorySession)
        return self._engine.bounded(session.shown_in(dialect))

    def spans_in(self, dialect: str) -> tuple[Span, ...]:
        """Return the pieces of it that vary."""
        return self._engine.masks.spans(self.observation_in(dialect))
