"""Acts out the controls of the terminal: a terminal whose machine has faults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agentworld_gym.core.engines import Controls, RestorableMachine, Scalar
from agentworld_gym.domains.terminal.engine.command_entry import CommandEntry
from agentworld_gym.domains.terminal.engine.machine import TerminalMachine
from agentworld_gym.domains.terminal.engine.screen import capture

VISIBLE_LINES = 3
"""The number of lines that `truncated-output` leaves of an output."""

BUSY = "bash: fork: Resource temporarily unavailable"
NO_SPACE = "write error: Resource temporarily unavailable"

_BREAK = "\n"
_INTERRUPTS = ("C-c", "\x03")


class FaultyTerminal(RestorableMachine[TerminalMachine]):
    """A terminal under controls, which strike only at single command lines that end with Enter.

    A write-protected file refuses to be written to. A slow command shows its line alone, and its output below that once
    the agent has waited for it; what is typed before that is swallowed. A reader may see the files as they were before
    the last change. A command that takes longer than the agent waits may fail or be refused, and nothing else.
    """

    noun = "terminal"

    def __init__(self, machine: TerminalMachine, controls: Controls) -> None:
        super().__init__(machine, machine.observation)
        self._controls = controls
        self._calls = 0
        self._failed: frozenset[str] = frozenset()
        self._withheld: str | None = None
        self._older: TerminalMachine | None = None
        self._asked: CommandEntry | None = None
        self._texts: dict[str, str] | None = None
        for path in machine.files():
            if controls.strikes("permission-denied", path):
                machine.protect(path)

    @property
    def _machine(self) -> TerminalMachine:
        return self._open()

    def act(self, keys: Sequence[Mapping[str, Any]]) -> str:
        """Type keys and return a capture of the screen, with the faults that strike."""
        self._asked = self._machine.entered(self._observation, keys)
        readable = isinstance(keys, list | tuple) and all(isinstance(entry, Mapping) for entry in keys)
        if self._controls and readable:
            self._observation = self._act(keys)
        else:
            self._texts, self._observation = None, self._machine.act(keys)
        return self._observation

    def state(self) -> dict[str, Scalar]:
        """Return the state of the terminal below."""
        return self._machine.state()

    def last_state(self) -> dict[str, Scalar]:
        """Return the state that is left an hour after the last action."""
        return self._machine.last_state()

    def _hidden_state(self, shown: Mapping[str, Any]) -> dict[str, Any]:
        controls = self._controls
        return {
            "machine": self._machine.fields(),
            "controls": {name: controls.strength(name) for name in controls.strengths},
            "control_seed": controls.seed,
            "calls": self._calls,
            "failed": sorted(self._failed),
            "withheld": self._withheld,
            "older": None if self._older is None else self._older.fields(),
            "asked": None if self._asked is None else [*self._asked],
            "observation": self._observation,
        }

    def visible_state(self) -> dict[str, Any]:
        """Return the part of the complete state that the view reads."""
        return self._machine.shown_as(self._asked, self._observation)

    @classmethod
    def restore(cls, structured_state: Mapping[str, Any]) -> FaultyTerminal:
        """Return the machine of a complete state: equal actions on both give equal observations and states."""
        kept = structured_state["kept"]
        twin = object.__new__(cls)
        twin._system = TerminalMachine.of_fields(kept["machine"])
        twin._controls = Controls(kept["controls"], kept["control_seed"])
        twin._calls, twin._failed, twin._withheld = kept["calls"], frozenset(kept["failed"]), kept["withheld"]
        twin._older = None if kept["older"] is None else TerminalMachine.of_fields(kept["older"])
        twin._asked = None if kept["asked"] is None else CommandEntry(*kept["asked"])
        twin._observation, twin._texts = kept["observation"], None
        return twin

    def _part_from(self, system: TerminalMachine) -> None:
        self._system = system.fork()
        self._older = self._older.fork() if self._older is not None else None

    def probe(self) -> TerminalMachine:
        """Return a terminal without faults over the same files, whose shell is that of the start."""
        return self._machine.probe()

    def _free(self, system: TerminalMachine) -> None:
        system.close()
        if self._older is not None:
            self._older.close()

    def _act(self, keys: Sequence[Mapping[str, Any]]) -> str:
        typed = "".join(str(entry.get("keystrokes", "")) for entry in keys)
        if self._withheld is not None:
            return self._wait(typed)
        line = typed[:-1]
        if self._machine.running or not typed.endswith("\n") or not line.isprintable() or not line.strip():
            self._texts = None
            return self._machine.act(keys)
        self._calls += 1
        return self._enter(keys, line)

    def _wait(self, typed: str) -> str:
        """Hold the screen for a slow command: waiting ends it, and anything that is typed is swallowed."""
        assert self._withheld is not None
        if typed in _INTERRUPTS:
            self._withheld = f"^C\n{self._withheld.rpartition(_BREAK)[2]}"
        elif typed.strip():
            return capture(f"{self._observation}\n{typed}")
        withheld, self._withheld = self._withheld, None
        return capture(f"{self._observation}\n{withheld}")

    def _enter(self, keys: Sequence[Mapping[str, Any]], line: str) -> str:
        typed = self._machine.carried + line
        output = self._disturbed(keys, line, typed)
        if output != self._machine.observation:
            self._machine.carried = f"{output.rpartition(_BREAK)[2]} "
        return self._slow(output)

    def _disturbed(self, keys: Sequence[Mapping[str, Any]], line: str, typed: str) -> str:
        controls, call = self._controls, self._calls
        if line not in self._failed and controls.strikes("intermittent-errors", call):
            self._failed |= {line}
            return self._screen_with(typed, BUSY)
        # Files are read from the machine: a copy makes an interpreter of its own when it is first asked for something.
        files = self._machine.files() if self._texts is None else self._texts
        before = self._machine.fork()
        output = self._machine.act(keys)
        present = self._texts = self._machine.files()
        changed = sorted(path for path in files.keys() & present.keys() if files[path] != present[path])
        if refused := [path for path in changed if not before.modes().get(path, 0o644) & 0o200]:
            self._machine.close()
            self._system, self._texts = before, files
            return self._screen_with(typed, *(f"bash: {path}: Permission denied" for path in refused))
        made = sorted(present.keys() - files.keys())
        if self._machine.running:
            return output
        if halved := self._halved(line, made, present, moved=bool(files.keys() - present.keys())):
            output = self._screen_with(typed, f"{line.split()[0]}: {halved}: {NO_SPACE}")
        output = self._stale(keys, line, output, before, bool(changed or files.keys() ^ present.keys()))
        return self._truncated(output)

    def _screen_with(self, typed: str, *messages: str) -> str:
        return capture("\n".join([typed, *messages, self._machine.prompt()]))

    def _halved(self, line: str, made: Sequence[str], present: Mapping[str, str], moved: bool) -> str | None:
        """Cut a file that this command made in half, once for each command, and return its path."""
        long = [path for path in made if present[path].count("\n") > 1]
        if moved or not long or line in self._failed or not self._controls.strikes("partial-failure", self._calls):
            return None
        self._failed |= {line}
        self._texts = None
        lines = present[long[0]].splitlines(keepends=True)
        self._machine.write(long[0], "".join(lines[: len(lines) // 2]))
        return long[0]

    def _stale(
        self, keys: Sequence[Mapping[str, Any]], line: str, output: str, before: TerminalMachine, changed: bool
    ) -> str:
        """Return what a reader shows of the files as they were before the last change; `sync` ends the staleness."""
        if line.strip() == "sync":
            self._older = None
        elif changed:
            self._older = before
        elif self._older is not None and self._controls.strikes("stale-data", self._calls):
            older = self._older.fork()
            older.carried = before.carried
            if older.prompt() == before.prompt() == self._machine.prompt():
                return older.act(keys)
        return output

    def _truncated(self, output: str) -> str:
        lines = output.split("\n")
        if len(lines) > VISIBLE_LINES + 2 and self._controls.strikes("truncated-output", self._calls):
            return "\n".join(lines[-VISIBLE_LINES - 1 :])
        return output

    def _slow(self, output: str) -> str:
        if self._machine.running or not self._controls.strikes("slow-service", self._calls):
            return output
        shown, _, self._withheld = output.partition(_BREAK)
        return shown
