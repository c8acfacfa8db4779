"""A simulated, deterministic terminal: it takes keys and returns what appears on its screen."""

from __future__ import annotations

import hashlib
import math
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any

from agentworld_gym.core.engines import EngineError, OutOfTime, RestorableMachine, Scalar
from agentworld_gym.domains.terminal.engine import shell as shells
from agentworld_gym.domains.terminal.engine.command_entry import CommandEntry, entered_command
from agentworld_gym.domains.terminal.engine.isolated_shell import LineLost
from agentworld_gym.domains.terminal.engine.keyboard import (
    CLEAR,
    CLEARED,
    COMPLETE,
    CONTINUATION,
    END_OF_INPUT,
    INTERRUPTS,
    MAX_PENDING,
    RECALLS,
    EnteredScript,
    InputLine,
    keys_of,
    split_keys,
)
from agentworld_gym.domains.terminal.engine.parser import SimpleCommand
from agentworld_gym.domains.terminal.engine.read_only_programs import answered
from agentworld_gym.domains.terminal.engine.screen import MAX_CHARS, capture
from agentworld_gym.domains.terminal.engine.shell import USUAL_MODES, ScriptOutcome, Shell, keeps_sleep, takes_time
from agentworld_gym.domains.terminal.engine.state import TerminalState
from agentworld_gym.domains.terminal.engine.structured_state import plain_terminal
from agentworld_gym.domains.terminal.engine.unfinished_script import UnfinishedScript, fed, reads_typed, streams

LINE_SECONDS = 0.01
MAX_WAIT = 3600.0
CONFIRM = "Are you sure that the task is complete? Send [] again to confirm."


_PLAIN = ("_status", "_jobs", "_begun", "_until", "carried", "_observation")
"""The fields of a machine that are plain data."""


