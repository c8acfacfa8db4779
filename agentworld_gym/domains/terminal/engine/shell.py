"""The sandboxed bash: one interpreter with a virtual file system, whose output is made to equal that of a real bash."""

from __future__ import annotations

import re
import shlex
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass
from functools import cache, partial
from math import inf
from posixpath import join, normpath
from random import Random
from types import NoneType
from typing import Any, TypeVar

from bashkit import Bash, BashError, ExecutionProfile, FileSystem

from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.process.interrupts import deferred_interrupt
from agentworld_gym.base.process.open_files import TooManyFiles, need_files
from agentworld_gym.core.engines import EngineError, OutOfTime
from agentworld_gym.domains.terminal.engine.builtins import builtins
from agentworld_gym.domains.terminal.engine.context import MAX_COMMANDS, ShellContext, VirtualClock
from agentworld_gym.domains.terminal.engine.host_files import (
    names_host,
    names_release,
    replaced_host_files,
    replaced_release,
)
from agentworld_gym.domains.terminal.engine.isolated_shell import checked, only_the_engines_errors, run_isolated
from agentworld_gym.domains.terminal.engine.keyboard import EnteredScript
from agentworld_gym.domains.terminal.engine.messages import bash_output
from agentworld_gym.domains.terminal.engine.script_rewriting import clock_variables, rewritten
from agentworld_gym.domains.terminal.engine.script_safety import is_safe_script
from agentworld_gym.domains.terminal.engine.state import TerminalState, moment, system_files

T = TypeVar("T")

MAX_LOOPS = 100_000
LAST_RESORT_SECONDS = 2.0
"""The real time, in seconds, that a script may run whose work the sandbox does not count."""

SLEEP = "sleep"
"""The name of the command that takes virtual time."""

USUAL_MODES = {"file": 0o644, "directory": 0o755}
"""The permissions of what is made without others being asked for."""

SYSTEM = frozenset(("bin", "dev", "etc", "proc", "usr"))
"""The folders at the top that belong to the system, and are no part of the state."""
KEPT_SYSTEM = ("/bin", "/etc", "/usr")
"""Those of them that keep what is written there from one line to the next."""
_CANCELLED = "execution cancelled\n"
_NATIVE_TIMES = re.compile(r"-nt\b|-ot\b|-newer|-printf\b|-ls\b|-[amc](?:time|min)\b")
_LIMITED = re.compile(r"\btimeout\s+[-+.\d$\"']")
_REDIRECTS = re.compile(r"[>|`]|\$\(")
_INSTALLS = re.compile(r"\binstall\b")
_AGES = re.compile(r"-[amc](?:time|min)\b|-newer[amcB]t\b")


_APART = f"{__name__}:done"
_PLAIN_OPTIONS = frozenset(("SHOPT_expand_aliases",))
"""The options of a shell in which a line runs what it says, and nothing else beside it."""
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


def takes_time(text: str) -> bool:
    """Return whether a text may name a command that takes virtual time: `sleep`, or `timeout` with its limit.

    >>> [takes_time(text) for text in ("sleep 5", "timeout 5 ./run.sh", "timeout = 30")]
    [True, True, False]
    """
    return SLEEP in text or ("timeout" in text and _LIMITED.search(text) is not None)


def keeps_sleep(entered: EnteredScript) -> bool:
    """Return whether a script may leave something behind that takes time later: a function, an alias, a file.

    >>> from agentworld_gym.domains.terminal.engine.parser import parse
    >>> [keeps_sleep(EnteredScript(text, tuple(parse(text)))) for text in ("sleep 5; ls", "alias nap='sleep 5'")]
    [False, True]
    """
    script = entered.script
    count = sum(command.words[:1] in ([SLEEP], ["timeout"]) for command in entered.commands)
    named = script.count(SLEEP) + (len(_LIMITED.findall(script)) if "timeout" in script else 0)
    return named > count or (count > 0 and ("()" in script or "function" in script))


@dataclass(frozen=True, slots=True)
class ScriptOutcome:
    """What a script printed, in order, and how it ended."""

    text: str
    status: int
    stuck: bool = False
    """Whether the script would run for ever."""
    wakes: float | None = None
    """The virtual time at which the sleep ends in which the script was left; none where it was not left."""

    @classmethod
    def restore(cls, fields: Mapping[str, Any]) -> ScriptOutcome:
        """Return the outcome of these fields, as `asdict` gives them.

        Raises:
            LookupError, TypeError: They are none.
        """
        text, status, stuck = checked(fields["text"], str), checked(fields["status"], int), fields["stuck"]
        return cls(text, status, checked(stuck, bool), checked(fields["wakes"], float, NoneType))


