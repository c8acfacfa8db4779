"""A shell of the terminal engine that shares the files of the desktop: copied in before a command, out after it."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Mapping
from typing import Any

from agentworld_gym.core.engines import EngineError, Scalar
from agentworld_gym.domains.desktop.engine.filesystem import HOME, MAX_TIME, SYSTEM, FileNode, FileSystem
from agentworld_gym.domains.desktop.engine.program import DesktopServices
from agentworld_gym.domains.terminal.api import LAST_RESORT_SECONDS, InputLine, LineLost, Shell, TerminalState

MAX_COMMANDS = 1_000
MAX_SCRIPTS = 20
"""The largest number of scripts in an action. A script that never ends or grows without end is the last."""
MAX_OUTPUT = 16_000
MAX_VARIABLES = 200_000
"""The largest number of characters in the variables of a shell, since a fork copies them all."""
_FIXED = frozenset((*SYSTEM, "/tmp", HOME))
_WRITABLE = (f"{HOME}/", "/tmp/")
_LOST = "bash: fork: Resource temporarily unavailable\n"
_MULTIPLIES = re.compile(r"([\w:.-]+)\s*\(\)\s*\{(?=[^}]*(?<![\w.-])\1\s*[|&])[^}]*\}")
"""The pattern of a fork bomb: a function that starts itself twice."""


class SharedShell:
    """The shell of a desktop, which is made when it is first needed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._shell: Shell | None = None
        self._synced: dict[str, FileNode] = {}
        self._hidden: set[str] = set()
        self._stamps: dict[str, tuple[object, ...]] = {}
        self._action, self._left, self._end = 0, MAX_SCRIPTS, 0.0

    def fork(self) -> SharedShell:
        """Return an exact copy."""
        twin = SharedShell(self.seed)
        twin._action, twin._left, twin._end = self._action, self._left, self._end
        if self._shell is not None:
            twin._shell = self._shell.copy()
            twin._synced, twin._hidden = dict(self._synced), set(self._hidden)
        return twin

    def fields(self) -> dict[str, Any]:
        """Return all that the shell is, as plain JSON data."""
        fields: dict[str, Any] = {"seed": self.seed, "action": self._action, "left": self._left}
        if self._shell is not None:
            synced = {path: list(node) for path, node in self._synced.items()}
            fields |= {"shell": self._shell.fields(), "synced": synced, "hidden": sorted(self._hidden)}
        return fields

    @classmethod
    def restore(cls, fields: Mapping[str, Any]) -> SharedShell:
        """Return the shell of these fields, the inverse of `fields`; what is left of its time begins again."""
        twin = cls(fields["seed"])
        twin._action, twin._left = fields["action"], fields["left"]
        twin._end = time.monotonic() + LAST_RESORT_SECONDS
        if "shell" in fields:
            twin._shell = Shell.restore(fields["shell"])
            twin._synced = {path: FileNode(*parts) for path, parts in fields["synced"].items()}
            twin._hidden = set(fields["hidden"])
        return twin

    def state(self) -> Mapping[str, Scalar]:
        """Return no fields: the files belong to the desktop, the current folders to the windows."""
        return {}

    def close(self) -> None:
        """Free the interpreter."""
        if self._shell is not None:
            self._shell.close()
            self._shell = None

    def run(self, desktop: DesktopServices, script: str, folder: str, status: int) -> tuple[int, str, str]:
        """Run a script in a folder; return its status, its output, and the folder in which it ended."""
        printed: list[str] = []
        entered = InputLine(script.removesuffix("\n")).press("\n", printed)
        if entered is None:
            return 2, "bash: syntax error: unexpected end of file\n", folder
        if not entered.script:
            return entered.status or 0, "".join(printed).lstrip("\n"), folder
        if desktop.action != self._action:
            self._action, self._left = desktop.action, MAX_SCRIPTS
            self._end = time.monotonic() + LAST_RESORT_SECONDS
        self._left -= 1
        if self._left < 0 or time.monotonic() > self._end or _MULTIPLIES.search(entered.script):
            self._left = 0
            return 254, _LOST, folder
        waited = 0.0 if self._shell is None else self._shell.waited
        try:
            shell = self._ready(desktop, folder)
            outcome = shell.run(entered, status)
            text = outcome.text[-MAX_OUTPUT:] + ("^C\n" if outcome.stuck else "")
            status = 130 if outcome.stuck else outcome.status
            self._left *= not outcome.stuck
            shell.context.history.append(script.removesuffix("\n"))
            desktop.files.now = min(max(desktop.files.now, shell.context.clock.now), MAX_TIME)
            self._end += shell.waited - waited
            for path, why in (*self._read_back(desktop.files, shell), *_shrunk(shell)):
                text, status = f"{text}bash: {path}: {why}\n", 1
        except LineLost:
            self._left = 0
            return 254, _LOST, folder
        except (EngineError, RuntimeError, ValueError, OSError):
            self.close()
            self._left = 0
            return 254, _LOST, folder
        return status, text, shell.cwd if desktop.files.is_folder(shell.cwd) else HOME

    def _ready(self, desktop: DesktopServices, folder: str) -> Shell:
        """Return the shell with the present files, in a folder."""
        if self._shell is None:
            state = TerminalState.of({"user": "user", "host": "desktop", "clock": desktop.now.isoformat()})
            self._shell = Shell.start(state, self.seed, MAX_COMMANDS)
            self._synced, self._hidden = {}, set()
        shell = self._shell
        clock = shell.context.clock
        clock.advance(max(desktop.files.now - clock.now, 0.0))
        self._tell(desktop.files, shell)
        if shell.cwd != folder:
            shell.execute(f"cd {shlex.quote(folder)} 2>/dev/null; unset OLDPWD")
            shell.cwd = folder
        return shell

    def _tell(self, files: FileSystem, shell: Shell) -> None:
        """Copy the files of the desktop into the shell; it never sees files whose names the sandbox cannot write."""
        if self._synced == files.nodes:
            return
        disk, modes = shell.files, shell.context.modes
        for path in sorted(self._synced.keys() - files.nodes.keys(), reverse=True):
            if path not in self._hidden and disk.exists(path):
                disk.remove(path, recursive=True)
            self._hidden.discard(path)
            modes.pop(path, None)
        commands, guarded = [], []
        for path in sorted(files.nodes):
            node = files.nodes[path]
            if path in _FIXED or self._synced.get(path) == node:
                continue
            try:
                if node.content is None:
                    disk.mkdir(path, recursive=True)
                else:
                    disk.write_file(path, node.content.encode("utf-8", "replace"))
            except (RuntimeError, OSError, ValueError):
                self._hidden.add(path)
                continue
            if node.content is not None:
                commands.append(f"\\touch -d @{node.modified:.0f} {shlex.quote(path)}")
                modes.pop(path, None)
            if node.mode != (0o644 if node.content is not None else 0o755):
                guarded.append((path, node.mode))
                if node.content is not None:
                    modes[path] = node.mode
        if commands:
            shell.execute("\n".join(commands))
        for path, mode in guarded:
            shell.files.chmod(path, mode)
        self._synced = dict(files.nodes)
        self._stamps = {path: _stamp(metadata) for path, metadata in shell.walk()}

    def _read_back(self, files: FileSystem, shell: Shell) -> list[tuple[str, str]]:
        """Copy the files of the shell to the desktop, and return the paths that may not change, with the reasons.

        Those paths are put back in the shell. The sandbox knows neither of write permissions nor of the size of the
        disk.
        """
        disk = shell.files
        walked = {path: metadata for path, metadata in shell.walk() if path.startswith(_WRITABLE)}
        refused: list[tuple[str, str]] = []

        def refuse(path: str, before: FileNode | None, why: str) -> None:
            refused.append((path, why))
            if before is None:
                disk.remove(path, recursive=True)
                return
            if before.content is not None:
                disk.write_file(path, before.content.encode("utf-8", "replace"))
                shell.context.modes[path] = before.mode
            disk.chmod(path, before.mode)

        for path, metadata in walked.items():
            if not disk.exists(path):
                continue
            stamp = _stamp(metadata)
            kind = metadata["file_type"]
            if path in _FIXED or kind not in ("directory", "file") or self._unchanged(files, path, stamp):
                continue
            content = disk.read_file(path).decode("utf-8", "replace") if kind == "file" else None
            mode = int(metadata["mode"]) & 0o777 if content is None else shell.context.modes.get(path, 0o644)
            before = files.nodes.get(path)
            owner = before if before is not None else files.nodes.get(path.rpartition("/")[0] or "/")
            written = before is None or before.content != content
            if written and owner is not None and not owner.mode & 0o200:
                refuse(path, before, "Permission denied")
                continue
            when = shell.context.clock.virtual(metadata["modified"])
            moved = before is not None and content is not None and int(before.modified) != int(when)
            if written or moved or (before is not None and before.mode != mode):
                try:
                    files.place(path, content, mode, when)
                except OSError as error:
                    refuse(path, before, error.strerror or str(error))
        for path in [path for path in files.nodes if path.startswith(_WRITABLE) and path not in walked]:
            if path in files.nodes and path not in self._hidden:
                files.vanish(path)
        self._stamps = {path: _stamp(metadata) for path, metadata in shell.walk()}
        self._synced = dict(files.nodes)
        return refused

    def _unchanged(self, files: FileSystem, path: str, stamp: tuple[object, ...]) -> bool:
        return self._stamps.get(path) == stamp and path in files.nodes


