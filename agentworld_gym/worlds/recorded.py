"""Record any world's transitions, and replay them bitwise with no world at all.

A transition is keyed by a chain of digests: the world's fingerprint (model, spec, prompts, sampling), the task and the
seed, then each action. Where one key comes up twice, the first answer wins, in the recording as in the replay.

Each line carries the digest of what is in it and of the line before, so that a line that was edited, damaged or taken
out is noticed when the recording is read. A digest has no secret: who makes all of them anew can write what was never
observed, and lines that are missing at the end leave no mark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentworld_gym.contracts import (
    Accountable,
    Action,
    Failure,
    FailureKind,
    Observation,
    Session,
    Teachable,
    Testing,
    Usage,
    World,
)
from agentworld_gym.documents.json_lines import JsonlWriter, check_fields, is_whole, read_jsonl, sealed
from agentworld_gym.domain.task import Task
from agentworld_gym.errors import RecordingError, TraceError
from agentworld_gym.fingerprint import Fingerprint, digest_of
from agentworld_gym.text.escaping import escape, unescape
from agentworld_gym.worlds.waves import rounds

FORMAT = "agentworld-recording-2"


def start_key(digest: str, task: Task, seed: int) -> str:
    """The key of an episode before any action."""
    return digest_of([digest, task.model_dump(mode="json"), seed])


def next_key(key: str, action: Action) -> str:
    """The key after one more action."""
    return digest_of([key, action.raw])


def tests_key(key: str, tests: Mapping[str, str | None]) -> str:
    """The key of whether tests pass at some place of an episode."""
    return digest_of([key, "passes", dict(tests)])


def outcome_key(key: str) -> str:
    """The key of what a session changed beside its task."""
    return digest_of([key, "collateral"])


@dataclass
class RecordedSession:
    """Where in the recording an episode stands; `inner` is the session behind it while recording."""

    key: str
    observation: str
    system: str = ""
    inner: Session | None = None
    turn: int = 0

    def go_on(self, key: str, observation: str) -> None:
        """Take the step that leads to another key."""
        self.key, self.observation, self.turn = key, observation, self.turn + 1

    def fork(self) -> RecordedSession:
        """An exact copy."""
        inner = None if self.inner is None else self.inner.fork()
        return RecordedSession(self.key, self.observation, self.system, inner, self.turn)

    def probe(self) -> RecordedSession:
        """A copy to test success on; its transitions have keys of their own, for it may answer in another way."""
        inner = None if self.inner is None else self.inner.probe()
        return RecordedSession(digest_of([self.key, "probe"]), self.observation, self.system, inner, self.turn)

    def close(self) -> None:
        """Free the session behind it."""
        if self.inner is not None:
            self.inner.close()


class RecordingWorld:
    """Passes everything on to `inner` and writes each transition to `path`, flushed once a wave.

    A recording that is there already is continued; it must be of the same world.

    Raises:
        RecordingError: the file records another world, or is no recording.
        TraceError: the file cannot be written.
    """

    def __init__(self, inner: World[Any], path: Path) -> None:
        self.inner = inner
        self._teachable: Teachable[Any] | None = inner if isinstance(inner, Teachable) else None
        self.fingerprint = inner.fingerprint
        self.deterministic = inner.deterministic
        self._rows: dict[str, dict[str, Any]] = {}
        self._last = ""
        self._file = JsonlWriter(path)
        if not self._file.empty:
            recorded, self._rows, self._last = _read(path)
            if recorded.digest != self.fingerprint.digest:
                self._file.close()
                raise RecordingError(
                    f"{path} records world {recorded.digest}, this world is {self.fingerprint.digest}; "
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
            session = RecordedSession(key, inner.observation, inner.system, inner)
            sessions.append(session)
            row = {"key": key, "task": task.id, "seed": seed, "text": escape(inner.observation), "system": inner.system}
            rows += self._keep(row)
        self._write(rows)
        return sessions

    def step(self, sessions: Sequence[RecordedSession], actions: Sequence[Action]) -> list[Observation | Failure]:
        """Step the inner world where the transition is not recorded yet."""
        results: list[Observation | Failure] = [NOT_RECORDED] * len(sessions)
        for indices in rounds(sessions):
            keys = {index: next_key(sessions[index].key, actions[index]) for index in indices}
            asked = self._to_ask(keys)
            inner = [_inner(sessions[index]) for index in asked]
            answers = self.inner.step(inner, [actions[index] for index in asked]) if asked else []
            rows = []
            for index, answer in zip(asked, answers, strict=True):
                results[index] = answer
                if isinstance(answer, Observation):
                    row = {"key": keys[index], "parent": sessions[index].key, "action": actions[index].raw}
                    rows += self._keep({**row, **_packed(answer)})
            self._write(rows)
            for index in sorted(set(indices).difference(asked)):
                results[index] = self._recall(sessions[index], actions[index], keys[index])
            for index in indices:
                if isinstance(answer := results[index], Observation):
                    sessions[index].go_on(keys[index], answer.text)
        return results

    def _to_ask(self, keys: Mapping[int, str]) -> list[int]:
        """Whom to ask: each unknown transition once, but everyone where the inner world cannot be told an answer."""
        if self._teachable is None:
            return list(keys)
        asked: dict[str, int] = {}
        for index, key in keys.items():
            if key not in self._rows:
                asked.setdefault(key, index)
        return list(asked.values())

    def _recall(self, session: RecordedSession, action: Action, key: str) -> Observation | Failure:
        """Return a recorded answer, and tell it to the inner world."""
        if key not in self._rows:
            return Failure(FailureKind.SERVER, "the same transition failed in this wave", retryable=True)
        assert self._teachable is not None
        observed = _unpacked(self._rows[key])
        self._teachable.accept(_inner(session), action, observed)
        return observed

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
        """What the inner world says of some tests, recorded; nothing where it cannot tell."""
        if not isinstance(self.inner, Testing):
            return [None] * len(sessions)
        found = self.inner.passes([_inner(session) for session in sessions], tests)
        rows: list[dict[str, Any]] = []
        for session, files, answer in zip(sessions, tests, found, strict=True):
            if isinstance(answer, bool):
                rows += self._keep({"key": tests_key(session.key, files), "passes": answer})
        self._write(rows)
        return found

    def collateral(self, sessions: Sequence[RecordedSession]) -> list[tuple[str, ...] | Failure | None]:
        """What the inner world says of each session, recorded; nothing where it cannot tell."""
        if not isinstance(self.inner, Accountable):
            return [None] * len(sessions)
        found = self.inner.collateral([_inner(session) for session in sessions])
        rows: list[dict[str, Any]] = []
        for session, places in zip(sessions, found, strict=True):
            if not isinstance(places, Failure):
                key = outcome_key(session.key)
                rows += self._keep({"key": key, "collateral": None if places is None else list(places)})
        self._write(rows)
        return found

    def close(self) -> None:
        """Close the file and the inner world."""
        self._file.close()
        self.inner.close()


NOT_RECORDED = Failure(FailureKind.RECORDING, "this transition is not in the recording")


@dataclass
class RecordedWorld:
    """Replays a recording: no model, no server, the same observations byte for byte.

    Raises:
        RecordingError: the file is not there or is no recording.
    """

    path: Path
    deterministic: bool = field(default=True, init=False)
    fingerprint: Fingerprint = field(init=False)

    def __post_init__(self) -> None:
        self.fingerprint, self._rows = read_recording(self.path)
        self._actions: dict[str, list[str]] = {}
        for row in self._rows.values():
            if "parent" in row:
                self._actions.setdefault(row["parent"], []).append(row["action"])

    def begin(self, tasks: Sequence[Task], seeds: Sequence[int]) -> list[RecordedSession | Failure]:
        """Find each episode's start in the recording; a start that is not there is a failure that says what is."""
        return [self._begin(task, seed) for task, seed in zip(tasks, seeds, strict=True)]

    def _begin(self, task: Task, seed: int) -> RecordedSession | Failure:
        key = start_key(self.fingerprint.digest, task, seed)
        row = self._rows.get(key)
        if row is not None:
            return RecordedSession(key, unescape(row["text"]), row.get("system", ""))
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
        """Look each transition up."""
        return [self._step(session, action) for session, action in zip(sessions, actions, strict=True)]

    def _step(self, session: RecordedSession, action: Action) -> Observation | Failure:
        key = next_key(session.key, action)
        row = self._rows.get(key)
        if row is None:
            known = self._actions.get(session.key, [])
            return Failure(
                FailureKind.RECORDING,
                f"{self.path}: turn {session.turn + 1}: no answer to {action.raw[:80]!r}; "
                f"recorded here: {', '.join(repr(a[:80]) for a in known[:5]) or 'nothing'}",
            )
        observed = _unpacked(row)
        session.go_on(key, observed.text)
        return observed

    def passes(
        self, sessions: Sequence[RecordedSession], tests: Sequence[Mapping[str, str | None]]
    ) -> list[bool | Failure | None]:
        """What was recorded of some tests; None where the recorded world could not tell, or was not asked."""
        rows = [self._rows.get(tests_key(one.key, files), {}) for one, files in zip(sessions, tests, strict=True)]
        return [row.get("passes") for row in rows]

    def collateral(self, sessions: Sequence[RecordedSession]) -> list[tuple[str, ...] | Failure | None]:
        """What was recorded of each session; None where the recorded world could not tell, or was not asked."""
        rows = (self._rows.get(outcome_key(session.key), {}) for session in sessions)
        found = (row.get("collateral") for row in rows)
        return [None if places is None else tuple(map(str, places)) for places in found]

    def close(self) -> None:
        """Nothing is held."""


