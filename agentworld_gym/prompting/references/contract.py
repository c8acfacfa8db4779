"""What all references have in common."""

from __future__ import annotations

from typing import Protocol

from agentworld_gym.errors import AnswerError

MARK = "@"
"""Begins a reference."""

ESCAPE = "\\"
"""Stands before what looks like a reference and is none."""

LONGEST = 1_000_000
"""Characters that the references of one text stand for at most, all together and with the JSON around rows.

References to large blocks, and rows that repeat the fields of others, would stand for any number of them.
"""


class UnknownReference(AnswerError):
    """A reference to something that the state does not hold; names it, and what was expected."""

    def __init__(self, reference: str, expected: str) -> None:
        self.reference, self.expected = reference, expected
        shown = reference if len(reference) <= 80 else reference[:77] + "..."
        super().__init__(f"the reference {shown!r}: expected {expected}")

    def __reduce__(self) -> tuple[type[UnknownReference], tuple[str, str]]:
        return type(self), (self.reference, self.expected)


class Room:
    """Counts what a text with references stands for while it is resolved."""

    def __init__(self, text: str) -> None:
        self._text, self._left = text, LONGEST

    def take(self, count: int) -> None:
        """Count characters, before they are put together.

        Raises:
            UnknownReference: there are too many.
        """
        self._left -= count
        if self._left < 0:
            raise UnknownReference(self._text, f"references that stand for at most {LONGEST:_} characters")


class References(Protocol):
    """What a text may refer to."""

    def refer(self, text: str) -> str:
        """The text with references in the place of what is known; without any where it is longer than `LONGEST`."""

    def resolve(self, text: str) -> str:
        """The text that one with references stands for; the inverse of `refer`.

        Raises:
            UnknownReference: a reference to nothing that is known, one that cannot be read, or references that stand
                for more than `LONGEST` characters.
        """
