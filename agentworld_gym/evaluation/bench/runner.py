"""Runs a benchmark: predictions and verdicts of all rows, everything in flight at once, resumable after a kill.

The protocol is that of AgentWorldBench (Qwen-AgentWorld, arXiv 2606.24597): a row's messages go to the model as they
stand, its completion is parsed leniently, and a judge scores the observation in five dimensions. Beside it stands a
track without a judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Literal

from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.fingerprint import Fingerprint, Part, digest_of
from agentworld_gym.core.contracts import ChatRequest, Completion, Failure, FailureKind, Generator, Usage
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.evaluation.bench.aggregate import TokenPrices, aggregate
from agentworld_gym.evaluation.bench.records import AnswerRecord, Records
from agentworld_gym.evaluation.bench.request_stream import Answer, Answers, BoundedRequestStream, arrivals
from agentworld_gym.evaluation.results.base import EvaluationResult
from agentworld_gym.evaluation.results.bench import BenchResult, Party
from agentworld_gym.llm.generators.handles import sent_sampling
from agentworld_gym.llm.judging.bench_rows import BenchRow, BenchRows
from agentworld_gym.llm.judging.judge import BENCH_SAMPLING, Judge, judge_digest
from agentworld_gym.llm.prompting.parsing import NO_OUTPUT, parse_completion

RECORDS, RUN, RESULT = "rows.jsonl", "run.json", "result.json"
NOTHING = Failure(FailureKind.EMPTY, "the model wrote nothing", retryable=True)


@dataclass(frozen=True)
class Model:
    """The model that predicts, and how it samples."""

    generator: Generator
    """The generator."""

    sampling: Sampling = BENCH_SAMPLING
    """How it samples."""

    handle: str = ""
    """The name of the model in results."""

    overlap: bool = True
    """Whether requests may be sent while others are open; see `BoundedRequestStream`."""


@dataclass
class Progress:
    """How far a run is."""

    total: int
    """The number of rows."""

    done: int = 0
    """The number of rows that are over."""

    failed: int = 0
    """The number of rows that failed."""

    model: Usage = field(default_factory=Usage)
    """The tokens that the model took."""

    judge: Usage = field(default_factory=Usage)
    """The tokens that the judge took."""


class RunManifest(EvaluationResult):
    """What a folder's run was made with."""

    model: Party
    """The model."""

    rows: str
    """The digest of the rows."""

    turns: str | None = None
    """Which turns of the rows are predicted."""

    seed: int | None = None
    """The seed of turns that are drawn."""


Report = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Ticket:
    """What a request is about."""

    row: BenchRow
    """The row."""

    judged: bool = False
    """Whether the judge was asked."""

    text: str = ""
    """The observation that the judge was asked about."""

    tries: int = 0
    """The number of times that the judge was asked before."""

    spent: Usage = field(default_factory=Usage)
    """The tokens that these tries took."""

    unread: tuple[str, ...] = ()
    """What the judge replied then."""


