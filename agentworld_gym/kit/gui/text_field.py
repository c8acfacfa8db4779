"""Editable text: its value, cursor and selection."""

from __future__ import annotations

from dataclasses import dataclass

MAX_CHARS = 20_000
"""The largest number of characters in a field; more are dropped."""


@dataclass(slots=True)
class Field:
    r"""The content of a text field. `anchor` is where the selection began, and equals `cursor` without a selection.

    >>> field = Field("Milk")
    >>> field.insert(" and eggs")
    >>> field.press("home"), field.press("delete"), field.value
    (True, True, 'ilk and eggs')
    >>> field.select_all()
    >>> field.insert("Bread"); field
    Field(value='Bread', cursor=5, anchor=5, multiline=False)
    """

    value: str = ""
    cursor: int = -1
    anchor: int = -1
    multiline: bool = False

    def __post_init__(self) -> None:
        if len(self.value) > MAX_CHARS:
            self.value = self.value[:MAX_CHARS]
            self.cursor, self.anchor = min(self.cursor, MAX_CHARS), min(self.anchor, MAX_CHARS)
        if self.cursor < 0:
            self.cursor = len(self.value)
        if self.anchor < 0:
            self.anchor = self.cursor

    @property
    def selection(self) -> tuple[int, int]:
        """The start and the end of the selection."""
        return min(self.cursor, self.anchor), max(self.cursor, self.anchor)

    @property
    def selected(self) -> str:
        """The selected text."""
        start, end = self.selection
        return self.value[start:end]

    def copy(self) -> Field:
        """Return an exact copy."""
        return Field(self.value, self.cursor, self.anchor, self.multiline)

    def set(self, value: str) -> None:
        """Replace the text, and put the cursor at its end."""
        self.value = value[:MAX_CHARS]
        self.cursor = self.anchor = len(self.value)

    def insert(self, text: str) -> None:
        """Type a text in place of the selection; in a field of one line, line breaks become spaces."""
        if not self.multiline:
            text = text.replace("\n", " ")
        start, end = self.selection
        text = text[: max(0, MAX_CHARS - len(self.value) + end - start)]
        self.value = self.value[:start] + text + self.value[end:]
        self.cursor = self.anchor = start + len(text)

    def select_all(self) -> None:
        """Select the whole text."""
        self.anchor, self.cursor = 0, len(self.value)

    def place(self, cursor: int, extend: bool = False) -> None:
        """Move the cursor; with `extend`, the selection grows to it."""
        self.cursor = min(max(cursor, 0), len(self.value))
        if not extend:
            self.anchor = self.cursor

    def press(self, key: str, shift: bool = False) -> bool:
        """Act on one of the keys `backspace delete left right up down home end`; False for any other key."""
        if key in ("backspace", "delete"):
            if self.cursor == self.anchor:
                step = -1 if key == "backspace" else 1
                self.anchor = min(max(self.cursor + step, 0), len(self.value))
            self.insert("")
            return True
        to = self._target(key, shift)
        if to is None:
            return False
        self.place(to, shift)
        return True

    def _target(self, key: str, shift: bool) -> int | None:
        start, end = self.selection
        line = self.value.rfind("\n", 0, self.cursor) + 1
        after = self.value.find("\n", self.cursor)
        close = len(self.value) if after < 0 else after
        if key == "left":
            return start if start != end and not shift else self.cursor - 1
        if key == "right":
            return end if start != end and not shift else self.cursor + 1
        if key == "home":
            return line
        if key == "end":
            return close
        if key == "up" and self.multiline:
            above = self.value.rfind("\n", 0, max(line - 1, 0)) + 1
            return 0 if line == 0 else min(above + self.cursor - line, line - 1)
        if key == "down" and self.multiline:
            if after < 0:
                return len(self.value)
            below = self.value.find("\n", after + 1)
            return min(after + 1 + self.cursor - line, len(self.value) if below < 0 else below)
        return None
