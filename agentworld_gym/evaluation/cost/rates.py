"""The rates of a world model's server: how tokens and time of a step depend on what is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agentworld_gym.base.errors import TraceError
from agentworld_gym.core.traces.log import agent_logs, read_trace
from agentworld_gym.evaluation.cost.totals import TokenTotals, tokens_of, trace_bytes, world_tokens

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rates:
    """What was measured, step by step; all arrays have one value for each step that the world answered."""

    turns: Floats
    """The number of the step in its episode, from 1 on."""

    prompt: Floats
    """The tokens of the prompt."""

    cached: Floats
    """Those that came from the prefix cache."""

    completion: Floats
    """The tokens of the completion."""

    thinking: Floats
    """Those that were thinking, estimated by characters."""

    seconds: Floats
    """The seconds until the answer."""

    lengths: tuple[int, ...]
    """How many steps each episode had; those that had not ended when the trace was read are left out, if any had."""

    checks: TokenTotals
    """The tokens of all probes and judges."""

    known: bool
    """Whether the server told of its tokens; where it did not, all counts are 0."""

    checks_seconds: float
    """The seconds of all checks."""

    begin_seconds: float = 0.0
    """The seconds that all of them took to begin, during which the others of a process wait."""

    trace_bytes: int = 0
    """How long the logs of these episodes are."""

    @property
    def prompt_line(self) -> tuple[float, float]:
        """The tokens of the first prompt and how many each turn adds, by least squares: histories only grow."""
        if np.ptp(self.turns) == 0:
            return float(self.prompt.mean()), 0.0
        slope, start = np.polyfit(self.turns - 1, self.prompt, 1)
        return (float(start), float(slope)) if slope > 0 else (float(self.prompt.mean()), 0.0)

    @property
    def cached_share(self) -> float:
        """The share of prompt tokens that came from the prefix cache."""
        return float(self.cached.sum() / max(self.prompt.sum(), 1.0))

    @property
    def thinks(self) -> bool:
        """Whether the world model thought."""
        return bool(self.thinking.sum() > 0)

    def time_of(self, read: Floats, written: Floats) -> Floats:
        """Return the seconds of steps by the tokens that are read (without those from the cache) and written.

        The rates are those of a linear model without negative terms, scaled so that its mean is the measured one.
        """
        columns = np.stack([np.ones_like(self.seconds), self.prompt - self.cached, self.completion], axis=1)
        rates = nonnegative_fit(columns, self.seconds)
        fitted = columns @ rates
        scale = self.seconds.mean() / fitted.mean() if fitted.mean() > 0 else 0.0
        asked = np.stack([np.ones_like(read), read, written], axis=1)
        return np.asarray(scale * (asked @ rates), np.float64)


def nonnegative_fit(columns: Floats, values: Floats) -> Floats:
    """Return the least-squares weights of some columns, none of which is negative; of few columns all sets are tried.

    >>> columns = np.array([[1.0, 1.0], [1.0, 2.0], [1.0, 3.0]])
    >>> nonnegative_fit(columns, np.array([3.0, 5.0, 7.0])).round(6).tolist()
    [1.0, 2.0]
    >>> nonnegative_fit(columns, np.array([3.0, 2.0, 1.0])).round(6).tolist()
    [2.0, 0.0]
    """
    number = columns.shape[1]
    best, least = np.zeros(number), float("inf")
    for size in range(1, number + 1):
        for chosen in combinations(range(number), size):
            found = np.linalg.lstsq(columns[:, chosen], values, rcond=None)[0]
            error = float(((columns[:, chosen] @ found - values) ** 2).sum())
            if (found >= 0).all() and error < least - 1e-12:
                best, least = np.zeros(number), error
                best[list(chosen)] = found
    return best


def rates_of(path: Path) -> Rates:
    """Return the rates that a trace shows; steps that failed are left out.

    Raises:
        MissingFile: There is nothing.
        TraceError: It is no trace, or no step in it was answered by a world.
    """
    rows: list[tuple[float, ...]] = []
    known = True
    lengths: dict[bool, list[int]] = {True: [], False: []}
    checks, checks_seconds = TokenTotals(), 0.0
    beginning: dict[bool, float] = {True: 0.0, False: 0.0}
    for episode in read_trace(path):
        answered = [step for step in episode.steps if step.world is not None and "failure" not in step.world]
        ended = bool(episode.steps) and (episode.steps[-1].terminated or episode.steps[-1].truncated)
        lengths[ended].append(len(answered))
        beginning[ended] += episode.start.get("begin_s", 0.0)
        for step in answered:
            told = world_tokens(step)
            seconds: float = (step.world or {}).get("wave_s", 0.0)
            known &= told.known
            counts = told if told.known else TokenTotals()
            rows.append((step.turn, *counts.model_dump().values(), seconds))
        for step in episode.steps:
            checks += tokens_of(step.info.get("check_tokens"))
            checks_seconds += step.checks_s
    if not rows:
        failure = first_failure(path)
        why = "" if failure is None else f" (first failure: {failure})"
        raise TraceError(f"{path}: no step was answered by the world, so there is no rate{why}")
    if not known:  # Times that some tokens explain and others do not would explain nothing.
        rows = [(row[0], 0, 0, 0, 0, row[-1]) for row in rows]
    turns, prompt, cached, completion, thinking, seconds_ = _columns(rows)
    complete = bool(lengths[True])
    whole = tuple(lengths[complete])
    played = len(lengths[True]) + len(lengths[False])
    size = sum(map(trace_bytes, agent_logs(path))) * len(whole) // played
    return Rates(
        turns,
        prompt,
        cached,
        completion,
        thinking,
        seconds_,
        whole,
        checks,
        known,
        checks_seconds,
        beginning[complete],
        size,
    )


def _columns(rows: Sequence[tuple[float, ...]]) -> Iterable[Floats]:
    return iter(np.array(rows, np.float64).T)


def first_failure(path: Path) -> str | None:
    """Return what the first failure of a trace says; None where nothing failed.

    Raises:
        MissingFile: There is nothing.
        TraceError: It is no trace.
    """
    steps = (step for episode in read_trace(path) for step in episode.steps)
    return next((step.info["failure"]["message"] for step in steps if "failure" in step.info), None)
