"""Rows that a world model predicts, and that the rules of their tables refuse."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from agentworld_gym.base.errors import AnswerError, ImpossibleState
from agentworld_gym.core.domain.view import predicted


@contextmanager
def predicted_rows(owner: str) -> Iterator[None]:
    """Make an answer error of any error in this block, which reads predicted rows.

    Rows that break a rule of their tables, such as a stock below zero, are told by that rule: whoever stores them would
    refuse them.

    Args:
        owner: Who stores the rows, for the message.

    Raises:
        ImpossibleState: The tables refuse the rows.
        AnswerError: The state cannot be read for any other reason.

    >>> with predicted_rows("server"):
    ...     raise sqlite3.IntegrityError("CHECK constraint failed: stock >= 0")
    Traceback (most recent call last):
    agentworld_gym.base.errors.ImpossibleState: the server would refuse these rows: CHECK constraint failed: stock >= 0
    """
    try:
        with predicted():
            yield
    except AnswerError as error:
        if isinstance(error.__cause__, sqlite3.IntegrityError):
            raise ImpossibleState(f"the {owner} would refuse these rows: {error.__cause__}") from error.__cause__
        raise
