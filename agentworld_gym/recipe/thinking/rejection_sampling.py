"""Rejection sampling: several rollouts of a generator, of which an independent judge picks one.

As in Qwen-AgentWorld (arXiv 2606.24597), there are three rollouts of each query, and a query is dropped where none of
them is good enough. The paper leaves the minimum open. Here it is 4.0, the mean of the five dimensions from 1 to 5: at
4 the rubric allows small slips without consequence; at 3 a reader notices, and a model would learn what the reader
notices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import Field

from agentworld_gym.base.documents.json_lines import JsonlWriter, read_jsonl
from agentworld_gym.base.documents.strict import Strict, validated
from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.core.contracts import ChatRequest, Completion, Failure, FailureKind, Generator, Usage
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.llm.judging.bench_rows import bench_row
from agentworld_gym.llm.judging.judge import UNREADABLE, Judge, judge_digest
from agentworld_gym.llm.rows.pools import draw
from agentworld_gym.llm.rows.rerendering import prompts_for, rerendered
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.rows.samples import Sample
from agentworld_gym.recipe.thinking.queries import Queries, TurnQuery
from agentworld_gym.recipe.thinking.rollout import ThinkingRollout, read_rollout

UNANSWERED = Failure(FailureKind.MALFORMED, "the generator gave no answer for this request", retryable=True)
OUTCOMES = ("kept", "below", "invalid", "unjudged", "failed")
"""The outcomes of a query: a rollout is kept; the best is below the minimum; none has a usable form; none could be
judged; or the generator or the judge could not be reached, and the next run asks again."""


class RejectionConfig(Strict):
    """How rollouts are drawn and picked."""

    rollouts: int = Field(default=3, ge=1)
    """The number of rollouts of each query."""

    minimum: float = Field(default=4.0, ge=1, le=5)
    """The least mean score of a rollout that is kept, from 1 to 5."""

    thinking: bool = True
    """Whether a rollout has to think before it answers."""

    wave: int = Field(default=64, ge=1)
    """The number of queries at a time."""


class RejectionReport(Strict):
    """What came of all queries so far."""

    queries: int = 0
    """The number of queries."""

    outcomes: dict[str, int] = Field(default_factory=lambda: dict.fromkeys(OUTCOMES, 0))
    """The number of queries by outcome."""

    failures: dict[str, int] = Field(default_factory=dict)
    """The number of failures by place and kind, such as `rollout/length`."""

    generator: dict[str, int] = Field(default_factory=lambda: Usage().as_dict())
    """The tokens that the generator took; empty where its server does not tell."""

    judge: dict[str, int] = Field(default_factory=lambda: Usage().as_dict())
    """The tokens that the judge took."""

    @classmethod
    def of(cls, lines: Iterable[dict[str, Any]]) -> RejectionReport:
        """Return the sum over the lines of a log."""
        outcomes, failures = Counter(dict.fromkeys(OUTCOMES, 0)), Counter[str]()
        spent = {"generator": Usage(), "judge": Usage()}
        for line in lines:
            outcomes[line["outcome"]] += 1
            failures.update(line["failures"])
            spent = {name: tokens + Usage.read(line[name]) for name, tokens in spent.items()}
        return cls(
            queries=outcomes.total(),
            outcomes=dict(outcomes),
            failures=dict(sorted(failures.items())),
            generator=spent["generator"].as_dict(),
            judge=spent["judge"].as_dict(),
        )


@dataclass
class _Case:
    """A query on its way: its usable rollouts and their scores, what failed, and what was spent."""

    query: TurnQuery
    rollouts: list[ThinkingRollout] = field(default_factory=list)
    scores: dict[str, float] = field(default_factory=dict)
    failures: Counter[str] = field(default_factory=Counter)
    lost: bool = False
    asked: Usage = field(default_factory=Usage)
    judged: Usage = field(default_factory=Usage)

    def fail(self, place: str, failure: Failure) -> None:
        """Count a failure; a failure of the network says nothing of the query."""
        self.failures[f"{place}/{failure.kind}"] += 1
        self.lost |= failure.kind in (FailureKind.CONNECTION, FailureKind.TIMEOUT, FailureKind.SERVER)


@dataclass(frozen=True)
class RejectionSampling:
    """Draws rollouts in waves and keeps the best of each query; killed at any time, it goes on where it was.

    Every query is a line of `log` once it is decided. A log that was written with other models, sampling, prompts or
    settings is refused; a log of the same settings is gone on with, also with further rows.
    """

    queries: Queries
    """The queries."""

    generator: Generator
    """The generator that rolls out."""

    sampling: Sampling
    """How the generator samples; each rollout has a seed of its own."""

    judge: Judge
    """The judge that scores the predictions, without any thinking."""

    log: Path
    """The file of decisions."""

    config: RejectionConfig = field(default_factory=RejectionConfig)
    """How many rollouts there are, and which score they must reach."""

    @property
    def digest(self) -> str:
        """16 hexadecimal digits over all that decides what is kept."""
        parts = {name: value for name, (value, _) in self.generator.describe().items()}
        chosen = self.config.model_dump(exclude={"wave"})
        return digest_of([self.queries.settings, parts, self.sampling.as_dict(), judge_digest(self.judge), chosen])

    def run(self, progress: Callable[[int], None] = lambda _done: None) -> RejectionReport:
        """Decide every query that is not decided yet.

        Args:
            progress: A function that is called with the number of queries that were gone through.

        Raises:
            SpecError: The log is of another run.
            TraceError: The log cannot be written.
        """
        decided = {line["id"] for line in self.lines() if line["outcome"] != "failed"}
        with closing(JsonlWriter(self.log)) as writer:
            if writer.empty:
                writer.write([{"rejection": self.digest}])
            source, seen = iter(self.queries), 0
            while wave := list(islice(source, self.config.wave)):
                seen += len(wave)
                writer.write(self._wave([query for query in wave if query.id not in decided]))
                progress(seen)
        return self.report()

    def report(self) -> RejectionReport:
        """Return what came of all queries so far."""
        return RejectionReport.of(self.lines())

    def samples(self) -> Iterator[Sample]:
        """Yield the samples that were kept."""
        for line in self.lines():
            if line["outcome"] == "kept":
                yield validated(Sample, line["sample"], self.log)

    def lines(self) -> Iterator[dict[str, Any]]:
        """Yield the last decision on each query.

        Raises:
            SpecError: The log is of another run.
        """
        if not self.log.exists():
            return
        line_of: dict[str, int] = {}
        for number, line in enumerate(read_jsonl(self.log)):
            if not number and line.get("rejection") != self.digest:
                raise SpecError(self.log, "rejection", line.get("rejection"), f"{self.digest}; take another folder")
            line_of[str(line.get("id", ""))] = number
        last = set(line_of.values())
        yield from (line for number, line in enumerate(read_jsonl(self.log)) if number and number in last)

    def _wave(self, queries: Sequence[TurnQuery]) -> list[dict[str, Any]]:
        cases = [_Case(query) for query in queries]
        self._roll_out(cases)
        self._score(cases)
        return [self._decided(case) for case in cases]

    def _roll_out(self, cases: Sequence[_Case]) -> None:
        asked = [(case, number) for case in cases for number in range(self.config.rollouts)]
        answers: list[Completion | Failure] = [UNANSWERED] * len(asked)
        requests = [self._request(case.query, number) for case, number in asked]
        for position, answer in self.generator.submit(requests) if requests else ():
            answers[position] = answer
        for (case, _), answer in zip(asked, answers, strict=True):
            if isinstance(answer, Failure):
                case.fail("rollout", answer)
                continue
            case.asked += answer.usage
            rollout = read_rollout(case.query, answer, self.config.thinking)
            if isinstance(rollout, ThinkingRollout):
                case.rollouts.append(rollout)
            else:
                case.fail(*rollout)

    def _request(self, query: TurnQuery, number: int) -> ChatRequest:
        seed = int(draw(f"rollout/{query.id}/{number}") * 2**31) if self.generator.supports_seed else None
        return ChatRequest(query.request, self.sampling.seeded(seed))

    def _score(self, cases: Sequence[_Case]) -> None:
        """Ask for a verdict on every different prediction; an unreadable verdict is asked for again."""
        waiting = [(case, text) for case in cases for text in dict.fromkeys(one.observation for one in case.rollouts)]
        for attempt in range(self.judge.tries):
            if not waiting:
                return
            rows = [bench_row(_legible(case.query.row), 0) for case, _ in waiting]
            requests = [self.judge.request(row, text, attempt) for row, (_, text) in zip(rows, waiting, strict=True)]
            answers: list[Completion | Failure] = [UNANSWERED] * len(requests)
            for position, answer in self.judge.generator.submit(requests):
                answers[position] = answer
            again = []
            for (case, text), answer in zip(waiting, answers, strict=True):
                if isinstance(answer, Completion):
                    case.judged += answer.usage
                verdict = self.judge.read_whole(answer)
                if not isinstance(verdict, Failure):
                    case.scores[text] = 1 + 4 * verdict.score
                elif verdict == UNREADABLE and attempt + 1 < self.judge.tries:
                    again.append((case, text))
                else:
                    case.fail("judge", verdict)
            waiting = again

    def _decided(self, case: _Case) -> dict[str, Any]:
        scored = [one for one in case.rollouts if one.observation in case.scores]
        best = min(scored, key=lambda one: (-case.scores[one.observation], one.length), default=None)
        score = None if best is None else case.scores[best.observation]
        kept = best is not None and score is not None and score >= self.config.minimum
        if kept:
            outcome = "kept"
        elif case.lost and best is None:
            outcome = "failed"
        else:
            outcome = "below" if scored else "unjudged" if case.rollouts else "invalid"
        sample = case.query.answered(best.thinking, best.answer) if kept and best is not None else None
        return {
            "id": case.query.id,
            "outcome": outcome,
            "score": score,
            "scores": [case.scores.get(one.observation) for one in case.rollouts],
            "failures": dict(sorted(case.failures.items())),
            "generator": case.asked.as_dict(),
            "judge": case.judged.as_dict(),
            "sample": None if sample is None else sample.model_dump(mode="json"),
        }


def _legible(row: Row) -> Row:
    """Return a row as a judge can read it, who has not learned the short prompts of small models."""
    return rerendered(row, prompts_for(row, "full", "full")) if row.profile == "compact" else row
