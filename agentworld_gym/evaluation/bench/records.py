"""The records of a benchmark run: lines on disk that survive `kill -9`, so that a run goes on where it stood."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from agentworld_gym.base.documents.json_lines import JsonlWriter, read_jsonl
from agentworld_gym.base.documents.strict import Strict, validated
from agentworld_gym.core.contracts import Usage
from agentworld_gym.llm.judging.bench_rows import Key

Stage = Literal["prediction", "verdict"]


class AnswerRecord(Strict):
    """One answer: the model's prediction of a row, or a judge's verdict on it; or why there is none."""

    key: Key
    """The key of the row."""

    stage: Stage
    """Whether this is a prediction or a verdict."""

    text: str = ""
    """The observation read out of the completion."""

    completion: str = ""
    """The completion."""

    reasoning: str = ""
    """The thinking, where the generator gives it apart."""

    finish: str = ""
    """Why the completion ended."""

    confidence: float | None = None
    """The mean log-probability of a token, where that is known."""

    judge: str = ""
    """The digest of the judge."""

    scores: dict[str, int] = Field(default_factory=dict)
    """The judge's scores by dimension."""

    strengths: str = ""
    """What the judge found good."""

    weaknesses: str = ""
    """What the judge found bad."""

    tries: int = 1
    """The number of tries."""

    unread: list[str] = Field(default_factory=list)
    """What the judge replied before, where it could not be read, to the letter."""

    failure: dict[str, Any] | None = None
    """Why there is no answer, as `Failure.as_dict` gives it."""

    tokens: dict[str, int] | None = Field(default_factory=dict)
    """The tokens of all tries; None where a server does not tell."""


class Records:
    """The records of one run, in a file: the last one of a row and a stage counts, and a torn last line is cut off.

    Args:
        path: The file, which is made where there is none.
        judge: The digest of the judge whose verdicts count; those of others stay in the file.

    Raises:
        TraceError: The file cannot be read or written, or another process writes it.
        SpecError: A line is no record.
    """

    def __init__(self, path: Path, judge: str = "") -> None:
        self._judge = judge
        self._writer = JsonlWriter(path)
        self._new: list[AnswerRecord] = []
        self._found: dict[tuple[Key, Stage], AnswerRecord] = {}
        self._failed: Counter[tuple[Key, Stage]] = Counter()
        self._spent: defaultdict[Stage, Usage] = defaultdict(Usage)
        for line in read_jsonl(path):
            self._take(validated(AnswerRecord, line, path))

    def get(self, key: Key, stage: Stage) -> AnswerRecord | None:
        """Return the record of a row and a stage, if there is one."""
        return self._found.get((key, stage))

    def add(self, record: AnswerRecord) -> None:
        """Add a record; `flush` writes it."""
        self._take(record)
        self._new.append(record)

    def flush(self) -> None:
        """Write what was added, with one system call.

        Raises:
            TraceError: It cannot be written, because the disk is full for example; what was written before stays whole.
        """
        self._writer.write([record.model_dump(mode="json", exclude_defaults=True) for record in self._new])
        self._new.clear()

    def forget_failures(self) -> None:
        """Treat what failed as not yet done."""
        for key, stage in [where for where, record in self._found.items() if record.failure is not None]:
            del self._found[key, stage]

    def failed_tries(self, key: Key, stage: Stage) -> int:
        """Return how many tries of a row and a stage failed, forgotten ones included: each had a seed."""
        return self._failed[key, stage]

    def spent(self, stage: Stage) -> Usage:
        """Return the tokens of all records of a stage, replaced ones included."""
        return self._spent[stage]

    def close(self) -> None:
        """Close the file."""
        self._writer.close()

    def _take(self, record: AnswerRecord) -> None:
        if record.stage == "verdict" and record.judge != self._judge:
            return
        # The texts that only people read stay on disk.
        self._found[record.key, record.stage] = record.model_copy(
            update={"completion": "", "reasoning": "", "unread": []}
        )
        if record.failure is not None:
            self._failed[record.key, record.stage] += record.tries
        if record.tokens != {}:
            self._spent[record.stage] += Usage.read(record.tokens or {})
