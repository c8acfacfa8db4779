"""PPO on grown worlds: trained on some databases, tested on others that it never saw.

    python benchmarks/research/grown_worlds.py  # three seeds, about 6 minutes of one core
    python benchmarks/research/grown_worlds.py --steps 20000 --seeds 0
    python benchmarks/research/grown_worlds.py --families settle_returns --scenarios shop

`agentworld synth grow` makes the worlds: each has names, rows and policies of its own. The agent is MaskablePPO with a
policy that scores the entries of a menu by their texts. It is tested on tasks of unseen worlds, and on the tasks of the
worlds that it was trained on. Beside it stand the expert of each task and a policy that chooses from the menu at
random. Intervals are 95 % bootstrap intervals over runs and episodes.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import torch
from rich.console import Console
from rich.table import Table

import agentworld_gym  # noqa: F401
from agentworld_gym.agents.policies.playing import open_policy, play
from agentworld_gym.base.statistics.bootstrap import bootstrap_interval
from agentworld_gym.core.domain.task import split_seed
from agentworld_gym.domains.mcp.synth.grow.folder import GrowConfig, grow_worlds
from agentworld_gym.domains.mcp.synth.grow.growth import growable_scenarios
from agentworld_gym.domains.mcp.tasks.grown_families import RULED
from agentworld_gym.integrations.sb3.evaluate import PolicyEvaluation, evaluate_policy
from agentworld_gym.integrations.sb3.ppo import train_ppo
from agentworld_gym.integrations.sb3.vec_env import make_sb3_env

ENV = "AgentWorld/MCP-v0"

console = Console()


def grow(arguments: argparse.Namespace, split: str, worlds: int, tasks: int, out: Path) -> None:
    """Grow the worlds of a split."""
    for scenario in arguments.scenarios:
        seeds = tuple(split_seed(split, place) for place in range(worlds))
        config = GrowConfig(scenario, seeds, tasks, tuple(arguments.families), tuple(arguments.levels))
        for _ in grow_worlds(config, out):
            continue


def episodes_of(folder: Path, most: int) -> list[int]:
    """Seeds that play different tasks of a folder: all of them, or a random part of all worlds and families."""
    seeds = range(len(list(folder.glob("*/tasks/*.yaml"))))
    return sorted(random.Random(0).sample(seeds, min(most, len(seeds))))


def scripted_result(name: str, folder: Path, seeds: Sequence[int]) -> PolicyEvaluation:
    """Play the tasks with a scripted policy."""
    envs: Any = gym.make_vec(ENV, num_envs=1, world_options={"scenario": str(folder)})
    try:
        runner = envs.unwrapped.runner
        played = play(runner, open_policy(name, runner.spec), seeds)
        return PolicyEvaluation(tuple(sorted(played, key=lambda one: one.place)))
    finally:
        envs.close()


def measure(seed: int, arguments: argparse.Namespace, train: Path, test: Path) -> dict[str, PolicyEvaluation]:
    """Train one agent; play the tasks of unseen worlds and of the worlds of the training."""
    env = make_sb3_env(ENV, num_envs=32, seed=1000 * seed, world_options={"scenario": str(train)}, max_steps=14)
    training = train_ppo(env, arguments.steps, seed=seed)
    env.close()
    results = {}
    for name, folder in (("unseen worlds", test), ("worlds of the training", train)):
        seeds = episodes_of(folder, arguments.episodes)
        # The folder decides which worlds are played, so that the environment's own splits stay out of it.
        results[name] = evaluate_policy(
            training.model, ENV, seeds, world_options={"scenario": str(folder)}, split="train"
        )
    return results


def shares(results: Sequence[PolicyEvaluation]) -> dict[str, tuple[float, float, float]]:
    """The success with its interval: of all tasks, of those in which the rules decide, and of the others."""
    ruled = {family.__name__ for family in RULED.values()}
    found = {}
    for name, wanted in (("all", (True, False)), ("rules decide", (True,)), ("others", (False,))):
        runs = [
            [float(bool(one.success)) for one in result.judged if (one.task.family in ruled) in wanted]
            for result in results
        ]
        runs = [run for run in runs if run]
        if not runs:
            continue
        low, high = bootstrap_interval(runs)
        found[name] = (sum(map(sum, runs)) / sum(map(len, runs)), low, high)
    return found


def show(report: dict[str, list[PolicyEvaluation]], out: Path | None) -> None:
    """Print what was measured so far, and keep it as JSON."""
    table = Table("agent", "tasks", "success", "95 % interval", "single runs")
    figures: dict[str, Any] = {}
    for agent, results in report.items():
        for name, (mean, low, high) in shares(results).items():
            single = ", ".join(f"{shares([result])[name][0]:.3f}" for result in results)
            table.add_row(agent, name, f"{mean:.3f}", f"{low:.3f} to {high:.3f}", single)
            figures[f"{agent}, {name}"] = {"success": mean, "low": low, "high": high, "runs": single}
    families = sorted({family for results in report.values() for result in results for family in result.by_family()})
    by_family = Table("family", *report)
    for family in families:
        means = [
            sum(result.by_family().get(family, 0.0) for result in results) / len(results) for results in report.values()
        ]
        by_family.add_row(family, *(f"{mean:.2f}" for mean in means))
        figures[family] = dict(zip(report, means, strict=True))
    console.print(table, by_family)
    if out:
        out.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Grow, train, test and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenarios", nargs="+", default=list(growable_scenarios()))
    parser.add_argument("--families", nargs="*", default=[])
    parser.add_argument("--levels", nargs="+", type=int, default=[1])
    parser.add_argument("--worlds", type=int, default=6, help="of each scenario, for training")
    parser.add_argument("--unseen", type=int, default=4, help="of each scenario, for the test")
    parser.add_argument("--tasks", type=int, default=12, help="of each world of the training")
    parser.add_argument("--test-tasks", type=int, default=8, help="of each unseen world")
    parser.add_argument("--steps", type=int, default=24_000)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--episodes", type=int, default=160, help="of each test, at most")
    parser.add_argument("--out", type=Path, help="keep the figures as JSON")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        train, test = Path(folder) / "train", Path(folder) / "test"
        began = time.process_time()
        grow(arguments, "train", arguments.worlds, arguments.tasks, train)
        grow(arguments, "test", arguments.unseen, arguments.test_tasks, test)
        grown = time.process_time() - began
        unseen = episodes_of(test, arguments.episodes)
        report = {
            "expert": [scripted_result("expert", test, unseen)],
            "random": [scripted_result("menu", test, unseen)],
        }
        for seed in arguments.seeds:
            began = time.process_time()
            for name, result in measure(seed, arguments, train, test).items():
                report.setdefault(f"PPO, {name}", []).append(result)
            console.print(f"seed {seed}: {time.process_time() - began:.0f} s of CPU time")
            show(report, arguments.out)
    console.print(f"growing took {grown:.0f} s of CPU time")


if __name__ == "__main__":
    main()
