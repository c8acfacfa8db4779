"""What the claims share: agents that choose from menus, the worlds that they learn and are tested in, kept results."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO

from agentworld_gym.base.statistics.bootstrap import Share, bootstrap_interval
from agentworld_gym.base.statistics.proportions import paired_gap, proportion
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.integrations.sb3 import AgentWorldVecEnv, PolicyEvaluation, evaluate_policy, make_sb3_env
from agentworld_gym.integrations.sb3.ppo import train_ppo

RESULTS = Path(__file__).parent / "results"
GROUNDED, DREAM = (16, 16), (32, 8)
"""Environments, and steps of each in a rollout. Both make up 256 steps; a dream is cheaper in larger waves."""
EPOCHS = 10
"""Passes over a rollout: steps are what is scarce here."""
TESTED = 1024
"""Grounded steps between two tests."""
GOAL = 0.5
"""The success of which it is asked how soon an agent reaches it."""


@dataclass(frozen=True)
class Tasks:
    """The tasks of a comparison."""

    domain: str
    """The id of the domain."""

    families: tuple[str, ...]
    """The families of tasks, all at level 1."""

    max_steps: int
    """The step limit, in training and in tests."""

    backplay: float = 0.0
    """The share of training episodes that begin somewhere on the expert's way."""

    max_tokens: int | None = None
    """The number of tokens after which answers of a dream are cut off; None leaves it to the model."""

    controls: tuple[tuple[str, float], ...] = ()
    """The faults in force, with their strengths."""

    def under(self, **controls: float) -> Tasks:
        """The same tasks under some controls, whose names are written with underscores."""
        return replace(self, controls=tuple((name.replace("_", "-"), value) for name, value in controls.items()))

    @property
    def env_id(self) -> str:
        """The id of the environment."""
        return load_spec(self.domain).env_id

    def options(self) -> dict[str, Any]:
        """The options of `gym.make`, but the world."""
        chosen = {"families": list(self.families), "levels": [1], "max_steps": self.max_steps}
        return {**chosen, "controls": dict(self.controls)} if self.controls else chosen

    def env(self, world: str, members: int, seed: int, bootstrap_at_limit: bool = True) -> AgentWorldVecEnv:
        """The environment to learn in, on training tasks."""
        shortened = self.max_tokens and world != "grounded"
        cut = {"language": {"sampling": {"max_tokens": self.max_tokens}}} if shortened else {}
        options = {**self.options(), **cut}
        learning = {"backplay": self.backplay, "bootstrap_at_limit": bootstrap_at_limit}
        return make_sb3_env(self.env_id, members, 1000 * seed, world=world, **learning, **options)

    def tested(self, agent: MaskablePPO, tasks: int, world: str = "grounded") -> PolicyEvaluation:
        """Play unseen tasks from their start, the best choice at each step."""
        return evaluate_policy(agent, self.env_id, range(tasks), world=world, **self.options())


def dreamed(tasks: Tasks, steps: int, seed: int, world: str = "tiny", bootstrap_at_limit: bool = True) -> MaskablePPO:
    """An agent that has learned in a dream alone."""
    members, rollout = DREAM
    env = tasks.env(world, members, seed, bootstrap_at_limit)
    try:
        return train_ppo(env, steps, seed=seed, n_steps=rollout, n_epochs=EPOCHS).model
    finally:
        env.close()


def grounded(
    tasks: Tasks,
    steps: int,
    seed: int,
    start: MaskablePPO | None = None,
    bootstrap_at_limit: bool = True,
    same_optimizer: bool = False,
    **hyperparameters: Any,
) -> Iterator[tuple[int, MaskablePPO]]:
    """Let an agent learn in the grounded world; yield it with the steps taken so far, first before any step.

    An agent that begins with the weights of another one has an optimizer of its own, unless it is to be the same.
    """
    members, rollout = GROUNDED
    env = tasks.env("grounded", members, seed, bootstrap_at_limit)
    try:
        agent = train_ppo(env, 0, seed=seed, **{"n_steps": rollout, "n_epochs": EPOCHS, **hyperparameters}).model
        if start is not None:
            agent.policy.load_state_dict(start.policy.state_dict())
            if same_optimizer:
                agent.policy.optimizer.load_state_dict(start.policy.optimizer.state_dict())
        yield 0, agent
        for done in range(TESTED, steps + 1, TESTED):
            agent.learn(TESTED, reset_num_timesteps=False)
            yield done, agent
    finally:
        env.close()


