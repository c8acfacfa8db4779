"""Pieces of work: what goes on in every scheduler, whenever the answers come."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentworld_gym.core.flow.questions import TOGETHER, BatchedCall, Request, Work


@dataclass(slots=True, eq=False)
class Piece:
    """A piece of work, what it came to, and the piece that waits for it."""

    work: Work[Any]
    """The work."""

    parent: Piece | None = None
    """The piece that waits for it; None where nobody does."""

    result: Any = None
    """What it came to."""

    branches: Sequence[Piece] = ()
    """The pieces that it waits for."""

    missing: int = 0
    """How many of them have not ended."""

    over: bool = False
    """Whether it was abandoned."""

    @property
    def root(self) -> Piece:
        """The piece for which nobody waits."""
        return self if self.parent is None else self.parent.root

    def close(self) -> None:
        """Abandon the work and its branches, which does nothing where they have ended."""
        self.over = True
        for branch in self.branches:
            branch.close()
        self.work.close()


class Scheduler(ABC):
    """Resumes pieces of work, and joins their branches.

    `Wave` lets all pieces wait for each other, and `Flow` none: they say what is done with a question, with a piece
    that comes to `TOGETHER`, and with one that ends.
    """

    @abstractmethod
    def _go(self, piece: Piece, answer: Any) -> None:
        """Put a piece behind those that can go on."""

    @abstractmethod
    def _ask(self, piece: Piece, question: Request | BatchedCall) -> None:
        """Ask what a piece asks."""

    @abstractmethod
    def _hold(self, piece: Piece) -> None:
        """Take a piece that is about to change its session."""

    @abstractmethod
    def _end(self, piece: Piece) -> None:
        """Take a piece that has ended, for which no other waits."""

    def _resume(self, piece: Piece, answer: Any) -> None:
        """Let a piece go on to its next question."""
        try:
            question = piece.work.send(answer)
        except StopIteration as end:
            piece.result = end.value
            if (parent := piece.parent) is None:
                self._end(piece)
                return
            parent.missing -= 1
            if not parent.missing:
                self._go(parent, [branch.result for branch in parent.branches])
            return
        if question is TOGETHER:
            self._hold(piece)
        elif isinstance(question, list):
            piece.branches = [Piece(work, piece) for work in question]
            piece.missing = len(question)
            for branch in piece.branches:
                self._go(branch, None)
            if not question:
                self._go(piece, [])
        else:
            self._ask(piece, question)
