"""A world that replays a recording, bitwise and without the world that was recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentworld_gym.base.fingerprint import Fingerprint
from agentworld_gym.base.text.escaping import unescape
from agentworld_gym.core.checks.success_protocols import SuccessFinding
from agentworld_gym.core.contracts import Action, Failure, FailureKind, Observation
from agentworld_gym.core.domain.task import Task
from agentworld_gym.worlds.recordings.format import (
    RecordedBatch,
    next_key,
    offers_in,
    outcome_key,
    read_recording,
    start_key,
    tests_key,
    unpacked,
    verified_key,
)
from agentworld_gym.worlds.recordings.recorded_session import RecordedSession


@dataclass
class RecordedWorld:
    """Replays a recording without a model or a server; the observations are the same byte for byte.

    Raises:
        MissingFile: There is no such file.
        RecordingError: The file is no recording.
    """

    path: Path
    """The file of the recording."""

    deterministic: bool = field(default=True, init=False)
    """True: equal actions give equal observations."""

    fingerprint: Fingerprint = field(init=False)
    """The fingerprint of the recorded world."""

    orders: dict[tuple[str, ...], list[RecordedBatch]] = field(init=False)
    """The batches of each recorded run whose steps did not wait for each other; see `Recording.orders`."""

    begun: list[str] = field(default_factory=list, init=False)
    """The keys of the episodes that the replay has begun, in their order."""

    def __post_init__(self) -> None:
        recording = read_recording(self.path)
        self.fingerprint, self._rows, self.orders = recording.fingerprint, recording.rows, recording.orders
        self._actions: dict[str, list[str]] = {}
        for row in self._rows.values():
            if "parent" in row:
                self._actions.setdefault(row["parent"], []).append(row["action"])

    def begin(self, tasks: Sequence[Task], seeds: Sequence[int]) -> list[RecordedSession | Failure]:
        """Find the start of each episode in the recording; where there is none, the failure says what was recorded."""
        return [self._begin(task, seed) for task, seed in zip(tasks, seeds, strict=True)]

    def _begin(self, task: Task, seed: int) -> RecordedSession | Failure:
        key = start_key(self.fingerprint.digest, task, seed)
        row = self._rows.get(key)
        if row is not None:
            self.begun.append(key)
            asked = unescape(row["instruction"]) if "instruction" in row else None
            told = unescape(row["text"]), row.get("system", "")
            return RecordedSession(key, *told, offers=offers_in(row), instruction=asked)
        return Failure(FailureKind.RECORDING, f"{self.path}: {self._what_differs(task, seed)}")

    def _what_differs(self, task: Task, seed: int) -> str:
        starts = [row for row in self._rows.values() if "task" in row]
        same_task = [row["seed"] for row in starts if row["task"] == task.id]
        if not same_task:
            names = ", ".join(sorted({row["task"] for row in starts})[:5]) or "none"
            return f"no episode of task {task.id}; recorded tasks: {names}"
        if seed not in same_task:
            return f"task {task.id} was recorded under seeds {sorted(same_task)[:5]}, not {seed}"
        return f"task {task.id} with seed {seed} was recorded with another content of the task"

    def step(self, sessions: Sequence[RecordedSession], actions: Sequence[Action]) -> list[Observation | Failure]:
        """Look up each transition."""
        return [self._step(session, action) for session, action in zip(sessions, actions, strict=True)]

    def _step(self, session: RecordedSession, action: Action) -> Observation | Failure:
        key = next_key(session.key, action)
        row = self._rows.get(key)
        if row is None:
            actions = self._actions.get(session.key, [])
            return Failure(
                FailureKind.RECORDING,
                f"{self.path}: turn {session.turn + 1}: no answer to {action.raw[:80]!r}; "
                f"recorded here: {', '.join(repr(a[:80]) for a in actions[:5]) or 'nothing'}",
            )
        observed = unpacked(row)
        session.go_on(key, observed)
        return observed

    def passes(
        self, sessions: Sequence[RecordedSession], tests: Sequence[Mapping[str, str | None]]
    ) -> list[bool | Failure | None]:
        """Return what was recorded of some tests; None where the recorded world could not tell, or was not asked."""
        rows = [self._rows.get(tests_key(one.key, files), {}) for one, files in zip(sessions, tests, strict=True)]
        return [row.get("passes") for row in rows]

    def verify(
        self, sessions: Sequence[RecordedSession], verifiers: Sequence[str], answers: Sequence[str | None]
    ) -> list[SuccessFinding | Failure]:
        """Return what was recorded of some verifiers, or a failure where none of it was."""
        return [self._verify(*each) for each in zip(sessions, verifiers, answers, strict=True)]

    def _verify(self, session: RecordedSession, verifier: str, answer: str | None) -> SuccessFinding | Failure:
        row = self._rows.get(verified_key(session.key, verifier, answer))
        if row is None:
            return Failure(FailureKind.RECORDING, f"{self.path}: turn {session.turn}: nothing recorded of {verifier}")
        return SuccessFinding(row["score"], unescape(row["evidence"]))

    def collateral(self, sessions: Sequence[RecordedSession]) -> list[tuple[str, ...] | Failure | None]:
        """Return what was recorded of each session; None where the recorded world could not tell, or was not asked."""
        rows = (self._rows.get(outcome_key(session.key), {}) for session in sessions)
        recorded = (row.get("collateral") for row in rows)
        return [None if places is None else tuple(map(str, places)) for places in recorded]

    def close(self) -> None:
        """Do nothing: nothing is held."""
