"""The sandboxed bash: one interpreter with a virtual file system, whose output is made to equal that of a real bash."""

from __future__ import annotations

import re
import shlex
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from math import inf
from random import Random
from time import time
from typing import Any

from bashkit import Bash, BashError, ExecutionProfile, FileSystem

from agentworld_gym.engines import EngineError
from agentworld_gym.engines.terminal.builtins import builtins
from agentworld_gym.engines.terminal.clock import Clock
from agentworld_gym.engines.terminal.context import MAX_COMMANDS, Context
from agentworld_gym.engines.terminal.host_files import names_host, replaced_host_files
from agentworld_gym.engines.terminal.keyboard import EnteredScript
from agentworld_gym.engines.terminal.messages import bash_output
from agentworld_gym.engines.terminal.script_rewriting import clock_variables, rewritten
from agentworld_gym.engines.terminal.state import TerminalState, moment, system_files
from agentworld_gym.errors import SpecError
from agentworld_gym.process.interrupts import deferred_interrupt
from agentworld_gym.process.open_files import TooManyFiles, need_files

MAX_LOOPS = 100_000
LAST_RESORT_SECONDS = 2.0
"""The real time, in seconds, that a script may run whose work the sandbox does not count."""

SLEEP = "sleep"
"""The name of the command that takes virtual time."""

USUAL_MODES = {"file": 0o644, "directory": 0o755}
"""The permissions of what is made without others being asked for."""

SYSTEM = frozenset(("bin", "dev", "etc", "proc", "usr"))
"""The folders at the top that belong to the system, and are no part of the state."""
_CANCELLED = "execution cancelled\n"
_NATIVE_TIMES = re.compile(r"-nt\b|-ot\b|-newer|-printf\b|-ls\b|-[amc](?:time|min)\b")
_INSTALLS = re.compile(r"\binstall\b")
_AGES = re.compile(r"-[amc](?:time|min)\b|-newer[amcB]t\b")


_FILES = 3
"""The number of files that one interpreter keeps open."""


def need_shell_files() -> None:
    """Make sure that this process can open the files of another interpreter.

    Raises:
        EngineError: the process cannot open enough files.
    """
    try:
        need_files(_FILES, "a shell")
    except TooManyFiles as error:
        raise EngineError(str(error)) from error


