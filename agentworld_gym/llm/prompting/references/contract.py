"""What all kinds of references have in common: their marks, their bound and their error."""

from __future__ import annotations

from agentworld_gym.base.errors import AnswerError

MARK = "@"
"""Begins a reference."""

ESCAPE = "\\"
"""Stands before what looks like a reference and is none."""

LONGEST = 1_000_000
"""How many characters the references of one text may stand for, all together.

Many references to large blocks would stand for any number of them.
"""


class UnknownReference(AnswerError):
    """A reference to something that the state does not hold; the error names it, and what was expected."""

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
        """Count characters before they are put together.

        Raises:
            UnknownReference: There are too many.
        """
        self._left -= count
        if self._left < 0:
            raise UnknownReference(self._text, f"references that stand for at most {LONGEST:_} characters")
