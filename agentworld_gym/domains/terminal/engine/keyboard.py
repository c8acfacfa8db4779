"""The keyboard and the input line of a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from agentworld_gym.domains.terminal.engine.parser import (
    HereDocument,
    Incomplete,
    SimpleCommand,
    TooDeep,
    Unexpected,
    parse,
)

UP, DOWN, RIGHT, LEFT = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"
HOME, END, DELETE = "\x1b[1~", "\x1b[4~", "\x1b[3~"
CLEAR = "\x0c"
COMPLETE = "\x1b\t"
"""The key Tab; a tab within text is a character of it."""

_ESCAPE = "\x1b"
_NAMED = {
    "bspace": "\x7f",
    "btab": "\x1b[Z",
    "dc": DELETE,
    "delete": DELETE,
    "down": DOWN,
    "end": END,
    "enter": "\n",
    "escape": _ESCAPE,
    "home": HOME,
    "ic": "\x1b[2~",
    "insert": "\x1b[2~",
    "left": LEFT,
    "npage": "\x1b[6~",
    "pagedown": "\x1b[6~",
    "pageup": "\x1b[5~",
    "pgdn": "\x1b[6~",
    "pgup": "\x1b[5~",
    "ppage": "\x1b[5~",
    "right": RIGHT,
    "space": " ",
    "tab": COMPLETE,
    "up": UP,
    **{f"f{number}": f"\x1b[{10 + number}~" for number in range(1, 13)},
}
"""The names that tmux has for keys, in small letters, as it does not mind their case."""

_ALIASES = {"\x01": HOME, "\x02": LEFT, "\x05": END, "\x06": RIGHT, "\x08": "\x7f", "\x0e": DOWN, "\x10": UP}
_ALIASES |= {"\x1b[H": HOME, "\x1b[F": END, "\x1bOH": HOME, "\x1bOF": END}
_ALIASES |= {"\x1bOA": UP, "\x1bOB": DOWN, "\x1bOC": RIGHT, "\x1bOD": LEFT}
"""The control characters and sequences that do what another key does."""

RECALLS = {UP: 1, DOWN: -1}
"""The keys that go through the history, each with how many lines it goes back."""

INTERRUPTS = ("\x03", "\x1a")
"""The keys that take the screen from a program."""

END_OF_INPUT = "\x04"
"""The key Ctrl-D."""

CLEARED = "\x1b[H\x1b[2J"
CONTINUATION = "> "
MAX_PENDING = 2_000_000
"""The largest number of characters that are typed for a script, or typed ahead."""
MAX_REDRAWN = 4_000
"""The largest number of characters behind the cursor that are drawn again when something changes before them."""

_KEYS = re.compile(r"\x1b(?:\[[0-9;]*[A-Za-z~]|O[A-Z]|.)?|[\x00-\x1f\x7f]|[^\x00-\x1f\x7f]+")
_CONTROL = re.compile(r"(?:C-|\^)([a-z@\[\\\]^_?])", re.IGNORECASE)
_MODIFIED = re.compile(r"[MS]-(.|[a-z]+[0-9]*)", re.IGNORECASE)


def keys_of(keystrokes: str) -> Iterator[str]:
    """Split keystrokes into single control keys and runs of ordinary characters.

    Keystrokes that are the name of a key stand for that key, as in tmux. A tab at the end of others is the key Tab.

    >>> list(keys_of("ls -la\\n")), list(keys_of("C-c")), list(keys_of("a\\x7fb"))
    (['ls -la', '\\n'], ['\\x03'], ['a', '\\x7f', 'b'])
    >>> list(keys_of("Up")), list(keys_of("cat no\\t")), list(keys_of("a\\tb"))
    (['\\x1b[A'], ['cat no', '\\x1b\\t'], ['a', '\\t', 'b'])
    """
    keystrokes = characters_of(keystrokes).replace("\r\n", "\n").replace("\r", "\n")
    if keystrokes.endswith("\t") and not keystrokes.endswith(COMPLETE):
        keystrokes = keystrokes[:-1] + COMPLETE
    keystrokes = keystrokes.encode("utf-8", "replace").decode("utf-8")
    return split_keys(keystrokes)


def split_keys(text: str) -> Iterator[str]:
    """Split characters into single control keys and runs of ordinary ones."""
    return (_ALIASES.get(match.group(), match.group()) for match in _KEYS.finditer(text))


def characters_of(keystrokes: str) -> str:
    """Return the characters of a key by its name; any other text is returned as it is.

    >>> characters_of("C-c"), characters_of("Up"), characters_of("ls")
    ('\\x03', '\\x1b[A', 'ls')
    """
    if match := _CONTROL.fullmatch(keystrokes):
        return "\x7f" if match[1] == "?" else chr(ord(match[1].upper()) & 0x1F)
    match = _MODIFIED.fullmatch(keystrokes)
    if match and (len(match[1]) == 1 or match[1].lower() in _NAMED):
        return _ESCAPE + match[1][0]
    return _NAMED.get(keystrokes.lower(), keystrokes)


@dataclass(frozen=True, slots=True)
class EnteredScript:
    """A complete script with those of its simple commands that could be parsed; it may be a fresh prompt alone."""

    script: str = ""
    """The text of the script."""
    commands: tuple[SimpleCommand, ...] = ()
    """The simple commands that could be parsed."""
    status: int | None = None
    """The value of `$?` where nothing is run."""

    def fields(self) -> dict[str, Any]:
        """Return the script as plain JSON data."""
        return asdict(self)

    @classmethod
    def restore(cls, fields: Mapping[str, Any]) -> EnteredScript:
        """Return the script of these fields, the inverse of `fields`."""
        commands = (SimpleCommand(**{**one, "spans": [*map(tuple, one["spans"])]}) for one in fields["commands"])
        return cls(fields["script"], tuple(commands), fields["status"])


@dataclass(slots=True)
class InputLine:
    """The input line, the earlier lines of an unfinished script, and what is typed while a program holds the screen."""

    typed: str = ""
    """The text on the line."""
    behind: int = 0
    """The number of its characters that stand behind the cursor."""
    pending: str = ""
    """The earlier lines of an unfinished script."""
    running: bool = False
    """Whether a program holds the screen."""
    ahead: str = ""
    """The keys of the lines that were entered while a program held the screen."""
    waiting: HereDocument | None = None
    """The here-document in which the earlier lines end, if they do."""
    recalled: int = 0
    """How many lines of the history the line goes back; 0 for a line of its own."""
    draft: str = ""
    """The line of its own, while the line shows one of the history."""

    def copy(self) -> InputLine:
        """Return an independent copy."""
        return replace(self)

    def fields(self) -> dict[str, Any]:
        """Return the line as plain JSON data."""
        return asdict(self)

    @classmethod
    def restore(cls, fields: Mapping[str, Any]) -> InputLine:
        """Return the line of these fields, the inverse of `fields`."""
        waiting = fields["waiting"]
        return cls(**{**fields, "waiting": None if waiting is None else HereDocument(**waiting)})

    @property
    def before(self) -> str:
        """The text before the cursor."""
        return self.typed[: len(self.typed) - self.behind]

    @property
    def unseen(self) -> str:
        """What a capture leaves out at the end of the line: its last blanks, and the steps back to the cursor."""
        line = " " + self.typed
        return line[len(line.rstrip(" \t")) :] + "\b" * self.behind

    def press(self, key: str, printed: list[str]) -> EnteredScript | None:
        """Handle one key. Returns what is to be run, or `None` where no prompt is due."""
        if key == "\n":
            return self._enter(printed)
        if key == "\x03":
            printed.append(self._tail() + "^C\n")
            self._clear()
            self.pending = self.ahead = ""
            self.running = False
            return EnteredScript(status=130)
        if key == "\x1a" and self.running:
            self._clear()
            self.ahead = ""
            self.running = False
            printed.append("^Z\n[1]+  Stopped\n")
            return EnteredScript(status=148)
        if key == END_OF_INPUT and not self.typed and not self.running:
            return self._end_of_input(printed)
        if key == "\t" or (key[0] >= " " and key != "\x7f"):
            self.insert(key, printed)
        else:
            self._edit(key, printed)
        return None

    def ended(self) -> str:
        """Give the screen back after the program that held it, and return the keys that were typed ahead."""
        ahead = self.ahead + self.typed
        self._clear()
        self.ahead, self.running = "", False
        return ahead

    def insert(self, text: str, printed: list[str]) -> None:
        """Type a text at the cursor."""
        tail = self._tail()
        self.typed = self.before + text + tail
        printed.append(text + _drawn(tail))

    def recall(self, lines: Sequence[str], back: int, printed: list[str]) -> None:
        """Show another line of the history instead of the present one.

        Args:
            lines: The lines of the history, the oldest one first.
            back: How many lines to go back.
            printed: What is printed.
        """
        place = min(max(self.recalled + back, 0), len(lines))
        if place == self.recalled:
            return
        if not self.recalled:
            self.draft = self.typed
        self._move(0, printed)
        self._erase(len(self.typed), printed)
        self.insert(lines[-place] if place else self.draft, printed)
        self.recalled = place

    def redraw(self, printed: list[str]) -> None:
        """Print the line again after a fresh prompt."""
        printed.append(self.before + _drawn(self._tail()))

    def _edit(self, key: str, printed: list[str]) -> None:
        before = self.before
        if key == "\x7f":
            self._erase(1, printed)
        elif key == "\x15":
            self._erase(len(before), printed)
        elif key == "\x17":
            kept = before.rstrip(" ").rpartition(" ")
            self._erase(len(before) - len(kept[0] + kept[1]), printed)
        elif key in (DELETE, END_OF_INPUT, "\x0b"):
            count = min(self.behind, 1) if key != "\x0b" else self.behind
            self._move(self.behind - count, printed)
            self._erase(count, printed)
        elif key in (HOME, END):
            self._move(len(self.typed) if key == HOME else 0, printed)
        elif key in (LEFT, RIGHT):
            self._move(self.behind + (1 if key == LEFT else -1), printed)

    def _move(self, behind: int, printed: list[str]) -> None:
        """Move the cursor to where so many characters stand behind it."""
        behind = min(max(behind, 0), len(self.typed))
        steps = behind - self.behind
        printed.append("\b" * steps if steps > 0 else self._tail()[:-steps])
        self.behind = behind

    def _erase(self, count: int, printed: list[str]) -> None:
        """Erase characters before the cursor."""
        before, tail = self.before, self._tail()
        count = min(count, len(before))
        if count:
            self.typed = before[: len(before) - count] + tail
            gone = min(count, MAX_REDRAWN)
            printed.append("\b \b" * gone if not tail else "\b" * gone + _drawn(tail + " " * gone))

    def _tail(self) -> str:
        """Return the text behind the cursor."""
        return self.typed[len(self.typed) - self.behind :]

    def _clear(self) -> None:
        self.typed = self.draft = ""
        self.behind = self.recalled = 0

    def _end_of_input(self, printed: list[str]) -> EnteredScript:
        if self.pending:
            self.pending = ""
            printed.append("\nbash: syntax error: unexpected end of file\n")
            return EnteredScript(status=2)
        return EnteredScript("exit\n", (SimpleCommand(["exit"]),))

    def _enter(self, printed: list[str]) -> EnteredScript | None:
        printed.append("\n")
        line = self.typed
        self._clear()
        if self.running:
            self.ahead = f"{self.ahead}{line}\n"[:MAX_PENDING]
            return None
        script = f"{self.pending}{line}\n"
        if self.pending and self.waiting and not self.waiting.ends(line) and len(script) < MAX_PENDING:
            self.pending = script
            printed.append(CONTINUATION)
            return None
        commands: list[SimpleCommand] = []
        try:
            commands = parse(script)
        except Incomplete as incomplete:
            if len(script) < MAX_PENDING:
                self.pending, self.waiting = script, incomplete.waiting
                printed.append(CONTINUATION)
                return None
        except Unexpected as error:
            self.pending = ""
            printed.append(f"bash: syntax error near unexpected token `{error}'\n")
            return EnteredScript(status=2)
        except TooDeep:
            pass
        self.pending = ""
        return EnteredScript(script, tuple(commands)) if script.strip() else EnteredScript()


def _drawn(tail: str) -> str:
    """Return what draws the text behind the cursor and goes back to the cursor; of a long text nothing is drawn."""
    return tail + "\b" * len(tail) if len(tail) <= MAX_REDRAWN else ""