def keeps_sleep(entered: EnteredScript) -> bool:
    """Return whether a script may leave something behind that sleeps later: a function, an alias, a file.

    >>> from agentworld_gym.engines.terminal.parser import parse
    >>> [keeps_sleep(EnteredScript(text, tuple(parse(text)))) for text in ("sleep 5; ls", "alias nap='sleep 5'")]
    [False, True]
    """
    script = entered.script
    count = sum(command.words[:1] == [SLEEP] for command in entered.commands)
    return script.count(SLEEP) > count or (count > 0 and ("()" in script or "function" in script))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a script printed, in order, and how it ended."""

    text: str
    status: int
    stuck: bool = False
    """Whether the script would run for ever."""
    wakes: float | None = None
    """The virtual time at which the sleep ends in which the script was left; none where it was not left."""


@dataclass(frozen=True, slots=True)
class _Start:
    """A shell before anything was typed: its folder, and a snapshot of all of its state but the files."""

    cwd: str
    snapshot: bytes


class Shell:
    """A bash that runs one complete script at a time and can be copied."""

    def __init__(self, context: Context, bash: Bash, cwd: str) -> None:
        self.context = context
        self._bash: Bash | None = bash
        self._restore: tuple[bytes, dict[str, float]] | None = None
        self._afresh = False
        self._start = _Start(cwd, bash.snapshot(exclude_filesystem=True))
        self.cwd = cwd

    @classmethod
    def start(cls, state: TerminalState, seed: int, max_commands: int = MAX_COMMANDS) -> Shell:
        """Start a shell in the given state.

        A script of more than `max_commands` commands counts as one that never ends.

        Raises:
            SpecError: the files, folders and links of the state cannot be made.
        """
        context = Context(
            user=state.user,
            host=state.host,
            home=state.home,
            clock=Clock(moment(state.clock).timestamp()),
            random=Random(f"terminal {seed}"),
            max_commands=max_commands,
            names_host=any(names_host(file.content) for file in state.files.values()),
            names_sleep=any(SLEEP in file.content for file in state.files.values()),
        )
        need_shell_files()
        with deferred_interrupt():
            bash = Bash(cwd=state.cwd, env=context.environment() | state.env, **_settings(context))
        context.files = bash.fs()
        try:
            _furnish(context, state)
        except BaseException:
            context.files = None  # Otherwise the interpreter and its builtins keep each other open.
            raise
        _set_times(bash, {p: moment(f.mtime).timestamp() for p, f in state.files.items() if f.mtime})
        bash.execute_sync(
            f"cd {shlex.quote(state.cwd)}; unset OLDPWD EPOCHSECONDS EPOCHREALTIME; shopt -s expand_aliases"
        )
        return cls(context, bash, state.cwd)

    @property
    def bash(self) -> Bash:
        """The interpreter; a copied shell makes its own when it is first needed."""
        if self._bash is None:
            assert self._restore is not None
            snapshot, times = self._restore
            self.context.clock = self.context.clock.restarted()
            need_shell_files()
            with deferred_interrupt():
                self._bash = Bash.from_snapshot(snapshot, **_settings(self.context))
                if self._afresh:
                    self._bash.restore_snapshot(self._start.snapshot)
            self.context.files = self._bash.fs()
            _set_times(self._bash, times)
        return self._bash

    @property
    def files(self) -> FileSystem:
        """The files of the interpreter, which is made if there is none."""
        assert self.bash is not None
        files = self.context.files
        assert files is not None
        return files

    def run(self, entered: EnteredScript, status: int, until: float = inf) -> Outcome:
        """Run a complete script, up to the sleep that ends after a virtual time.

        A script that was left in a sleep cannot go on. To see more of it, a copy of the shell from before is run up to
        a later time.

        Args:
            entered: The script.
            status: The value of `$?` at its start.
            until: The virtual time at which it is left.

        Raises:
            EngineError: the script did not end within a very generous wall-clock time.
        """
        bash, context = self.bash, self.context
        clock = context.clock
        self._restore, self._afresh = None, False
        typed = entered.script
        context.names_host = context.names_host or names_host(typed)
        shift = time() - clock.now if _AGES.search(typed) else 0.0
        if _NATIVE_TIMES.search(typed):
            _set_times(bash, {path: when + shift for path, when in self._times()})
        clock.mark()
        context.until, context.leave, context.wakes = until, bash.cancel, None
        prefix = f"RANDOM={context.random.randrange(1 << 15)}\n" + clock_variables(typed, clock.now, clock.start)
        if status:
            prefix += f"(exit {status})\n"
        chunks: list[tuple[str, str]] = []
        try:
            stands_in = replaced_host_files(bash, context) if context.names_host else nullcontext()
            with deferred_interrupt(), stands_in:
                result = bash.execute_sync(
                    prefix + rewritten(typed, entered.commands, context), lambda out, err: chunks.append((out, err))
                )
        except BashError as error:
            raise EngineError(f"the sandbox gave up: {error}") from error
        finally:
            context.leave = None
        left = context.wakes is not None
        if left:
            bash.clear_cancel()
            chunks = [(out, "" if err.endswith(_CANCELLED) else err) for out, err in chunks]
        if shift:
            _set_times(bash, {path: min(when - shift, clock.now) for path, when in self._raw()})
        if context.times:
            _set_times(bash, context.times)
            context.times.clear()
        if context.modes:
            self._keep_modes()
        if _INSTALLS.search(typed):
            self._learn_modes()
        self.cwd = bash.shell_state().cwd
        text, stuck = bash_output(chunks, "" if left else result.error or "", typed, self.cwd)
        if stuck is None:
            raise EngineError(f"a command did not end within {LAST_RESORT_SECONDS:g} s of real time")
        return Outcome(text, result.exit_code, stuck, context.wakes)

    def last_background(self) -> str:
        """The process number of the last background job."""
        return self.bash.execute_sync('echo "$!"').stdout.strip()

    def copy(self) -> Shell:
        """Return an exact copy, made of a snapshot that is kept while nothing changes."""
        if self._restore is None:
            start = float(int(self.context.clock.start))
            times = {path: time for path, time in self._times() if time != start}
            self._restore, self._afresh = (self.bash.snapshot(), times), False
        twin = object.__new__(Shell)
        twin._bash, twin._restore, twin._afresh = None, self._restore, self._afresh
        twin._start, twin.cwd = self._start, self.cwd
        twin.context = self.context.copy()
        return twin

    def fields(self) -> dict[str, Any]:
        """Return all that the shell is, as plain JSON data."""
        twin = self.copy()
        assert twin._restore is not None
        snapshot, times = twin._restore
        return {
            "snapshot": _text(snapshot),
            "times": times,
            "afresh": twin._afresh,
            "start": {"cwd": self._start.cwd, "snapshot": _text(self._start.snapshot)},
            "cwd": self.cwd,
            "context": self.context.fields(),
        }

    @classmethod
    def restore(cls, fields: Mapping[str, Any]) -> Shell:
        """Return the shell of these fields, the inverse of `fields`."""
        twin = object.__new__(cls)
        twin._bash, twin._restore = None, (_bytes(fields["snapshot"]), dict(fields["times"]))
        twin._afresh, twin.cwd = fields["afresh"], fields["cwd"]
        twin._start = _Start(fields["start"]["cwd"], _bytes(fields["start"]["snapshot"]))
        twin.context = Context.restore(fields["context"])
        return twin

    def afresh(self) -> Shell:
        """Return a shell as it was at the start, over a copy of the present files.

        Functions, aliases, options, variables, traps and the history of the session are gone.
        """
        twin = self.copy()
        twin._afresh, twin.cwd = True, self._start.cwd
        twin.context.history.clear()
        return twin

    def close(self) -> None:
        """Free the interpreter."""
        self._bash = self._restore = None
        self.context.files = None

    def walk(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield all paths outside the system folders with their metadata."""
        files = self.files
        folders = ["/"]
        while folders:
            folder = folders.pop()
            for entry in sorted(files.read_dir(folder), key=lambda entry: str(entry["name"])):
                if folder == "/" and entry["name"] in SYSTEM:
                    continue
                path = f"{folder.rstrip('/')}/{entry['name']}"
                yield path, entry["metadata"]
                if entry["metadata"]["file_type"] == "directory":
                    folders.append(path)

    def _times(self) -> Iterator[tuple[str, float]]:
        """Return the virtual times of all files outside the system folders."""
        virtual = self.context.clock.virtual
        for path, metadata in self.walk():
            if metadata["file_type"] != "symlink":
                yield path, virtual(metadata["modified"])

    def _raw(self) -> Iterator[tuple[str, float]]:
        for path, metadata in self.walk():
            if metadata["file_type"] != "symlink":
                yield path, float(metadata["modified"])

    def _keep_modes(self) -> None:
        """Restore permissions that the sandbox lost when it wrote to a file."""
        files, modes = self.context.files, self.context.modes
        assert files is not None
        for path, mode in list(modes.items()):
            try:
                now = files.stat(path)["mode"] & 0o7777
            except (RuntimeError, OSError):
                del modes[path]
            else:
                if now != mode:
                    files.chmod(path, mode)

    def _learn_modes(self) -> None:
        """Remember unusual permissions that a command of the sandbox itself has set."""
        for path, metadata in self.walk():
            mode = metadata["mode"] & 0o7777
            if path != "/tmp" and mode != USUAL_MODES.get(metadata["file_type"], mode):
                self.context.modes[path] = mode


