"""How a recording is written: its keys, its lines, and how they are read again.

A transition is keyed by a chain of digests: the world's fingerprint (model, spec, prompts, sampling), the task and the
seed, then each action.

Where steps did not wait for each other, lines between the transitions say which were handed out together, and how many
were under way: `{"steps": [["e3", 1], ["e0", 2]], "under_way": 4, "begins": null}`. The first line of a run `begins`
with the keys of the episodes that the run had begun, so that a replay finds the order of its own run.

Each line carries the digest of what it holds and of the line before, so that a line that was edited, damaged or taken
out is noticed when the recording is read. A digest has no secret: whoever makes all of them again can write what was
never observed, and lines that are missing at the end leave no mark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentworld_gym.base.documents.json_lines import check_fields, is_whole, read_jsonl
from agentworld_gym.base.errors import MissingFile, RecordingError, TraceError
from agentworld_gym.base.fingerprint import Fingerprint, digest_of
from agentworld_gym.base.text.escaping import escape, unescape
from agentworld_gym.core.contracts import Action, AnswerSource, Observation, Usage, Verdict
from agentworld_gym.core.domain.task import Task

FORMAT = "agentworld-recording-3"

HandedOut = tuple[str, int]
"""The name of an episode and the number of its step, from 1 on."""


@dataclass(frozen=True, slots=True)
class RecordedBatch:
    """Steps that were handed out together."""

    steps: tuple[HandedOut, ...]
    """The steps, in their order."""

    under_way: int
    """How many steps were under way before, these included."""


def start_key(digest: str, task: Task, seed: int) -> str:
    """Return the key of an episode before any action."""
    return digest_of([digest, task.model_dump(mode="json"), seed])


def next_key(key: str, action: Action) -> str:
    """Return the key after one more action."""
    return digest_of([key, action.raw])


def tests_key(key: str, tests: Mapping[str, str | None]) -> str:
    """Return the key of the verdict on some tests at one place of an episode."""
    return digest_of([key, "passes", dict(tests)])


def verified_key(key: str, verifier: str, answer: str | None) -> str:
    """Return the key of what a verifier found at one place of an episode."""
    return digest_of([key, "verified", verifier, answer])


def outcome_key(key: str) -> str:
    """Return the key of what a session changed beside its task."""
    return digest_of([key, "collateral"])


@dataclass(frozen=True, slots=True)
class Recording:
    """What a recording holds."""

    fingerprint: Fingerprint
    """The fingerprint of the recorded world."""

    rows: dict[str, dict[str, Any]]
    """Its rows by key, the first of equal keys."""

    orders: dict[tuple[str, ...], list[RecordedBatch]]
    """The batches of each run whose steps did not wait for each other, by the keys of the episodes that it had begun
    before the first batch; the last run of equal keys."""

    last: str
    """The digest of the last line."""


def read_recording(path: Path) -> Recording:
    """Read a recording.

    Args:
        path: The file of the recording.

    Raises:
        MissingFile: There is no such file.
        RecordingError: The file is no recording, or a line is not what was recorded; the error names it.
        TraceError: A line is no JSON; the error names it.
    """
    if not path.is_file():
        raise MissingFile(path, f"one that world='record:{path}+WORLD' makes", "recording")
    lines = enumerate(read_jsonl(path), 1)
    _, header = next(lines, (1, {}))
    if header.get("format") != FORMAT:
        raise RecordingError(f"{path}: not a recording (expected a first line with format {FORMAT!r}; record again)")
    last = _checked(header, _HEADER, path, 1, "")
    rows: dict[str, dict[str, Any]] = {}
    orders: dict[tuple[str, ...], list[RecordedBatch]] = {}
    order: list[RecordedBatch] | None = None
    for number, row in lines:
        last = _checked(row, _kinds_of(row), path, number, last)
        if "steps" not in row:
            rows.setdefault(row["key"], row)
            continue
        if row["begins"] is not None:
            order = orders[tuple(map(str, row["begins"]))] = []
        if order is None:
            raise RecordingError(f"{path}: line {number}: begins: got None, expected the keys of the run's episodes")
        order.append(RecordedBatch(_handed_out(row["steps"], path, number), row["under_way"]))
    return Recording(Fingerprint.from_dict(header["fingerprint"]), rows, orders, last)


def _handed_out(steps: list[Any], path: Path, line: int) -> tuple[HandedOut, ...]:
    for step in steps:
        match step:
            case [str(), int(number)] if not isinstance(number, bool):
                continue
        raise RecordingError(f"{path}: line {line}: steps: got {step!r}, expected the name of an episode and a number")
    return tuple((name, number) for name, number in steps)


_HEADER: Mapping[str, Any] = {"fingerprint": dict}
_START: Mapping[str, Any] = {"key": str, "task": str, "seed": int, "text": str, "system": str}
_STEP: Mapping[str, Any] = {"key": str, "parent": str, "action": str, "text": str, "usage": list, "prompt": str}
_STEP = {**_STEP, "completion": str, "reasoning": str, "seed": int | None}


_PASSES: Mapping[str, Any] = {"key": str, "passes": bool}
_COLLATERAL: Mapping[str, Any] = {"key": str, "collateral": list | None}
_VERIFIED: Mapping[str, Any] = {"key": str, "evidence": str, "score": float | None}
_ORDER: Mapping[str, Any] = {"steps": list, "under_way": int, "begins": list | None}


def _kinds_of(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields that a row must have, with their types."""
    kinds = {"task": _START, "passes": _PASSES, "collateral": _COLLATERAL, "evidence": _VERIFIED, "steps": _ORDER}
    return next((fields for name, fields in kinds.items() if name in row), _STEP)


