"""One real shell, the files that it works on, and its screen."""

from __future__ import annotations

import math
import os
import re
import shlex
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentworld_gym.base.documents.strict import validated
from agentworld_gym.core.engines import Inspection, Scalar
from agentworld_gym.domains.terminal.engine.machine import CONFIRM
from agentworld_gym.domains.terminal.live.config import ShellConfig, ShellState
from agentworld_gym.domains.terminal.live.pseudo_terminal import MARKED, PseudoTerminal
from agentworld_gym.domains.terminal.live.shell_memory import DUMPED, KEY, PRESSED, ShellMemory, dump_job, memory_of
from agentworld_gym.kit.live import Confinement, LiveAbout, LiveSession, LiveStart
from agentworld_gym.kit.live.box import SandboxBox, begin_task, run_on_copy
from agentworld_gym.kit.live.confinement import HOME
from agentworld_gym.kit.live.file_archive import FileArchive

_VARIABLES = {"TERM": "screen", "LESSHISTFILE": "-", "COLUMNS": "", "LINES": ""}
"""What a shell sees beside the variables of all commands; an empty one is not set."""

_START = """
HISTFILE= HISTCONTROL= RANDOM=1
umask 022
{restored}
{marked}
\\builtin bind -x '"{key}": {pressed}'
\\command rm -f /dev/shm/.start
{status}
"""
"""The script that a shell reads at its start."""

_SHELL = r"""
printf %s {start} >/dev/shm/.start
( cd {cwd} 2>/dev/null || cd /; exec env -i {env} setsid --ctty bash --noprofile --rcfile /dev/shm/.start -i \
  <&$terminal >&$terminal 2>&$terminal {{jobs}}<&- {{answers}}>&- {{terminal}}<&- ) &
"""

_UNTOLD = re.compile(
    r"RANDOM|INPUTRC|PROMPT_COMMAND|\b(?:bind|getopts|stty)\b|\btrap\b.*\b(?:DEBUG|RETURN)\b|(?:\A|[\n;&|]) *reset\b"
)
"""What a shell does not tell of itself: its random numbers, what keys do, how far it is in an argument, how its
terminal is set; and what it would do once more when it is asked."""


