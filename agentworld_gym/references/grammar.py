"""What all references have in common."""

from __future__ import annotations

from typing import Protocol

from agentworld_gym.errors import AnswerError

MARK = "@"
"""Begins a reference."""

ESCAPE = "\\"
"""Stands before what looks like a reference and is none."""


class UnknownReference(AnswerError):
    """A reference to something that the state does not hold; names it, and what was expected."""

    def __init__(self, reference: str, expected: str) -> None:
        self.reference, self.expected = reference, expected
        shown = reference if len(reference) <= 80 else reference[:77] + "..."
        super().__init__(f"the reference {shown!r}: expected {expected}")

    def __reduce__(self) -> tuple[type[UnknownReference], tuple[str, str]]:
        return type(self), (self.reference, self.expected)


class References(Protocol):
    """What a text may refer to."""

    def refer(self, text: str) -> str:
        """The text with references in the place of what is known."""

    def resolve(self, text: str) -> str:
        """The text that one with references stands for; the inverse of `refer`.

        Raises:
            UnknownReference: a reference to nothing that is known, or one that cannot be read.
        """