@dataclass(frozen=True, slots=True)
class _Start:
    """A shell before anything was typed: its folder, and a snapshot of all of its state but the files."""

    cwd: str
    snapshot: bytes


class Shell:
    """A bash that runs one complete script at a time and can be copied."""

    seconds: float | None = None
    """How long a script may run whose work is not counted, in seconds; None for `LAST_RESORT_SECONDS`."""
    waited: float = 0.0
    """How long scripts of this shell have waited for a process, in seconds of real time; a copy begins at 0."""

    def __init__(self, context: ShellContext, bash: Bash, cwd: str) -> None:
        self.context = context
        self._bash: Bash | None = bash
        self._restore: tuple[bytes, dict[str, float]] | None = None
        self._afresh = False
        self._plain: bool | None = True
        self._start = _Start(cwd, bash.snapshot(exclude_filesystem=True))
        self.cwd = cwd

    @classmethod
    def start(cls, state: TerminalState, seed: int, max_commands: int = MAX_COMMANDS) -> Shell:
        """Start a shell in the given state.

        A script of more than `max_commands` commands counts as one that never ends.

        Raises:
            SpecError: the files, folders and links of the state cannot be made.
        """
        context = ShellContext(
            user=state.user,
            host=state.host,
            home=state.home,
            clock=VirtualClock(moment(state.clock).timestamp()),
            random=Random(f"terminal {seed}"),
            max_commands=max_commands,
            names_host=any(names_host(file.content) for file in state.files.values()),
            names_sleep=any(takes_time(file.content) for file in state.files.values()),
        )
        need_shell_files()
        with deferred_interrupt():
            bash = Bash(cwd=state.cwd, env=context.environment() | state.env, **_settings(context))
        context.take_files(bash.fs())
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
                self._bash = Bash.from_snapshot(snapshot, **_settings(self.context, self.seconds))
                if self._afresh:
                    self._bash.restore_snapshot(self._start.snapshot)
            self.context.take_files(self._bash.fs())
            if self.plain:
                _set_times(self._bash, times)
            elif times:  # A function of the user's own may have the name of a command that sets times.
                own = self._bash.snapshot(exclude_filesystem=True)
                self._bash.restore_snapshot(self._start.snapshot)
                _set_times(self._bash, times)
                self._bash.restore_snapshot(own)
        return self._bash

    @property
    def plain(self) -> bool:
        """Whether no function, alias or option of the user's own changes what a line runs.

        A harmless line leaves it so.
        """
        if self._plain is None:
            self._plain = _is_plain(self.bash)
        return self._plain

    @property
    def files(self) -> FileSystem:
        """The files of the interpreter, which is made if there is none."""
        assert self.bash is not None
        files = self.context.files
        assert files is not None
        return files

    def content(self, name: str) -> str | None:
        """Return the text of a file, by its name as a line writes it: nothing where there is none, None if no text."""
        path = normpath(join(self.cwd, name))
        if path.startswith(("/dev/", "/proc/")):
            return None
        try:
            return self.files.read_file(path).decode() if self.files.exists(path) else ""
        except (RuntimeError, OSError, ValueError):
            return None

    def on_path(self, name: str) -> bool:
        """Whether there is a file of a name in the folders in which programs are looked for."""
        folders = self.bash.shell_state().variables.get("PATH", "").split(":")
        return any(self.files.exists(normpath(join(self.cwd, folder, name))) for folder in folders)

    def run(self, entered: EnteredScript, status: int, until: float = inf) -> ScriptOutcome:
        """Run a complete script, up to the sleep that ends after a virtual time.

        A script that was left in a sleep cannot go on. To see more of it, a copy of the shell from before is run up to
        a later time.

        Args:
            entered: The script.
            status: The value of `$?` at its start.
            until: The virtual time at which it is left.

        Raises:
            LineLost: the script broke the process in which it ran, or did not end there; the shell is as before.
            EngineError: the script did not end within a very generous wall-clock time.
        """
        if self.plain and is_safe_script(entered.script, entered.commands, scripts=self):
            return self.run_here(entered, status, until)
        job = {"entered": entered.fields(), "status": status, "until": until}
        return self._done_apart(job, ScriptOutcome.restore)

    def _done_apart(self, job: Mapping[str, Any], read: Callable[[Any], T]) -> T:
        """Do something in a process of its own, and become the shell that is there afterwards."""
        fields = self.fields()
        start, asked = fields["start"], time.monotonic()

        def begins() -> None:
            self.waited += time.monotonic() - asked

        def came_back(answer: Mapping[str, Any]) -> tuple[Shell, T]:
            return Shell.restore({**answer["shell"], "start": start}), read(answer["outcome"])

        job = {**job, "shell": fields, "seconds": LAST_RESORT_SECONDS}
        after, outcome = run_isolated(_APART, job, LAST_RESORT_SECONDS, came_back, begins)
        self.close()
        self._restore, self._afresh, self.cwd, self._plain = after._restore, after._afresh, after.cwd, None
        self.context.become(after.context)
        return outcome

    def execute(self, commands: str) -> str:
        """Run commands of the engine's own in the shell, and return what they print.

        Raises:
            LineLost: what the user made of the shell breaks the process in which they run.
        """
        return self.execute_here(commands) if self.plain else self._done_apart({"commands": commands}, _printed)

    def execute_here(self, commands: str) -> str:
        """Run commands of the engine's own in this process, whatever the user made of the shell."""
        self._restore, self._afresh = None, False
        return self.bash.execute_sync(commands).stdout

    def run_here(self, entered: EnteredScript, status: int, until: float = inf) -> ScriptOutcome:
        """Run a complete script in this process, as `run` does; one that is not harmless may break it.

        Raises:
            EngineError: the script did not end within a very generous wall-clock time, or ran out of memory.
        """
        bash, context = self.bash, self.context
        clock = context.clock
        self._restore, self._afresh = None, False
        typed = entered.script
        context.names_host = context.names_host or names_host(typed)
        shift = time.time() - clock.now if _AGES.search(typed) else 0.0
        if _NATIVE_TIMES.search(typed):
            _set_times(bash, {path: when + shift for path, when in self._times()})
        clock.mark()
        context.until, context.wakes, context.failure = until, None, ""
        context.shells, context.kept, context.unshown = [bash.cancel], 0, []
        context.interpreter = partial(_interpreter, context, self.seconds)
        prefix = f"RANDOM={context.random.randrange(1 << 15)}\n" + clock_variables(typed, clock.now, clock.start)
        if status:
            prefix += f"(exit {status})\n"
        chunks: list[tuple[str, str]] = []
        try:
            stands_in = replaced_host_files(bash, context) if context.names_host else nullcontext()
            release = replaced_release(bash) if names_release(typed) else nullcontext()
            with deferred_interrupt(), stands_in, release, only_the_engines_errors():
                result = bash.execute_sync(
                    prefix + rewritten(typed, entered.commands, context),
                    lambda out, err: chunks.extend(context.chunks.pop((out, err), [(out, err)])),
                )
        except BashError as error:
            raise EngineError(f"the sandbox gave up: {error}") from error
        finally:
            context.shells, context.interpreter = [], None
        if context.failure:
            raise EngineError(context.failure)
        left = context.wakes is not None
        if left:
            bash.clear_cancel()
            chunks = [(out, "" if err.endswith(_CANCELLED) else err) for out, err in chunks]
            if not _REDIRECTS.search(typed):
                chunks += context.unshown
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
            limit = LAST_RESORT_SECONDS if self.seconds is None else self.seconds
            raise OutOfTime(f"a command did not end within {limit:g} s of real time")
        return ScriptOutcome(text, result.exit_code, stuck, context.wakes)

    def last_background(self) -> str:
        """The process number of the last background job."""
        return self.execute('echo "$!"').strip()

    def copy(self) -> Shell:
        """Return an exact copy, made of a snapshot that is kept while nothing changes."""
        if self._restore is None:
            start = float(int(self.context.clock.start))
            times = {path: when for path, when in self._times() if when != start}
            self._restore, self._afresh = (self.bash.snapshot(), times), False
        twin = object.__new__(Shell)
        twin._bash, twin._restore, twin._afresh = None, self._restore, self._afresh
        twin._start, twin.cwd, twin._plain = self._start, self.cwd, self._plain
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
        """Return the shell of these fields, the inverse of `fields`.

        Raises:
            AttributeError, LookupError, TypeError, ValueError: They are none.
        """
        twin = object.__new__(cls)
        times = {path: checked(when, int, float) for path, when in fields["times"].items()}
        twin._bash, twin._restore = None, (_bytes(fields["snapshot"]), times)
        twin._afresh, twin.cwd, twin._plain = checked(fields["afresh"], bool), checked(fields["cwd"], str), None
        twin._start = _Start(fields["start"]["cwd"], _bytes(fields["start"]["snapshot"]))
        twin.context = ShellContext.restore(fields["context"])
        return twin

    def afresh(self) -> Shell:
        """Return a shell as it was at the start, over a copy of the present files.

        Functions, aliases, options, variables, traps and the history of the session are gone.
        """
        twin = self.copy()
        twin._afresh, twin.cwd, twin._plain = True, self._start.cwd, True
        twin.context.history.clear()
        return twin

    def close(self) -> None:
        """Free the interpreter."""
        self._bash = self._restore = None
        self.context.files = None

    def walk(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield all paths outside the system folders with their metadata."""
        return _walk(self.files, "/", SYSTEM)

    def added_to_system(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the paths in the system folders that somebody made, with their metadata.

        What is there at the start is read-only, and `/dev` and `/proc` are made anew for each line.
        """
        fresh = _fresh_system()
        for folder in KEPT_SYSTEM:
            for path, metadata in _walk(self.files, folder):
                if path not in fresh:
                    yield path, metadata

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


def done(job: Mapping[str, Any]) -> dict[str, Any]:
    """Run a script or commands in a shell, in a process of its own; return the shell afterwards, and what came of it.

    Args:
        job: What `Shell` asks for.
    """
    shell = Shell.restore(job["shell"])
    shell.seconds, shell._plain = job["seconds"], True  # In this process nothing has to be kept from harm.
    outcome: Any
    try:
        if "commands" in job:
            outcome = shell.execute_here(job["commands"])
        else:
            outcome = asdict(shell.run_here(EnteredScript.restore(job["entered"]), job["status"], job["until"]))
        fields = shell.fields()
        del fields["start"]  # It is as it was.
        return {"shell": fields, "outcome": outcome}
    except EngineError as error:
        return {"failed": str(error)}
    except (RuntimeError, ValueError, OSError) as error:
        return {"failed": f"the sandbox gave up: {error}"}
    finally:
        shell.close()


def _is_plain(bash: Bash) -> bool:
    """Whether a shell has no functions, no aliases, and no options beside the usual ones."""
    state = bash.shell_state()
    options = {name for name, value in state.variables.items() if name.startswith("SHOPT_") and value == "1"}
    if state.aliases or options - _PLAIN_OPTIONS:
        return False
    full, bare = (bash.snapshot(exclude_filesystem=True, exclude_functions=without) for without in (False, True))
    return len(full) == len(bare)


def _printed(told: Any) -> str:
    return str(checked(told, str))


def _text(snapshot: bytes) -> str:
    return b64encode(snapshot).decode()


def _bytes(text: str) -> bytes:
    return b64decode(text, validate=True)


def _furnish(context: ShellContext, state: TerminalState) -> None:
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


def _walk(files: FileSystem, top: str, without: Container[str] = frozenset()) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield all paths below a folder with their metadata, but for some of the names in that folder itself."""
    folders = [top]
    while folders:
        folder = folders.pop()
        for entry in sorted(files.read_dir(folder), key=lambda entry: str(entry["name"])):
            if folder == top and entry["name"] in without:
                continue
            path = f"{folder.rstrip('/')}/{entry['name']}"
            yield path, entry["metadata"]
            if entry["metadata"]["file_type"] == "directory":
                folders.append(path)


@cache
def _fresh_system() -> frozenset[str]:
    """Return the paths that every shell has in its system folders."""
    shell = Shell.start(TerminalState(), 0)
    paths = frozenset(path for folder in KEPT_SYSTEM for path, _ in _walk(shell.files, folder))
    shell.close()
    return paths


def _interpreter(
    context: ShellContext, seconds: float | None, *, more: Mapping[str, Callable[..., Any]], **given: Any
) -> Bash:
    settings = _settings(context, seconds)
    return Bash(**given, **{**settings, "custom_builtins": {**settings["custom_builtins"], **more}})


def _settings(context: ShellContext, seconds: float | None = None) -> dict[str, Any]:
    return {
        "username": context.user,
        "hostname": context.host,
        "max_commands": context.max_commands,
        "max_loop_iterations": MAX_LOOPS,
        "timeout_seconds": LAST_RESORT_SECONDS if seconds is None else seconds,
        "profile": ExecutionProfile.Interactive,
        "custom_builtins": builtins(context),
    }


def _set_times(bash: Bash, times: Mapping[str, float]) -> None:
    if times:
        lines = (f"\\touch -d @{when:.0f} {shlex.quote(path)}" for path, when in times.items())
        bash.execute_sync("\n".join(lines))
