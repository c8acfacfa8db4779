"""What a run will cost, from rates that were measured."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence

import numpy as np
from pydantic import Field

from agentworld_gym.base.documents.strict import Strict
from agentworld_gym.base.errors import SpecError
from agentworld_gym.evaluation.cost.rates import Floats, Rates
from agentworld_gym.evaluation.cost.totals import HOUR, UNKNOWN, Cost, TokenTotals

MOST_DRAWN = 1_000_000
"""How many steps are drawn; a longer run is drawn in part and scaled."""

ROUNDS = 4
"""How many times the width is drawn at least, so that the last episodes of a run do not decide its time."""


SEARCHES = 8
"""How many times the number of nodes is corrected."""


class RunPlan(Strict):
    """A run that is planned."""

    episodes: int = Field(ge=1)
    """How many episodes."""

    steps: int | None = Field(default=None, ge=1)
    """How many steps the world answers in each episode; None draws the lengths of the measured ones."""

    width: int = Field(default=64, ge=1)
    """How many episodes run at a time, in each node."""

    nodes: int = Field(default=1, ge=1)
    """How many nodes play, each as fast as the one that was measured."""

    thinking: bool | None = None
    """Whether the world model thinks; None takes what was measured."""

    cached: float | None = Field(default=None, ge=0, le=1)
    """The share of prompt tokens that comes from the prefix cache; None takes what was measured."""

    seed: int = 0
    """The seed of the draws."""


def planned(rates: Rates, plan: RunPlan) -> Cost:
    """Return what a run will cost.

    Prompts grow by as many tokens a turn as the measured ones, and completions are drawn from those. The time of a step
    follows from the tokens that it reads and writes, and the time of the run from its episodes, of which `width` run at
    a time and the next begins where one ends. While one begins, the others of its node wait. Where the server tells of
    no tokens, the time follows from the measured times alone. Rates hold for the load under which they were measured: a
    server answers more slowly where more episodes ask.

    Args:
        rates: The measured rates.
        plan: The run.

    Raises:
        SpecError: Thinking is planned, and none was measured.
    """
    if plan.thinking and rates.known and not rates.thinks:
        raise SpecError("plan", "thinking", True, "rates of a world model that thinks; measure it with thinking on")
    rng = np.random.default_rng(plan.seed)
    mean_length = plan.steps or max(float(np.mean(rates.lengths)), 1.0)
    drawn_episodes = min(plan.episodes, max(ROUNDS * plan.width * plan.nodes, int(MOST_DRAWN / mean_length)))
    if plan.steps is None:
        lengths = rng.choice(np.array(rates.lengths), drawn_episodes)
    else:
        lengths = np.full(drawn_episodes, plan.steps)
    turns = np.concatenate([np.arange(length, dtype=np.float64) for length in lengths])
    start, growth = rates.prompt_line
    prompt = start + growth * turns
    cached = prompt * (rates.cached_share if plan.cached is None else plan.cached)
    draws = rng.integers(len(rates.seconds), size=len(turns))
    thinking = rates.thinking[draws] * (plan.thinking is not False)
    completion = rates.completion[draws] - rates.thinking[draws] + thinking
    seconds = rates.time_of(prompt - cached, completion)
    # What no token explains, such as a busy server, varies as it was measured to.
    seconds = np.maximum(seconds + _unexplained(rates)[draws], 0.0)
    checks = rates.checks.scaled(plan.episodes / len(rates.lengths))
    checks_seconds = rates.checks_seconds / len(rates.lengths)
    elapsed = np.concatenate([[0.0], np.cumsum(seconds)])
    by_episode = np.diff(elapsed[np.concatenate([[0], np.cumsum(lengths)])]) + checks_seconds
    factor = plan.episodes / drawn_episodes
    beginning = plan.episodes * rates.begin_seconds / len(rates.lengths)
    world = TokenTotals(
        prompt=round(prompt.sum()),
        cached=round(cached.sum()),
        completion=round(completion.sum()),
        thinking=round(thinking.sum()),
    )
    return Cost(
        episodes=plan.episodes,
        steps=round(factor * len(turns)),
        world=world.scaled(factor) if rates.known else UNKNOWN,
        checks=checks,
        seconds=factor * makespan(by_episode.tolist(), plan.width * plan.nodes) + beginning / plan.nodes,
        waited=factor * float(by_episode.sum()),
        nodes=plan.nodes,
        trace_bytes=round(plan.episodes * rates.trace_bytes / len(rates.lengths)),
    )


def within(rates: Rates, plan: RunPlan, hours: float) -> RunPlan:
    """Return a plan with the fewest nodes that do it in so many hours.

    Raises:
        SpecError: No number of nodes does, because one episode takes longer.
    """
    nodes, seconds = 1, 0.0
    for _ in range(SEARCHES):
        asked = plan.model_copy(update={"nodes": nodes})
        seconds = planned(rates, asked).seconds or 0.0
        if seconds <= hours * HOUR:
            return asked
        nodes = max(nodes + 1, math.ceil(nodes * seconds / (hours * HOUR)))
    raise SpecError("plan", "hours", hours, f"more than {seconds / HOUR:.3g}: one episode takes its time")


def makespan(durations: Sequence[float], width: int) -> float:
    """Return how long some pieces of work take, of which so many run at a time and the next begins where one ends.

    >>> makespan([3.0, 1.0, 1.0, 1.0], 2), makespan([1.0] * 4, 8)
    (3.0, 1.0)
    """
    ends = [0.0] * min(width, max(len(durations), 1))
    for duration in durations:
        heapq.heapreplace(ends, ends[0] + duration)
    return max(ends)


def _unexplained(rates: Rates) -> Floats:
    return rates.seconds - rates.time_of(rates.prompt - rates.cached, rates.completion)
