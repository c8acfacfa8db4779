"""What is wrong with an answer of the generator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from agentworld_gym.base.errors import SpecError

MOST = 8
"""How many faults of one answer are reported at a time."""

MOST_CHARS = 4_000
"""How long the text of a fault may be."""


class AnswerFault(Exception):
    """An answer is wrong; the text says why, and goes back to the generator.

    >>> str(AnswerFault("there is no table orders"))
    'there is no table orders'
    """

    def __init__(self, text: str) -> None:
        super().__init__(text if len(text) <= MOST_CHARS else f"{text[:MOST_CHARS]} …")


def raise_any(faults: Sequence[str]) -> None:
    """Raise the faults that were found, if there are any.

    >>> raise_any([])

    Raises:
        Fault: There is at least one fault.
    """
    if faults:
        left = len(faults) - MOST
        told = [*faults[:MOST], *([f"and {left} more"] if left > 0 else [])]
        raise AnswerFault("\n".join(told))


@contextmanager
def spec_errors_as_faults() -> Iterator[None]:
    """Turn the error of a document that the generator wrote into a fault.

    Raises:
        Fault: The document is wrong.
    """
    try:
        yield
    except SpecError as error:
        raise AnswerFault(f"{error.key}: got {_short(error.value)}, expected {error.expected}") from error


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]} …"