@dataclass(frozen=True)
class Kept:
    """Runs in a file, one JSON object a line, so that a benchmark that was stopped goes on with the next run."""

    path: Path | None
    """The file; None keeps nothing."""

    @classmethod
    def of(cls, claim: str, chosen: argparse.Namespace) -> Kept:
        """The runs of a claim, in the file of `--out`; without it `--quick` keeps none, as its figures mean nothing."""
        return cls(chosen.out or (None if chosen.quick else RESULTS / f"{claim}.jsonl"))

    def runs(self) -> list[dict[str, Any]]:
        """All runs so far."""
        if self.path is None or not self.path.is_file():
            return []
        return [json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines()]

    def run(self, key: Mapping[str, Any], measure: Callable[[], Mapping[str, Any]]) -> dict[str, Any]:
        """The run with this key: the kept one, or else what is measured."""
        for kept in self.runs():
            if key.items() <= kept.items():
                return kept
        found = {**key, **measure()}
        if self.path is None:
            return found
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(found) + "\n")
        return found


def steps_to_goal(run: Mapping[str, Any]) -> int | None:
    """The steps after which a test first reached the goal; None where none did."""
    reached = (int(done) for done, found in run["curve"].items() if found.count("1") >= GOAL * len(found))
    return next(reached, None)


def paired(runs: Sequence[dict[str, Any]], domain: str, arms: Sequence[str]) -> list[list[dict[str, Any]]]:
    """The runs of each arm in a domain, of the seeds that all arms have."""
    of = [{run["seed"]: run for run in runs if (run["domain"], run["arm"]) == (domain, arm)} for arm in arms]
    return [[arm[seed] for seed in sorted(set.intersection(*map(set, of)))] for arm in of]


def bits(result: PolicyEvaluation) -> str:
    """Which tasks succeeded, as a string of 1 and 0; an episode whose world failed is `-`."""
    return "".join("-" if one.success is None else str(int(one.success)) for one in result.episodes)


def mean(runs: Sequence[str]) -> str:
    """The share of successes over runs, with its 95 % interval, bootstrapped over runs and their episodes.

    Where all episodes went alike, a bootstrap has no width; the interval is then Wilson's for the tasks of one run.
    """
    values = [[float(bit) for bit in run if bit != "-"] for run in runs]
    if len({value for run in values for value in run}) == 1:
        return _cell(proportion([bool(value) for value in values[0]]))
    return _cell(values)


def difference(runs: Sequence[str], others: Sequence[str]) -> str:
    """The difference of two arms on the same seeds and tasks, with its interval, bootstrapped as in `mean`.

    Where the difference is the same in all episodes, the interval is Bonett and Price's for the tasks of one run.
    """
    pairs = [
        [(one == "1", other == "1") for one, other in zip(*two, strict=True) if "-" not in one + other]
        for two in zip(runs, others, strict=True)
    ]
    values = [[float(one) - float(other) for one, other in run] for run in pairs]
    return _cell(paired_gap(pairs[0]) if len({value for run in values for value in run}) == 1 else values)


def difference_in_differences(first: Sequence[Sequence[str]], second: Sequence[Sequence[str]]) -> str:
    """How much larger the difference of one pair of arms is than that of another, with its interval as in `mean`.

    All four arms are on the same seeds and tasks. Where all episodes went alike the interval has no width.
    """
    values = [
        [float((a == "1") - (b == "1") - (c == "1") + (d == "1")) for a, b, c, d in tasks if "-" not in a + b + c + d]
        for tasks in (zip(*run, strict=True) for run in zip(*first, *second, strict=True))
    ]
    return _cell(values)


def ratio(runs: Sequence[str], others: Sequence[str]) -> str:
    """The successes of one arm for each of the other's; a dash where the other has none."""
    ones = [sum(run.count("1") for run in arm) for arm in (runs, others)]
    return f"{ones[0] / ones[1]:.2f}" if ones[1] else "–"


def _cell(found: Share | Sequence[Sequence[float]]) -> str:
    if not isinstance(found, Share):
        low, high = bootstrap_interval(found)
        found = Share(share=float(np.mean([np.mean(run) for run in found])), low=low, high=high, count=len(found))
    return f"{found.share:.3f} ({found.low:.3f} to {found.high:.3f})"


def row(*cells: object) -> str:
    """A row of a table in Markdown."""
    return "| " + " | ".join(map(str, cells)) + " |"


def heading(*cells: str) -> str:
    """The heading of a table in Markdown."""
    return row(*cells) + "\n" + row(*("---" for _ in cells))


def one_thread() -> None:
    """Compute on one thread, as all figures of the claims were measured."""
    torch.set_num_threads(1)