class TerminalMachine(RestorableMachine[Shell]):
    """One terminal session with its own user, files and clock.

    >>> machine = TerminalMachine.start({"files": {"/home/dev/a.txt": "hi\\n"}}, seed=0)
    >>> machine.observation
    'dev@box:~$'
    >>> print(machine.act([{"keystrokes": "cat a.txt\\n"}]))
    dev@box:~$ cat a.txt
    hi
    dev@box:~$
    """

    noun = "terminal"

    carried: str
    """The end of the screen, with which the next capture begins: the line on which keys are typed, or all that stands
    there since a command was entered that still runs."""
    _end = inf
    """When an action has to end, as a time of `time.monotonic`."""

    def __init__(self, shell: Shell) -> None:
        self._system = shell  # `prompt` reads it
        self._line = InputLine()
        self._status = 0
        self._jobs = ""
        self._begun = 0
        self._until = 0.0
        self._unfinished: UnfinishedScript | None = None
        self.carried = self.prompt()
        self._asked: CommandEntry | None = None
        super().__init__(shell, capture(self.carried))

    @classmethod
    def start(cls, state: Mapping[str, Any], seed: int) -> TerminalMachine:
        """Start a terminal.

        Raises:
            SpecError: the state is wrong; the error names the key, its value and what was expected.
        """
        return cls(Shell.start(TerminalState.of(state), seed))

    def state(self) -> dict[str, Scalar]:
        """Return the working directory, every file, folder and link by its path, and permissions that are not usual.

        The field of a binary file holds its length and a digest.
        """
        shell = self._open()
        fields: dict[str, Scalar] = {"cwd": shell.cwd, **self._fields(shell.walk())}
        for path, mode in self.modes().items():
            if mode != USUAL_MODES["directory" if f"{path}/" in fields else "file"]:
                fields[f"{path}#mode"] = f"{mode:o}"
        return fields

    def last_state(self) -> dict[str, Scalar]:
        """Return the state that is left an hour after the last action, with what somebody made in the system folders.

        A script that sleeps, and what was typed ahead, go on in that hour. The field `running` has a script that goes
        on for longer, or takes too much work.
        """
        if self._unfinished is None:
            return self.state() | self._fields(self._open().added_to_system())
        running: dict[str, Scalar] = {"running": self._unfinished.entered.script.strip()}
        twin = self.fork()
        try:
            twin._until = self._open().context.clock.now + LAST_HOUR
            twin._end = time.monotonic() + shells.LAST_RESORT_SECONDS
            twin._wake([])
            if twin._unfinished is None:
                return twin.last_state()
            return twin.state() | twin._fields(twin._open().added_to_system()) | running
        except EngineError:
            return self.state() | self._fields(self._open().added_to_system()) | running
        finally:
            twin.close()

    def _fields(self, paths: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, Scalar]:
        """Return the fields of files, folders and links."""
        files, fields = self._open().files, dict[str, Scalar]()
        for path, metadata in paths:
            kind = metadata["file_type"]
            if kind == "directory":
                fields[f"{path}/"] = True
            elif kind == "symlink":
                fields[f"{path}#link"] = str(files.read_link(path))
            elif kind == "file":
                fields[path] = _describe_content(files.read_file(path))
        return fields

    def _hidden_state(self, shown: Mapping[str, Any]) -> dict[str, Any]:
        return self.fields()

    def visible_state(self) -> dict[str, Any]:
        """Return the part of the complete state that the view reads."""
        return self.shown_as(self._asked, self._observation)

    def shown_as(self, asked: CommandEntry | None, observation: str) -> dict[str, Any]:
        """Return what the view reads of the machine where a command was answered in another way than by itself."""
        about = {"typed": self.typed, "pending": "" if self.running else self._line.pending, "status": self._status}
        return answered(plain_terminal(self._open(), about), asked, observation)

    @classmethod
    def restore(cls, structured_state: Mapping[str, Any]) -> TerminalMachine:
        """Return the machine of a complete state: equal actions on both give equal observations and states."""
        return cls.of_fields(structured_state["kept"])

    def fields(self) -> dict[str, Any]:
        """Return all that the machine is as plain JSON data."""
        script = self._unfinished
        return {
            "shell": self._open().fields(),
            "line": self._line.fields(),
            **{name: getattr(self, name) for name in _PLAIN},
            "asked": None if self._asked is None else [*self._asked],
            "unfinished": None if script is None else script.fields(),
        }

    @classmethod
    def of_fields(cls, fields: Mapping[str, Any]) -> TerminalMachine:
        """Return the machine of these fields, the inverse of `fields`."""
        machine = object.__new__(cls)
        machine._system = Shell.restore(fields["shell"])
        machine._line = InputLine.restore(fields["line"])
        for name in _PLAIN:
            setattr(machine, name, fields[name])
        asked, unfinished = fields["asked"], fields["unfinished"]
        machine._asked = None if asked is None else CommandEntry(*asked)
        machine._unfinished = None if unfinished is None else UnfinishedScript.restore(unfinished)
        return machine

    def act(self, keys: Sequence[Mapping[str, Any]]) -> str:
        """Type batches of keys and return one capture of the screen. An empty sequence asks to confirm completion.

        The capture begins with the line that the keys were typed on; after a command that still runs it begins with the
        line of that command. An entry that is not a batch of keys is ignored.

        Raises:
            LineLost: a line broke the process in which it ran; the machine goes on as if it had not been entered.
            EngineError: the engine gave up, or the keys ask for more work than is done in time; the machine cannot go
                on.
        """
        self._open()
        self._end = time.monotonic() + shells.LAST_RESORT_SECONDS
        self._asked = self.entered(self._observation, keys)
        if not keys:
            self._observation = CONFIRM
            return CONFIRM
        self._begun = 0
        printed = [self.carried]
        for entry in keys if isinstance(keys, list | tuple) else ():
            if not isinstance(entry, Mapping):
                continue
            before = self._open().context.clock.now
            duration = _seconds(entry.get("duration", 1.0))
            self._until = before + duration
            self._type(keys_of(str(entry.get("keystrokes", ""))), printed)
            self._wake(printed)
            clock = self._open().context.clock
            waited = duration - (clock.now - before)
            if waited > 0:
                clock.advance(waited)
        self._observation = capture("".join(printed))
        self.carried = self._carry(printed)
        return self._observation

    def _part_from(self, system: Shell) -> None:
        self._system = system.copy()
        self._line = self._line.copy()

    def probe(self) -> TerminalMachine:
        """Return a terminal with the same files whose shell is that of the start.

        Text that was typed and not entered is gone, and so is a program that holds the screen.
        """
        shell = self._open().afresh()
        return type(self)(shell)

    def files(self) -> dict[str, str]:
        """Return every text file outside the system folders, by path."""
        shell = self._open()
        texts: dict[str, str] = {}
        for path, metadata in shell.walk():
            if metadata["file_type"] == "file":
                try:
                    texts[path] = shell.files.read_file(path).decode("utf-8")
                except UnicodeDecodeError:
                    continue
        return texts

    def write(self, path: str, text: str) -> None:
        """Write a text into a file without the shell."""
        self._open().files.write_file(path, text.encode("utf-8", "replace"))

    def modes(self) -> dict[str, int]:
        """Return the permissions that were set, by path; a path without an entry has 644."""
        return dict(self._open().context.modes)

    def protect(self, path: str) -> None:
        """Make a file read-only."""
        shell = self._open()
        shell.files.chmod(path, 0o444)
        shell.context.modes[path] = 0o444

    def _free(self, system: Shell) -> None:
        system.close()

    def __del__(self) -> None:
        """Close the open files of a machine that was dropped without `close`, which no garbage collector would free."""
        if getattr(self, "_system", None) is not None:
            self.close()

    def prompt(self) -> str:
        """The prompt at this moment."""
        context = self._open().context
        cwd = self._open().cwd
        if cwd == context.home:
            cwd = "~"
        elif cwd.startswith(context.home + "/"):
            cwd = "~" + cwd[len(context.home) :]
        return f"{context.user}@{context.host}:{cwd}{'#' if context.uid == 0 else '$'} "

    def entered(self, screen: str, keys: Any) -> CommandEntry | None:
        """Return what keys enter on a screen; see `entered_command`."""
        pending = "" if self.running else self._line.pending
        prompt = CONTINUATION if pending else self.prompt()
        return entered_command(screen, prompt.rstrip(), keys, self.typed, pending)

    @property
    def typed(self) -> str:
        """The text that stands on the line and was not entered, while the cursor is at its end."""
        return "" if self.running or self._line.behind else self._line.typed

    @property
    def running(self) -> bool:
        """Whether a program holds the screen."""
        return self._line.running

    def _type(self, keys: Iterable[str], printed: list[str]) -> None:
        line, at_prompt = self._line, not self.running
        for key in keys:
            shell = self._open()
            self._in_time()
            if self._reading is not None and key in ("\n", END_OF_INPUT):
                self._read(self._reading, key, printed)
            elif line.running and at_prompt and key not in INTERRUPTS and self._reading is None:
                line.ahead += key  # the keys arrived together, before the program made the terminal show them
            elif key in RECALLS and not line.running:
                line.recall([text for text in shell.context.history if "\n" not in text], RECALLS[key], printed)
            elif key == COMPLETE and not line.running:
                line.insert(completion(shell, line.before), printed)
            elif key == CLEAR and not line.running:
                printed.append(CLEARED)
                self._show_prompt(printed)
                line.redraw(printed)
            else:
                self._press(shell, key, printed)

    def _in_time(self) -> None:
        if time.monotonic() > self._end:
            self.close()
            raise OutOfTime(f"an action did not end within {shells.LAST_RESORT_SECONDS:g} s of real time")

    def _press(self, shell: Shell, key: str, printed: list[str]) -> None:
        entered = self._line.press(key, printed)
        if entered is None:
            return
        self._unfinished = None
        if entered.status is not None:
            self._status = entered.status
        if entered.script:
            self._enter(shell, entered, printed)
        if not self._line.running:
            self._show_prompt(printed)

    def _show_prompt(self, printed: list[str]) -> None:
        if self._line.pending:
            printed.append(CONTINUATION)
            return
        self._begun = len(printed)
        printed.append(self.prompt())

    def _carry(self, printed: Sequence[str]) -> str:
        if not self._line.running:
            return self._observation.rpartition("\n")[2] + self._line.unseen
        start = "".join(printed[: self._begun]).rfind("\n") + 1
        return "".join(printed)[start:][-MAX_CHARS:]

    def _enter(self, shell: Shell, entered: EnteredScript, printed: list[str]) -> None:
        names = [command.words[0] for command in entered.commands if command.words]
        if names in (["exit"], ["logout"]):
            printed.append("exit\n")
            entered = EnteredScript("cd\n", (SimpleCommand(["cd"], [(0, 2)]),))
        else:
            shell.context.history.append(entered.script.removesuffix("\n"))
        shell.context.clock.advance(LINE_SECONDS)
        self._until += LINE_SECONDS
        done, self._jobs = self._jobs, ""
        job = next((command for command in entered.commands if command.background), None)
        context = shell.context
        context.names_sleep = context.names_sleep or keeps_sleep(entered)
        if job is None and not takes_time(entered.script) and reads_typed(entered):
            self._wait(UnfinishedScript(shell.copy(), entered, self._status, 0, done, inf, ""), printed)
            return
        if job is None and (context.names_sleep or takes_time(entered.script)):
            self._go_on(UnfinishedScript(shell.copy(), entered, self._status, 0, done, 0.0), shell, printed)
            return
        outcome = self._run(shell, entered, self._status, inf)
        if job is not None:
            printed.append(f"[1] {shell.last_background()}\n")
            self._jobs = f"[1]+  Done                    {' '.join(job.words)}\n"
        self._status = outcome.status
        self._line.running = outcome.stuck
        printed.append(outcome.text + done)

    def _run(self, shell: Shell, entered: EnteredScript, status: int, until: float) -> ScriptOutcome:
        waited = shell.waited
        try:
            return shell.run(entered, status, until)
        except LineLost:
            self._take_back()
            raise
        except EngineError:
            self.close()
            raise
        except (RuntimeError, ValueError, OSError) as error:
            self.close()
            raise EngineError(f"the sandbox gave up: {error}") from error
        finally:
            self._end += shell.waited - waited

    def _take_back(self) -> None:
        """Go on at a fresh prompt as if the last line had not been entered, because the shell knows nothing of it."""
        shell = self._open()
        if self._unfinished is None and shell.context.history:
            shell.context.history.pop()
        self._line, self._unfinished = InputLine(), None
        self.carried = self.prompt()

    def _go_on(self, script: UnfinishedScript, shell: Shell, printed: list[str]) -> None:
        """Run a script up to the present moment; a later moment runs it anew, in a copy of the shell from before."""
        outcome = self._run(shell, script.entered, script.status, self._until)
        printed.append(outcome.text[script.shown :])
        self._line.running = outcome.stuck or outcome.wakes is not None
        if outcome.wakes is not None:
            self._unfinished = replace(script, shown=len(outcome.text), wakes=outcome.wakes)
            return
        self._unfinished = None
        self._status = outcome.status
        printed.append(script.done)

    @property
    def _reading(self) -> UnfinishedScript | None:
        """The script that waits for what is typed."""
        script = self._unfinished
        return script if script is not None and script.read is not None else None

    def _read(self, script: UnfinishedScript, key: str, printed: list[str]) -> None:
        """Give what stands on the line to the script that waits for it, or end its input on an empty line."""
        typed = self._line.ended()
        if key == "\n":
            printed.append("\n")
            typed += "\n"
        if typed:
            self._wait(replace(script, read=f"{script.read}{typed}"[:MAX_PENDING]), printed)
            return
        self._unfinished = None
        self._status = self._feed(script, printed).status
        printed.append(script.done)
        self._show_prompt(printed)

    def _wait(self, script: UnfinishedScript, printed: list[str]) -> None:
        """Wait for more; what a script writes line by line is there already."""
        if streams(script.entered):
            shown = len(self._feed(script, printed).text)
            script = replace(script, shown=shown)
        self._unfinished, self._line.running = script, True

    def _feed(self, script: UnfinishedScript, printed: list[str]) -> ScriptOutcome:
        """Run a script anew, in a copy of the shell from before, with all that was typed for it."""
        before, now = self._open(), self._open().context.clock.now
        self._system = script.shell.copy()
        before.close()
        self._system.context.clock.advance(now - self._system.context.clock.now)
        outcome = self._run(self._system, fed(script.entered, script.read or ""), script.status, inf)
        printed.append(outcome.text[script.shown :])
        return outcome

    def _wake(self, printed: list[str]) -> None:
        """End the sleeps that end by the present moment, and type what was typed ahead."""
        while self._unfinished is not None and self._unfinished.wakes <= round(self._until, 6):
            self._in_time()
            script, asleep = self._unfinished, self._open()
            self._system = script.shell.copy()
            asleep.close()
            self._go_on(script, self._system, printed)
            if not self._line.running:
                ahead = self._line.ended()
                self._show_prompt(printed)
                self._type(split_keys(ahead), printed)


