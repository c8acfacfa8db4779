"""The totals of a run, from its traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import inf
from pathlib import Path

from pydantic import Field

from agentworld_gym.base.documents.strict import Strict, read_document
from agentworld_gym.core.traces.log import TraceStep, agent_logs, read_header, read_trace

HOUR = 3600.0


class TokenTotals(Strict):
    """The tokens of some requests; all counts are None where a server does not tell of its tokens.

    >>> print(TokenTotals(prompt=10, cached=4, completion=3) + TokenTotals(prompt=1, completion=1))
    prompt=11 cached=4 completion=4 thinking=0
    >>> print(TokenTotals(prompt=10) + UNKNOWN)
    prompt=None cached=None completion=None thinking=None
    """

    prompt: int | None = 0
    """The tokens of prompts."""

    cached: int | None = 0
    """The part of `prompt` that came from a prefix cache, where the server tells."""

    completion: int | None = 0
    """The tokens of completions."""

    thinking: int | None = 0
    """The part of `completion` that was thinking: the share of its characters, as servers do not count it."""

    def __add__(self, other: TokenTotals) -> TokenTotals:
        if not (self.known and other.known):
            return UNKNOWN
        return TokenTotals(**{name: value + getattr(other, name) for name, value in self.model_dump().items()})

    @property
    def known(self) -> bool:
        """Whether servers told of all of them."""
        return self.prompt is not None

    def scaled(self, factor: float) -> TokenTotals:
        """Return so many times these tokens."""
        if not self.known:
            return UNKNOWN
        return TokenTotals(**{name: round(factor * value) for name, value in self.model_dump().items()})


UNKNOWN = TokenTotals(prompt=None, cached=None, completion=None, thinking=None)
"""The tokens of requests whose server does not tell of any."""


class Cost(Strict):
    """What a run costs, planned or spent. Probes and judges are apart from the steps."""

    episodes: int
    """How many episodes there are."""

    steps: int
    """How many steps the world answers."""

    world: TokenTotals
    """The tokens of the steps."""

    checks: TokenTotals
    """The tokens of probes and judges."""

    seconds: float | None
    """How long the run takes by the clock; None where the traces do not tell. The time of an agent's own model counts
    in a run that is over, and in no plan."""

    waited: float
    """The seconds that all episodes together wait for answers and checks, those at the same time added up."""

    failures: dict[str, int] = Field(default_factory=dict)
    """How many steps failed, by kind."""

    nodes: int = 1
    """How many nodes play; of a run that is over it is not known."""

    trace_bytes: int | None = None
    """How long its traces are."""

    row_bytes: int | None = None
    """How long the rows of as many recorded sessions are, where some were recorded."""

    @property
    def tokens(self) -> TokenTotals:
        """The tokens of steps and checks."""
        return self.world + self.checks

    @property
    def width(self) -> float | None:
        """How many episodes wait at a time, in the mean."""
        return self.waited / self.seconds if self.seconds else None


class GpuPrice(Strict):
    """The price of a server by time.

    >>> GpuPrice(hour=2.5, gpus=4).of(1800)
    5.0
    """

    hour: float = Field(ge=0)
    """The price of one GPU for an hour."""

    gpus: int = Field(default=1, ge=1)
    """How many GPUs serve the world model."""

    def of(self, seconds: float) -> float:
        """Return the price of some seconds of all GPUs."""
        return self.hour * self.gpus * seconds / HOUR


def total_of(path: Path) -> Cost:
    """Add up what the runs of a trace spent.

    Args:
        path: The folder of the trace, or one of the files of a run.

    Raises:
        MissingFile: There is nothing.
        TraceError: It is no trace.
    """
    episodes = steps = 0
    world = checks = TokenTotals()
    spans: list[tuple[float, float]] | None = []
    waited = 0.0
    failures: Counter[str] = Counter()
    for log in agent_logs(path):
        last: list[float | None] = []
        first: list[float | None] = []
        for episode in read_trace(log):
            episodes += 1
            first.append(episode.start.get("at"))
            for step in episode.steps:
                last.append(step.at)
                waited += waiting(step)
                checks += tokens_of(step.info.get("check_tokens"))
                if "failure" in step.info:
                    failures[step.info["failure"]["kind"]] += 1
                if step.world is not None:
                    steps += "failure" not in step.world
                    world += world_tokens(step)
        times = [*first, *last]
        if spans is None or None in times:
            spans = None
        elif times:
            known = [time for time in times if time is not None]
            # A log that does not tell when it was opened is taken to follow the one before.
            opened = read_header(log).get("opened", max((end for _, end in spans), default=0.0))
            spans.append((opened + min(known), opened + max(known)))
    return Cost(
        episodes=episodes,
        steps=steps,
        world=world,
        checks=checks,
        seconds=None if spans is None else covered(spans),
        waited=waited,
        failures=dict(failures),
        trace_bytes=sum(map(trace_bytes, agent_logs(path))),
    )


def read_plan(path: Path) -> Cost:
    """Read a plan that `agentworld cost plan --out` kept.

    Raises:
        MissingFile: There is no such file.
        SpecError: The file holds something else, or a value in it is wrong.
    """
    return read_document(Cost, path, "a plan that `agentworld cost plan --out` kept")


def covered(spans: Iterable[tuple[float, float]]) -> float:
    """Return how long at least one of some spans of time lasted; runs at the same time count once.

    >>> covered([(0.0, 10.0), (5.0, 12.0), (20.0, 21.0)])
    13.0
    """
    total, until = 0.0, -inf
    for begin, end in sorted(spans):
        total += max(0.0, end - max(begin, until))
        until = max(until, end)
    return total


def trace_bytes(log: Path) -> int:
    """Return how long the agent log of a run and its world log are together."""
    logs = (log, log.with_name(log.name.replace(".agent.jsonl", ".world.jsonl")))
    return sum(one.stat().st_size for one in logs if one.is_file())


def waiting(step: TraceStep) -> float:
    """Return the seconds that a step waited for its answer and its checks."""
    answer: float = (step.world or {}).get("wave_s", 0.0)
    return answer + step.checks_s


def tokens_of(usage: Mapping[str, int] | None) -> TokenTotals:
    """Return the tokens that a trace tells; without `usage` none were spent."""
    if usage is None:
        return TokenTotals()
    return TokenTotals(**usage) if usage else UNKNOWN


def world_tokens(step: TraceStep) -> TokenTotals:
    """Return the tokens of a step's answer, with the share that was thinking."""
    told = tokens_of((step.world or {}).get("tokens"))
    if told.completion is None:
        return told
    thinking, completion = step.thought
    share = len(thinking) / max(len(thinking) + len(completion), 1)
    return told.model_copy(update={"thinking": round(share * told.completion)})
