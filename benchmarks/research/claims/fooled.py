"""Fooling the dream: does the transfer report notice by itself that a policy has learned the simulator?

    python benchmarks/research/claims/fooled.py          # goes on where it was stopped
    python benchmarks/research/claims/fooled.py --policies --agents runs/dream_first/terminal-dream-0.zip \\
        --families permissions
    python benchmarks/research/claims/fooled.py --quick  # seconds, to see that it runs; its figures mean nothing

A policy is optimised against the dream alone (`world="tiny"`), as hard as can be: for each task it draws plans of an
expert that errs before most steps, plays them in the dream, and keeps the first plan that the dream calls a success.
A plan that is wrong, and that the dream takes for right, is kept as well. `agentworld eval transfer` then plays the
chosen plans in both worlds; this prints its verdict, word for word. Beside it stand the same careless expert that
nothing has optimised, the expert, and agents of PPO that learned in the dream alone (`--agents`, as `dream_first.py`
keeps them).
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agents import Kept, heading, one_thread, row

from agentworld_gym.agents.policies.playing import FunctionPolicy, Policy, ScriptedPolicy, play
from agentworld_gym.agents.policies.scripted import mixed_policy
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.transfer import transfer

SLIP = 0.6
"""The probability that the careless expert errs before a step."""


def careless(draw: int = 0) -> ScriptedPolicy:
    """An expert that errs before most steps; another draw errs elsewhere."""

    def script(task: Task, chance: random.Random) -> ActionStream:
        return mixed_policy(task, chance, SLIP)

    return ScriptedPolicy("careless", script, draw)


def optimised(dream: EnvOptions, tasks: int, draws: int) -> tuple[Policy, list[int]]:
    """The plans that the dream approves of, as a policy, and for how many tasks there was one after each draw."""
    plans: dict[int, Sequence[str]] = {}
    approved = []
    runner = dream.runner()
    try:
        for draw in range(draws):
            left = [seed for seed in range(tasks) if seed not in plans]
            plans |= {one.seed: one.actions for one in play(runner, careless(draw), left) if one.success}
            approved.append(len(plans))
    finally:
        runner.close()

    def act(episode: Episode) -> str:
        plan = plans.get(episode.seed, ())
        return plan[episode.steps] if episode.steps < len(plan) else "finish"

    return FunctionPolicy("optimised against the dream", act), approved


def judged(policy: str, dream: EnvOptions, tasks: int, draws: int) -> dict[str, Any]:
    """What the transfer report says of a policy."""
    began = time.process_time()
    approved: list[int] = []
    player: str | Policy = policy
    if policy == "optimised":
        player, approved = optimised(dream, tasks, draws)
    elif policy == "careless":
        player = careless()
    found = transfer(player, dream, range(tasks))
    return {
        "approved": approved,
        "in the dream": str(found.dream.success),
        "grounded": str(found.grounded.success),
        "gap": str(found.gap),
        "tells": found.tells,
        "verdict": found.verdict,
        "failures": found.dream.failures,
        "seconds": round(time.process_time() - began, 1),
    }


def report(runs: Sequence[dict[str, Any]]) -> str:
    """What the transfer reports say, as a table in Markdown."""
    lines = [heading("domain", "policy", "success in the dream", "grounded", "difference", "the verdict")]
    keys = ("domain", "policy", "in the dream", "grounded", "gap", "verdict")
    return "\n".join([*lines, *(row(*(run[key] for key in keys)) for run in runs)])


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domain", default="terminal")
    parser.add_argument("--world", default="tiny", help="the dream")
    parser.add_argument("--policies", nargs="*", default=["expert", "careless", "optimised"])
    parser.add_argument("--agents", nargs="*", default=[], help="agents of PPO to test too")
    parser.add_argument("--families", nargs="+", help="of tasks; default: all of the domain")
    parser.add_argument("--levels", type=int, nargs="+", default=[1])
    parser.add_argument("--tasks", type=int, default=48, help="unseen test tasks")
    parser.add_argument("--draws", type=int, default=6, help="plans that are tried for a task")
    parser.add_argument("--out", type=Path, help="for finished runs; without it --quick keeps none")
    parser.add_argument("--quick", action="store_true", help="four tasks, two draws")
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.policies, chosen.tasks, chosen.draws = ["optimised"], 4, 2
    one_thread()
    dream = EnvOptions(
        spec=chosen.domain, world=chosen.world, split="test", families=chosen.families, levels=tuple(chosen.levels)
    )
    kept, runs = Kept.of("fooled", chosen), []
    for policy in (*chosen.policies, *chosen.agents):
        sizes = [chosen.tasks, chosen.draws]
        tasks = {"families": chosen.families, "levels": chosen.levels}
        key = {"domain": chosen.domain, "world": chosen.world, "policy": policy, **tasks, "sizes": sizes}
        runs.append(kept.run(key, lambda p=policy: judged(p, dream, chosen.tasks, chosen.draws)))
    print(report(runs))


if __name__ == "__main__":
    main()