class BenchRun:
    """One run in a folder. What was answered is kept in `rows.jsonl`; running again goes on from there.

    Args:
        rows: The rows to predict.
        model: The model that predicts.
        judge: The judge that scores; None leaves the track without a judge alone.
        folder: The folder: `run.json` says what the run was made with, `result.json` is the result.
        concurrency: The number of requests that each party has open at once.
        retry_failed: Whether rows that failed before are asked for again, under other seeds.
        judge_overlap: Whether requests to the judge may be sent while others are open.
        prices: The prices of tokens, for the result.

    Raises:
        SpecError: The folder holds a run of another model or of other rows.
        TraceError: The folder cannot be read or written, or another process works in it.
    """

    def __init__(
        self,
        rows: BenchRows,
        model: Model,
        judge: Judge | None,
        folder: Path,
        *,
        concurrency: int = 256,
        retry_failed: bool = False,
        judge_overlap: bool = True,
        prices: Mapping[Literal["model", "judge"], TokenPrices] | None = None,
    ) -> None:
        self.rows, self.model, self.judge, self.folder = rows, model, judge, folder
        self._judge_digest = judge_digest(judge) if judge else ""
        self._prices = prices or {}
        self.party = party(model.handle, model.generator, model.sampling)
        self._check_run()
        self._records = Records(folder / RECORDS, self._judge_digest)
        if retry_failed:
            self._records.forget_failures()
        self._answers: Answers[Ticket] = SimpleQueue()
        self._models = BoundedRequestStream(model.generator, concurrency, self._answers, model.overlap)
        self._judges = (
            BoundedRequestStream(judge.generator, concurrency, self._answers, judge_overlap) if judge else None
        )

    def run(self, report: Report | None = None) -> BenchResult:
        """Ask for all that is not answered yet, and aggregate.

        Raises:
            TraceError: An answer cannot be written.
            ClosedError: A generator was closed meanwhile.
        """
        progress = Progress(sum(self.rows.counts.values()))
        pending = iter(self.rows)
        self._fill(pending, progress)
        while True:
            self._send()
            if self._models.idle and (self._judges is None or self._judges.idle):
                break
            for asked, answer in arrivals(self._answers):
                receive = self._judged if asked.judged else self._predicted
                receive(asked, answer, progress)
            self._records.flush()
            self._fill(pending, progress)
            self._show(progress, report)
        self._show(progress, report)
        return self._result()

    def close(self) -> None:
        """Close the file; what was answered stays."""
        try:
            self._records.flush()
        finally:
            self._records.close()

    def _fill(self, pending: Iterator[BenchRow], progress: Progress) -> None:
        """Offer rows as far as there is room, so that only those in flight are in memory."""
        while self._models.room > 0 and (self._judges is None or self._judges.room > 0):
            row = next(pending, None)
            if row is None:
                return
            record = self._records.get(row.key, "prediction")
            if record is None:
                self._models.offer(Ticket(row), self._request(row))
            elif record.failure is not None:
                _over(progress, failed=True)
            elif self.judge is None:
                _over(progress)
            elif (verdict := self._records.get(row.key, "verdict")) is not None:
                _over(progress, failed=verdict.failure is not None)
            else:
                self._ask_judge(Ticket(row, True, record.text))

    def _send(self) -> None:
        self._models.send()
        if self._judges is not None:
            self._judges.send()

    def _request(self, row: BenchRow) -> ChatRequest:
        seed = _seed(row) + self._records.failed_tries(row.key, "prediction")
        return ChatRequest(
            row.request, self.model.sampling.seeded(seed if self.model.generator.supports_seed else None)
        )

    def _predicted(self, asked: Ticket, answer: Answer, progress: Progress) -> None:
        row = asked.row
        tokens = (answer.usage.as_dict() or None) if isinstance(answer, Completion) else {}
        if isinstance(answer, Completion) and not answer.text:
            answer = NOTHING
        if isinstance(answer, Failure):
            self._records.add(AnswerRecord(key=row.key, stage="prediction", failure=answer.as_dict(), tokens=tokens))
            _over(progress, failed=True)
            return
        written = parse_completion(answer.text)
        text = NO_OUTPUT if written is None else row.observation(written)
        self._records.add(
            AnswerRecord(
                key=row.key,
                stage="prediction",
                text=text,
                completion=answer.text,
                reasoning=answer.reasoning,
                finish=answer.finish_reason,
                confidence=answer.logprob,
                tokens=tokens,
            )
        )
        if self.judge is None:
            _over(progress)
        else:
            self._ask_judge(Ticket(row, True, text))

    def _ask_judge(self, asked: Ticket) -> None:
        assert self.judge is not None and self._judges is not None
        attempt = asked.tries + self._records.failed_tries(asked.row.key, "verdict")
        self._judges.offer(
            asked, self.judge.request(asked.row, asked.text if asked.text.strip() else NO_OUTPUT, attempt)
        )

    def _judged(self, asked: Ticket, answer: Answer, progress: Progress) -> None:
        assert self.judge is not None
        spent = asked.spent + answer.usage if isinstance(answer, Completion) else asked.spent
        asked = replace(asked, tries=asked.tries + 1, spent=spent)
        verdict = self.judge.read(answer)
        if isinstance(verdict, Failure) and verdict.retryable and asked.tries < self.judge.tries:
            unread = (answer.text,) if isinstance(answer, Completion) else ()
            self._ask_judge(replace(asked, unread=asked.unread + unread))
            return
        self._records.add(
            AnswerRecord(
                key=asked.row.key,
                stage="verdict",
                judge=self._judge_digest,
                tries=asked.tries,
                completion=answer.text if isinstance(answer, Completion) else "",
                reasoning=answer.reasoning if isinstance(answer, Completion) else "",
                unread=list(asked.unread),
                scores={} if isinstance(verdict, Failure) else dict(verdict.scores),
                strengths="" if isinstance(verdict, Failure) else verdict.strengths,
                weaknesses="" if isinstance(verdict, Failure) else verdict.weaknesses,
                failure=verdict.as_dict() if isinstance(verdict, Failure) else None,
                tokens=spent.as_dict() or None,
            )
        )
        _over(progress, isinstance(verdict, Failure))

    def _show(self, progress: Progress, report: Report | None) -> None:
        if report is not None:
            progress.model, progress.judge = self._records.spent("prediction"), self._records.spent("verdict")
            report(progress)

    def _check_run(self) -> None:
        """Check that the folder's run is this one; a new folder becomes it."""
        check_folder(self.folder, self.rows, self.model.sampling, self.party)
        path = self.folder / RUN
        if not path.is_file():
            RunManifest(
                model=self.party, rows=self.rows.digest, turns=self.rows.turns, seed=_drawn_by(self.rows)
            ).write(path)

    def _result(self) -> BenchResult:
        judge = self.judge
        judged_by = None
        if judge is not None:
            judged_by = party(judge.handle, judge.generator, judge.sampling, self._judge_digest)
            prompts: dict[str, str | bool] = {"value": judge.prompts_digest, "verified": True}
            judged_by = judged_by.model_copy(update={"parts": {**judged_by.parts, "prompts": prompts}})
        result = aggregate(self.rows, self._records, self.party, judged_by, self._prices)
        result.write(self.folder / RESULT)
        return result