class ShellSession(LiveSession):
    """A shell in a sandbox.

    Args:
        config: What the user said.
        confinement: How commands run.
        files: What lies in the home folder and in /tmp.
        image: The folder of a root file system; None shows the programs of this machine.
        cwd: The folder in which the shell of an episode begins.
        memory: What the shell knows and where it stands; None for a new one.

    Raises:
        EngineError: It cannot be started.
    """

    def __init__(
        self,
        config: ShellConfig,
        confinement: Confinement,
        files: FileArchive,
        image: Path | None,
        cwd: str,
        memory: ShellMemory | None = None,
    ) -> None:
        self._config, self._confinement, self._image, self._cwd = config, confinement, image, cwd
        self._terminal = PseudoTerminal()
        self._box: SandboxBox | None = None
        self._files = files
        self._tells_all, self._typed = True, ""
        """Whether the shell can tell all that it knows, and the last keys."""
        try:
            self._box = SandboxBox(confinement, files, image, self._terminal.slave)
            self._start_shell(memory)
        except BaseException:
            self.close()
            raise
        self._terminal.screen.begin_capture()

    def _start_shell(self, memory: ShellMemory | None = None) -> None:
        box = self._open()
        variables = {**_VARIABLES, **self._confinement.variables(), "TERM": _VARIABLES["TERM"]}
        start = _START.format(
            marked=MARKED,
            key=KEY,
            pressed=PRESSED,
            restored=memory.script if memory else "",
            status=memory.last if memory else ":",
        )
        env = " ".join(shlex.quote(f"{name}={value}") for name, value in variables.items() if value)
        cwd = memory.cwd if memory else self._cwd
        box.begin(_SHELL.format(start=shlex.quote(start), cwd=shlex.quote(cwd), env=env))
        self._terminal.started(self._config.limits.start_seconds, lambda: box.alive)

    def _open(self) -> SandboxBox:
        assert self._box is not None
        return self._box

    def about(self) -> LiveAbout:
        """Return what lies in the copy, and what a language world is told of it."""
        version = self._open().run("bash --version | head -n 1").output.strip()
        state = {"user": "user", "host": "live", "home": HOME, "cwd": self._cwd, "programs": version}
        return LiveAbout(
            {"files": self._files.digest, "bash": version}, {"state": {**state, "files": self._files.texts()}}
        )

    def begin(self, start: LiveStart) -> str:
        """Write the files of a task, and run its setup."""
        wanted = validated(ShellState, dict(start.state), "task state")
        begin_task(self._open(), self._files, wanted.files, wanted.setup, self._cwd)
        return self._terminal.screen.capture()

    def act(self, action: Any) -> str:
        """Type batches of keys, and return a capture of the screen."""
        if not action:
            return CONFIRM
        until = time.monotonic() + self._config.limits.step_seconds
        for entry in action if isinstance(action, list | tuple) else ():
            if not isinstance(entry, Mapping):
                continue
            left = max(until - time.monotonic(), 0.0)
            seconds = min(max(_seconds(entry.get("duration", 1.0)), self._config.wait_seconds), left)
            keys = str(entry.get("keystrokes", ""))
            self._typed = self._typed[-20:] + keys  # A word may come in pieces.
            self._tells_all = self._tells_all and _UNTOLD.search(self._typed) is None
            self._terminal.type(keys, seconds, left)
            self._open().check()
            if not self._terminal.is_there:
                self._terminal.screen.leave_whole()
                self._start_shell()
        shown = self._terminal.screen.capture()
        if self._terminal.at_prompt:
            self._terminal.screen.begin_capture()
        return shown

    def state(self) -> dict[str, Scalar]:
        """Return every file by its path, folders, links, and permissions that are not usual."""
        return self._open().files().state()

    def copy(self) -> ShellSession | None:
        """Return an exact copy where the shell waits at its prompt and nothing else runs; None elsewhere."""
        memory = self._memory()
        if memory is None:
            return None
        twin = self._with(self._open().files(), memory)
        try:
            if twin._memory() == memory:
                return twin
        except BaseException:
            twin.close()
            raise
        twin.close()
        return None

    def _memory(self) -> ShellMemory | None:
        """Return what the shell knows; None where that is not all that there is to copy."""
        box, shell = self._open(), self._terminal.shell
        if not self._tells_all or not self._terminal.fresh or not self._terminal.is_there or box.inside() != [shell]:
            return None
        try:
            if {*os.listdir(f"/proc/{shell}/fd")} != {"0", "1", "2", "255"}:
                return None
            if limits_of(shell) != limits_of(box.first):
                return None
        except OSError:
            return None
        box.run(dump_job(), "/")
        if not self._terminal.press_unseen(DUMPED, self._config.limits.step_seconds):
            return None
        return memory_of(box)

    def probe(self) -> ShellSession:
        """Return a new shell over a copy of the files."""
        return self._with(self._open().files(), None)

    def _with(self, files: FileArchive, memory: ShellMemory | None) -> ShellSession:
        twin = ShellSession(self._config, self._confinement, files, self._image, self._cwd, memory)
        if memory is not None:
            twin._files, twin._typed = self._files, self._typed
        return twin

    def inspect(self, command: str) -> Inspection:
        """Run a command in a clean shell over a copy of the files."""
        return run_on_copy(self._confinement, self._open().files(), command, self._cwd, self._image)

    @property
    def alive(self) -> bool:
        """Whether the sandbox runs."""
        return self._box is not None and self._box.alive

    @property
    def pids(self) -> list[int]:
        """The process of the sandbox."""
        return [self._open().pid] if self.alive else []

    def close(self) -> None:
        """End the shell and all that it started; its files are gone with it."""
        if self._box is not None:
            self._box.close()
        self._terminal.close()


def limits_of(pid: int) -> str:
    """Return the limits of a process, as the kernel tells them."""
    with open(f"/proc/{pid}/limits", encoding="ascii") as file:
        return file.read()


def _seconds(duration: Any) -> float:
    try:
        seconds = float(duration)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return max(seconds, 0.0) if math.isfinite(seconds) else 0.0