def _shrunk(shell: Shell) -> list[tuple[str, str]]:
    """Unset the variables that are too large, and return what the shell says about them."""
    held = shell.bash.shell_state()
    sizes = {name: len(value) for name, value in held.variables.items()}
    for arrays in (held.arrays, held.assoc_arrays):
        sizes |= {name: sum(len(value) for value in values.values()) for name, values in arrays.items()}
    if sum(sizes.values()) <= MAX_VARIABLES:
        return []
    large = [name for name, size in sizes.items() if size > MAX_VARIABLES // 20]
    shell.execute(f"unset {shlex.join(large)}")
    return [(name, "Cannot allocate memory") for name in sorted(large)]


def _stamp(metadata: Mapping[str, object]) -> tuple[object, ...]:
    return metadata["file_type"], metadata["size"], metadata["modified"], metadata["mode"]


def commands_of(script: str) -> list[list[str]] | None:
    """Return the words of the commands of a script; None where it is incomplete, empty where that is unclear.

    >>> commands_of("cd /tmp; ls -la\\n"), commands_of("for f in a; do\\n"), commands_of("gedit a.txt &\\n")
    ([['cd', '/tmp'], ['ls', '-la']], None, [['gedit', 'a.txt']])
    """
    entered = InputLine(script.removesuffix("\n")).press("\n", [])
    return None if entered is None else [list(command.words) for command in entered.commands]