def read_recording(path: Path) -> tuple[Fingerprint, dict[str, dict[str, Any]]]:
    """The fingerprint of the recorded world, and its rows by key (the first of equal keys).

    Raises:
        RecordingError: the file is not there or is no recording; or a line is not what was recorded (names it).
        TraceError: a line is no JSON (names it).
    """
    fingerprint, found, _ = _read(path)
    return fingerprint, found


def _read(path: Path) -> tuple[Fingerprint, dict[str, dict[str, Any]], str]:
    """What `read_recording` gives, and the digest of the last line."""
    if not path.is_file():
        raise RecordingError(f"{path}: no such recording; make one with world='record:{path}+WORLD'")
    rows = enumerate(read_jsonl(path), 1)
    _, header = next(rows, (1, {}))
    if header.get("format") != FORMAT:
        raise RecordingError(f"{path}: not a recording (expected a first line with format {FORMAT!r}; record again)")
    last = _checked(header, _HEADER, path, 1, "")
    found: dict[str, dict[str, Any]] = {}
    for number, row in rows:
        last = _checked(row, _kinds_of(row), path, number, last)
        found.setdefault(row["key"], row)
    return Fingerprint.from_dict(header["fingerprint"]), found, last


_HEADER: Mapping[str, Any] = {"fingerprint": dict}
_START: Mapping[str, Any] = {"key": str, "task": str, "seed": int, "text": str, "system": str}
_STEP: Mapping[str, Any] = {"key": str, "parent": str, "action": str, "text": str, "usage": list, "prompt": str}
_STEP = {**_STEP, "completion": str, "reasoning": str, "seed": int | None}


