"""The keyboard and the input line of a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from agentworld_gym.engines.terminal.parser import HereDocument, Incomplete, SimpleCommand, TooDeep, Unexpected, parse

_NAMED = {
    "C-a": "\x01",
    "C-c": "\x03",
    "C-d": "\x04",
    "C-e": "\x05",
    "C-h": "\x7f",
    "C-l": "\x0c",
    "C-m": "\n",
    "C-u": "\x15",
    "C-w": "\x17",
    "C-z": "\x1a",
    "BSpace": "\x7f",
    "Enter": "\n",
    "Space": " ",
}
CLEAR = "\x1b[H\x1b[2J"
MAX_PENDING = 2_000_000

_KEYS = re.compile(r"\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Z]|.)?|[\x00-\x1f\x7f]|[^\x00-\x1f\x7f]+")


def keys_of(keystrokes: str) -> Iterator[str]:
    """Split keystrokes into single control keys and runs of ordinary characters.

    >>> list(keys_of("ls -la\\n")), list(keys_of("C-c")), list(keys_of("a\\x7fb"))
    (['ls -la', '\\n'], ['\\x03'], ['a', '\\x7f', 'b'])
    """
    keystrokes = _NAMED.get(keystrokes, keystrokes).replace("\r\n", "\n").replace("\r", "\n")
    keystrokes = keystrokes.encode("utf-8", "replace").decode("utf-8")
    return (match.group() for match in _KEYS.finditer(keystrokes))


@dataclass(frozen=True, slots=True)
class EnteredScript:
    """A complete script with those of its simple commands that could be parsed; it may be a fresh prompt alone."""

    script: str = ""
    """The text of the script."""
    commands: tuple[SimpleCommand, ...] = ()
    """The simple commands that could be parsed."""
    status: int | None = None
    """The value of `$?` where nothing is run."""


@dataclass(slots=True)
class InputLine:
    """The input line, the earlier lines of an unfinished script, and whether a program holds the screen."""

    typed: str = ""
    """The text on the line."""
    pending: str = ""
    """The earlier lines of an unfinished script."""
    running: bool = False
    """Whether a program holds the screen."""
    waiting: HereDocument | None = None
    """The here-document in which the earlier lines end, if they do."""

    def copy(self) -> InputLine:
        """Return an independent copy."""
        return replace(self)

    def press(self, key: str, printed: list[str]) -> EnteredScript | None:
        """Handle one key. Returns what is to be run, or `None` where no prompt is due."""
        if key == "\n":
            return self._enter(printed)
        if key == "\x03":
            self.typed = self.pending = ""
            self.running = False
            printed.append("^C\n")
            return EnteredScript(status=130)
        if key == "\x1a" and self.running:
            self.running = False
            printed.append("^Z\n[1]+  Stopped\n")
            return EnteredScript(status=148)
        if key == "\x04" and not self.typed and not self.running:
            return self._end_of_input(printed)
        if key == "\x0c" and not self.running:
            printed.append(CLEAR)
            return EnteredScript()
        if key in ("\x7f", "\x08"):
            self._erase(1, printed)
        elif key == "\x15":
            self._erase(len(self.typed), printed)
        elif key == "\x17":
            kept = self.typed.rstrip(" ").rpartition(" ")
            self._erase(len(self.typed) - len(kept[0] + kept[1]), printed)
        elif key == "\t" or key[0] >= " ":
            self.typed += key
            printed.append(key)
        return None

    def _erase(self, count: int, printed: list[str]) -> None:
        count = min(count, len(self.typed))
        if count:
            self.typed = self.typed[:-count]
            printed.append("\b \b" * min(count, 4_000))

    def _end_of_input(self, printed: list[str]) -> EnteredScript:
        if self.pending:
            self.pending = ""
            printed.append("\nbash: syntax error: unexpected end of file\n")
            return EnteredScript(status=2)
        return EnteredScript("exit\n", (SimpleCommand(["exit"]),))

    def _enter(self, printed: list[str]) -> EnteredScript | None:
        printed.append("\n")
        line, self.typed = self.typed, ""
        if self.running:
            return None
        script = f"{self.pending}{line}\n"
        if self.pending and self.waiting and not self.waiting.ends(line) and len(script) < MAX_PENDING:
            self.pending = script
            printed.append("> ")
            return None
        commands: list[SimpleCommand] = []
        try:
            commands = parse(script)
        except Incomplete as incomplete:
            if len(script) < MAX_PENDING:
                self.pending, self.waiting = script, incomplete.waiting
                printed.append("> ")
                return None
        except Unexpected as error:
            self.pending = ""
            printed.append(f"bash: syntax error near unexpected token `{error}'\n")
            return EnteredScript(status=2)
        except TooDeep:
            pass
        self.pending = ""
        return EnteredScript(script, tuple(commands)) if script.strip() else EnteredScript()