def _checked(row: Mapping[str, Any], kinds: Mapping[str, Any], path: Path, number: int, before: str) -> str:
    """Return the digest of a row, once it is sure that the row was recorded after the one with the digest `before`."""
    if not is_whole(row, before):
        reason = "its digest is not that of what it holds and of the line before: something was changed or taken out"
        raise RecordingError(f"{path}: line {number}: {reason if 'digest' in row else 'an entry without a digest'}")
    try:
        check_fields(row, kinds, path, number)
    except TraceError as error:
        raise RecordingError(str(error)) from error
    if row.get("source") not in (None, *AnswerSource):
        raise RecordingError(
            f"{path}: line {number}: source: got {row['source']!r}, expected {' or '.join(AnswerSource)}"
        )
    return str(row["digest"])


def packed(observed: Observation) -> dict[str, Any]:
    """Return the fields of a line that hold an observation."""
    sure = {} if observed.confidence is None else {"confidence": observed.confidence}
    return {
        "text": escape(observed.text),
        "usage": list(observed.usage.as_dict().values()),
        "prompt": observed.prompt,
        "completion": observed.completion,
        "reasoning": observed.reasoning,
        "seed": observed.seed,
        **sure,
        **_stood_in(observed),
        **_said(observed),
    }


def _said(observed: Observation) -> dict[str, Any]:
    """Return what the world itself said of the step, and of the actions that can be done next."""
    said: dict[str, Any] = {} if observed.verdict is None else {"verdict": observed.verdict.as_dict()}
    return said if observed.offers is None else {**said, "offers": [escape(offer) for offer in observed.offers]}


def offers_in(row: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the actions of a row that could be done next; None where the world did not tell them."""
    return tuple(map(unescape, row["offers"])) if "offers" in row else None


def _stood_in(observed: Observation) -> dict[str, Any]:
    """Return who answered in the model's place, and the structured state, which its completion does not tell then."""
    if observed.source is None:
        return {}
    state = {} if observed.state is None else {"state": observed.state}
    return {"source": observed.source.value, **state}


def unpacked(row: dict[str, Any]) -> Observation:
    """Return the observation that the fields of a line hold."""
    return Observation(
        unescape(row["text"]),
        Usage.read(dict(zip(Usage().as_dict(), row["usage"], strict=False))),
        row["prompt"],
        row["completion"],
        row["reasoning"],
        row["seed"],
        row.get("confidence"),
        row.get("state"),
        AnswerSource(row["source"]) if "source" in row else None,
        verdict=Verdict(**row["verdict"], offers=offers_in(row)) if "verdict" in row else None,
        offers=offers_in(row),
    )