def _text(snapshot: bytes) -> str:
    return b64encode(snapshot).decode()


def _bytes(text: str) -> bytes:
    return b64decode(text)


def _furnish(context: Context, state: TerminalState) -> None:
    files, modes = context.files, context.modes
    assert files is not None
    place = ""
    try:
        for place in (state.home, state.cwd, "/tmp", *state.dirs):
            files.mkdir(place, recursive=True)
        for place, text in system_files(state).items():
            with suppress(RuntimeError):  # the sandbox makes some variables up itself
                files.write_file(place, text.encode())
        for place, file in state.files.items():
            files.mkdir(place.rpartition("/")[0] or "/", recursive=True)
            files.write_file(place, file.content.encode("utf-8", "replace"))
            if int(file.mode, 8) != 0o644:
                modes[place] = int(file.mode, 8)
                files.chmod(place, modes[place])
        for place, target in state.links.items():
            files.mkdir(place.rpartition("/")[0] or "/", recursive=True)
            files.symlink(target, place)
    except (RuntimeError, OSError, ValueError) as error:
        raise SpecError("task state", place, str(error), "a path that can be made beside the others") from error


def _settings(context: Context) -> dict[str, Any]:
    return {
        "username": context.user,
        "hostname": context.host,
        "max_commands": context.max_commands,
        "max_loop_iterations": MAX_LOOPS,
        "timeout_seconds": LAST_RESORT_SECONDS,
        "profile": ExecutionProfile.Interactive,
        "custom_builtins": builtins(context),
    }


def _set_times(bash: Bash, times: Mapping[str, float]) -> None:
    if times:
        lines = (f"\\touch -d @{when:.0f} {shlex.quote(path)}" for path, when in times.items())
        bash.execute_sync("\n".join(lines))