_PASSES: Mapping[str, Any] = {"key": str, "passes": bool}
_COLLATERAL: Mapping[str, Any] = {"key": str, "collateral": list | None}


def _kinds_of(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of a row with their types."""
    kinds = {"task": _START, "passes": _PASSES, "collateral": _COLLATERAL}
    return next((fields for name, fields in kinds.items() if name in row), _STEP)


def _checked(row: Mapping[str, Any], kinds: Mapping[str, Any], path: Path, number: int, before: str) -> str:
    """The digest of a row that is what was recorded behind the digest `before`."""
    if not is_whole(row, before):
        said = "its digest is not that of what it holds and of the line before: something was changed or taken out"
        raise RecordingError(f"{path}: line {number}: {said if 'digest' in row else 'an entry without a digest'}")
    try:
        check_fields(row, kinds, path, number)
    except TraceError as error:
        raise RecordingError(str(error)) from error
    return str(row["digest"])


def _inner(session: RecordedSession) -> Session:
    if session.inner is None:
        raise RecordingError("this session belongs to a replay, not to a recording")
    return session.inner


def _packed(observed: Observation) -> dict[str, Any]:
    sure = {} if observed.confidence is None else {"confidence": observed.confidence}
    kept = {"ledger": escape(observed.ledger)} if observed.ledger else {}
    return {
        "text": escape(observed.text),
        "usage": [observed.usage.prompt_tokens, observed.usage.completion_tokens, observed.usage.cached_tokens],
        "prompt": observed.prompt,
        "completion": observed.completion,
        "reasoning": observed.reasoning,
        "seed": observed.seed,
        **sure,
        **kept,
    }


def _unpacked(row: dict[str, Any]) -> Observation:
    return Observation(
        unescape(row["text"]),
        Usage(*row["usage"]),
        row["prompt"],
        row["completion"],
        row["reasoning"],
        row["seed"],
        row.get("confidence"),
        unescape(row.get("ledger", "")),
    )