LAST_HOUR = 3600.0
"""For how many virtual seconds things go on when an episode is over."""


def _describe_content(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return f"{len(content)} bytes, {hashlib.blake2b(content, digest_size=4).hexdigest()}"


def _seconds(duration: Any) -> float:
    try:
        seconds = float(duration)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return min(max(seconds, 0.0), MAX_WAIT) if math.isfinite(seconds) else 0.0


_WORD = re.compile(r"(?:\\.|[^\s\\'\"<>|;&()=])*\Z")
_SPECIAL = re.compile(r"([\s\\'\"<>|;&()$`*?\[\]#!])")


def completion(shell: Shell, line: str) -> str:
    """Return what Tab inserts behind a line: the rest of a name, and a slash or a blank where there is only one.

    The last word is read as a path. After `cd` and `rmdir` only folders count, and names that begin with a dot count
    where the word does too.
    """
    match = _WORD.search(line)
    folder, slash, start = re.sub(r"\\(.)", r"\1", match[0] if match else "").rpartition("/")
    if folder == "~" or folder.startswith("~/"):
        folder = shell.context.home + folder[1:]
    place = folder if folder.startswith("/") else f"{shell.cwd.rstrip('/')}/{folder}" if folder or not slash else "/"
    try:
        entries = shell.files.read_dir(place.rstrip("/") or "/")
    except (RuntimeError, OSError, ValueError):
        return ""
    folders = {str(entry["name"]) for entry in entries if entry["metadata"]["file_type"] == "directory"}
    names = folders if line.split()[:1] in (["cd"], ["rmdir"]) else {str(entry["name"]) for entry in entries}
    names = {name for name in names if name.startswith(start) and (start or not name.startswith("."))}
    if not names:
        return ""
    first, last = min(names), max(names)
    agreed = next((n for n, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    rest = _SPECIAL.sub(r"\\\1", first[len(start) : agreed])
    return rest if len(names) > 1 else rest + ("/" if names <= folders else " ")