def check_folder(folder: Path, rows: BenchRows, sampling: Sampling, model: Party | None = None) -> None:
    """Check that a folder holds no other run.

    Args:
        folder: The folder of the run; a folder that holds none passes.
        rows: The rows that shall be predicted.
        sampling: How the model shall sample.
        model: The model that predicts; None, before it is loaded, leaves that for later.

    Raises:
        SpecError: The folder holds a run of something else; the error names the keys that differ, with both values.
    """
    path = folder / RUN
    if not path.is_file():
        return
    theirs = RunManifest.read(path)
    mine: dict[str, Any] = _prefixed("sampling", sampling.seeded(None).as_dict())
    # Fields that were not sent count as their defaults.
    kept: dict[str, Any] = _prefixed("sampling", Sampling().as_dict() | theirs.model.sampling)
    if theirs.turns not in (None, rows.turns) or theirs.seed not in (None, _drawn_by(rows)):
        mine |= {"turns": rows.turns, "seed": _drawn_by(rows)}
        kept |= {"turns": theirs.turns, "seed": theirs.seed}
    else:
        mine["rows"], kept["rows"] = rows.digest, theirs.rows
    if model is not None and model.digest != theirs.model.digest:
        mine |= _prefixed("model", model.parts)
        kept |= _prefixed("model", theirs.model.parts)
    keys = [key for key in {**mine, **kept} if digest_of(mine.get(key)) != digest_of(kept.get(key))]
    if keys:
        got, wanted = ({key: values.get(key) for key in keys} for values in (mine, kept))
        one = keys[0] if len(keys) == 1 else ""
        raise SpecError(
            path,
            one or "the run",
            got[one] if one else got,
            f"{wanted[one] if one else wanted}, as the run in this folder has; or another folder",
        )


def _prefixed(name: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{name}.{key}": value for key, value in values.items()}


def _drawn_by(rows: BenchRows) -> int | None:
    return rows.seed if rows.turns == "drawn" else None


def party(handle: str, generator: Generator, sampling: Sampling, digest: str = "") -> Party:
    """Describe who took part, with its fingerprint and what its requests said of their sampling, except for each row's
    seed.

    A generator that does not send all of its sampling has a method `sent(sampling)`, which says what it does send.

    Raises:
        GeneratorError: A server cannot be reached.
    """
    fingerprint = Fingerprint({name: Part(value, verified) for name, (value, verified) in generator.describe().items()})
    sent = sent_sampling(generator, sampling.seeded(None))
    return Party(handle=handle, digest=digest or fingerprint.digest, parts=fingerprint.as_dict(), sampling=sent)


def _over(progress: Progress, failed: bool = False) -> None:
    progress.done += 1
    progress.failed += failed


def _seed(row: BenchRow) -> int:
    """Return a seed of its own for each row."""
    return int(digest_of(row.key)[:8], 16)
