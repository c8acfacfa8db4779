"""Protocols of worlds that can tell of success themselves: by tests, by verifiers, or by what an episode changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

from agentworld_gym.core.contracts import Failure

S_contra = TypeVar("S_contra", contravariant=True)


@runtime_checkable
class RunsTests(Protocol[S_contra]):
    """A world that can run test files itself and judges them by the values that the tested code gives."""

    def passes(
        self, sessions: Sequence[S_contra], tests: Sequence[Mapping[str, str | None]]
    ) -> list[bool | Failure | None]:
        """Return for each session whether the tests of some files pass; None where this world cannot tell.

        Args:
            sessions: Copies of sessions, made by `Session.probe`.
            tests: The text of each test file by its path, for each session; None stands for the text of the start.
        """
        ...


@dataclass(frozen=True, slots=True)
class SuccessFinding:
    """What a verifier found in an episode."""

    score: float | None
    """How far the task is done, from 0 to 1; None where a judge has to read the evidence."""

    evidence: str
    """What the verifier says of the episode."""


@runtime_checkable
class RunsSuccessCode(Protocol[S_contra]):
    """A world whose tasks come with verifiers: code that the world runs on what an episode left."""

    def verify(
        self, sessions: Sequence[S_contra], verifiers: Sequence[str], answers: Sequence[str | None]
    ) -> list[SuccessFinding | Failure]:
        """Return what verifiers found, or why they found nothing.

        Args:
            sessions: The sessions, which stay as they are.
            verifiers: The name of a verifier for each session, from `Check.verifier`.
            answers: What the agent of each session answered; None where it gave no answer.
        """
        ...


@runtime_checkable
class KnowsCollateral(Protocol[S_contra]):
    """A world that knows the state of its sessions, and so what they changed beside what their tasks ask for.

    Grounded worlds know it. In a world that does not, success is what the checks say.
    """

    def collateral(self, sessions: Sequence[S_contra]) -> list[tuple[str, ...] | Failure | None]:
        """Return for each session where its state differs from the one that the expert of its task leaves.

        None says that this cannot be known, as for a task without an expert.
        """
        ...
