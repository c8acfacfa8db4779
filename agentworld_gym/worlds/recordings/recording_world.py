"""A world that records the transitions of another one.

Where one transition comes up twice, the first answer wins, in the recording as in the replay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentworld_gym.base.documents.json_lines import JsonlWriter, sealed
from agentworld_gym.base.errors import RecordingError
from agentworld_gym.base.text.escaping import escape
from agentworld_gym.core.checks.success_protocols import KnowsCollateral, RunsSuccessCode, RunsTests, SuccessFinding
from agentworld_gym.core.contracts import (
    Action,
    Failure,
    FailureKind,
    Instructing,
    Observation,
    Offering,
    Teachable,
    World,
)
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.flow import TOGETHER, Work, answering_of, named
from agentworld_gym.worlds.concurrency import in_rounds
from agentworld_gym.worlds.recordings.format import (
    FORMAT,
    HandedOut,
    next_key,
    outcome_key,
    packed,
    read_recording,
    start_key,
    tests_key,
    unpacked,
    verified_key,
)
from agentworld_gym.worlds.recordings.recorded_session import RecordedSession, inner_session


class RecordingWorld:
    """Passes everything on to another world and writes each transition to a file.

    A recording that is there already is continued; it must be of the same world.

    Args:
        inner: The world to record.
        path: The file of the recording.

    Raises:
        RecordingError: The file records another world, or is no recording.
        TraceError: The file cannot be written.
    """

    def __init__(self, inner: World[Any], path: Path) -> None:
        self.inner = inner
        self._inner_answering = answering_of(inner)
        self._teachable: Teachable[Any] | None = inner if isinstance(inner, Teachable) else None
        self.fingerprint = inner.fingerprint
        self.deterministic = inner.deterministic
        self._rows: dict[str, dict[str, Any]] = {}
        self._last = ""
        self._begun: list[str] | None = []  # None once the first line of the order was written.
        self._file = JsonlWriter(path)
        if not self._file.empty:
            recorded = read_recording(path)
            self._rows, self._last = recorded.rows, recorded.last
            if recorded.fingerprint.digest != self.fingerprint.digest:
                self._file.close()
                raise RecordingError(
                    f"{path} records world {recorded.fingerprint.digest}, this world is {self.fingerprint.digest}; "
                    "record to another file"
                )
        else:
            self._write([{"format": FORMAT, "fingerprint": self.fingerprint.as_dict()}])

    def begin(self, tasks: Sequence[Task], seeds: Sequence[int]) -> list[RecordedSession | Failure]:
        """Begin in the inner world and record the first observations."""
        sessions: list[RecordedSession | Failure] = []
        rows = []
        for task, seed, inner in zip(tasks, seeds, self.inner.begin(tasks, seeds), strict=True):
            if isinstance(inner, Failure):
                sessions.append(inner)
                continue
            key = start_key(self.fingerprint.digest, task, seed)
            if self._begun is not None:
                self._begun.append(key)
            offers = inner.offers if isinstance(inner, Offering) else None
            asked = inner.instruction if isinstance(inner, Instructing) else None
            shown = inner.observation, inner.system, inner
            sessions.append(RecordedSession(key, *shown, offers=offers, instruction=asked))
            row = {"key": key, "task": task.id, "seed": seed, "text": escape(inner.observation), "system": inner.system}
            if asked is not None:
                row["instruction"] = escape(asked)
            rows += self._keep(row if offers is None else {**row, "offers": [escape(offer) for offer in offers]})
        self._write(rows)
        return sessions

    def step(self, sessions: Sequence[RecordedSession], actions: Sequence[Action]) -> list[Observation | Failure]:
        """Step the inner world where the transition is not recorded yet."""
        return in_rounds(self.answering, sessions, actions)

    def answering(self, session: RecordedSession, action: Action) -> Work[Observation | Failure]:
        """Answer one action from the recording, or as a piece of work of the inner world.

        A teachable world is asked for a transition once, however many sessions take it at a time.
        """
        key, inner = next_key(session.key, action), inner_session(session)
        answer: Observation | Failure
        if self._teachable is not None and key in self._rows:
            yield TOGETHER
            answer = unpacked(self._rows[key])
            self._teachable.accept(inner, action, answer)
        elif self._teachable is not None:
            answer = yield from named(self._inner_answering(inner, action), key)
        else:
            answer = yield from self._inner_answering(inner, action)
        if isinstance(answer, Observation):
            self._write(self._keep({"key": key, "parent": session.key, "action": action.raw, **packed(answer)}))
            session.go_on(key, answer)
        return answer

    def record_order(self, steps: Sequence[HandedOut], under_way: int) -> None:
        """Record which steps were handed out together, in their order.

        Args:
            steps: The steps.
            under_way: How many steps were under way before, these included.

        Raises:
            TraceError: The file cannot be written.
        """
        self._write([{"steps": list(steps), "under_way": under_way, "begins": self._begun}])
        self._begun = None

    def _keep(self, row: dict[str, Any]) -> list[dict[str, Any]]:
        if row["key"] in self._rows:
            return []
        self._rows[row["key"]] = row
        return [row]

    def _write(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Append rows, each with its digest."""
        last, lines = self._last, []
        for row in rows:
            lines.append(sealed(row, last))
            last = lines[-1]["digest"]
        self._file.write(lines)
        self._last = last

    def passes(
        self, sessions: Sequence[RecordedSession], tests: Sequence[Mapping[str, str | None]]
    ) -> list[bool | Failure | None]:
        """Return and record what the inner world says of some tests; None where it cannot tell."""
        if not isinstance(self.inner, RunsTests):
            return [None] * len(sessions)
        verdicts = self.inner.passes([inner_session(session) for session in sessions], tests)
        rows: list[dict[str, Any]] = []
        for session, files, answer in zip(sessions, tests, verdicts, strict=True):
            if isinstance(answer, bool):
                rows += self._keep({"key": tests_key(session.key, files), "passes": answer})
        self._write(rows)
        return verdicts

    def verify(
        self, sessions: Sequence[RecordedSession], verifiers: Sequence[str], answers: Sequence[str | None]
    ) -> list[SuccessFinding | Failure]:
        """Return and record what the verifiers of the inner world find."""
        if not isinstance(self.inner, RunsSuccessCode):
            return [Failure(FailureKind.UNJUDGED, "the recorded world has no verifiers")] * len(sessions)
        findings = self.inner.verify([inner_session(session) for session in sessions], verifiers, answers)
        rows: list[dict[str, Any]] = []
        for session, verifier, answer, found in zip(sessions, verifiers, answers, findings, strict=True):
            if isinstance(found, SuccessFinding):
                key = verified_key(session.key, verifier, answer)
                rows += self._keep({"key": key, "score": found.score, "evidence": escape(found.evidence)})
        self._write(rows)
        return findings

    def collateral(self, sessions: Sequence[RecordedSession]) -> list[tuple[str, ...] | Failure | None]:
        """Return and record what the inner world says of each session; None where it cannot tell."""
        if not isinstance(self.inner, KnowsCollateral):
            return [None] * len(sessions)
        answers = self.inner.collateral([inner_session(session) for session in sessions])
        rows: list[dict[str, Any]] = []
        for session, places in zip(sessions, answers, strict=True):
            if not isinstance(places, Failure):
                key = outcome_key(session.key)
                rows += self._keep({"key": key, "collateral": None if places is None else list(places)})
        self._write(rows)
        return answers

    def close(self) -> None:
        """Close the file and the inner world."""
        self._file.close()
        self.inner.close()
