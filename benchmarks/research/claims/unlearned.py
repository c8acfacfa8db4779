"""Why do agents that dreamed the search unlearn it in the grounded world?

    python benchmarks/research/claims/dream_first.py --domains search  # keeps the dreamed agents in runs/dream_first
    python benchmarks/research/claims/unlearned.py                     # goes on where it was stopped
    python benchmarks/research/claims/unlearned.py --quick             # to see that it runs; its figures mean nothing

Each run starts from an agent that `dream_first.py` has kept, and learns in the grounded world as there but for one
setting. After every 1,024 steps it is measured how many unseen tasks the agent solves, how long its episodes are, which
share of its actions it had taken before in the same episode, and the mean of what its critic learned last: the returns
of a rollout as PPO estimates them. No episode pays more than 1.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from agents import Kept, bits, grounded, heading, one_thread, row
from dream_first import SIZES, TASKS
from sb3_contrib import MaskablePPO

SETTINGS: dict[str, dict[str, Any]] = {
    "as in dream_first.py": {},
    "target_kl 0.02": {"target_kl": 0.02},
    "3 epochs in place of 10": {"n_epochs": 3},
    "learning rate 3e-4 in place of 1e-3": {"learning_rate": 3e-4},
    "the optimizer of the dream": {"same_optimizer": True},
    "bootstrap_at_limit=False": {"bootstrap_at_limit": False},
}
"""What differs, as arguments of `grounded`."""


def measured(seed: int, setting: str, steps: int, episodes: int, starts: Path | None) -> dict[str, Any]:
    """What an agent does after each number of grounded steps, and what its critic was told last.

    Without a folder of dreamed agents it starts from random weights.
    """
    tasks, began = TASKS["search"], time.process_time()
    start = MaskablePPO.load(starts / f"search-dream-{seed}.zip", device="cpu") if starts else None
    found: dict[str, dict[str, Any]] = {}
    for done, agent in grounded(tasks, steps, seed, start, **SETTINGS[setting]):
        result = tasks.tested(agent, episodes)
        repeated = [1 - len(set(one.actions)) / len(one.actions) for one in result.episodes]
        found[str(done)] = {
            "solved": bits(result),
            "steps": round(result.steps, 2),
            "repeated": round(float(np.mean(repeated)), 2),
            "returns": round(float(agent.rollout_buffer.returns.mean()), 2) if done else None,
        }
    return {"found": found, "seconds": round(time.process_time() - began, 1)}


def report(runs: list[dict[str, Any]]) -> str:
    """The tasks solved under each setting, and the particulars of each run, as two tables in Markdown."""
    places = list(runs[0]["found"])
    lines = [heading("setting", "seed", *(f"{int(place):,}" for place in places))]
    for run in runs:
        lines.append(row(run["setting"], run["seed"], *(run["found"][place]["solved"].count("1") for place in places)))
    lines += ["", heading("setting", "seed", "grounded steps", "solved", "steps", "repeated", "returns as estimated")]
    for run in runs:
        for place, one in run["found"].items():
            told = "–" if one["returns"] is None else f"{one['returns']:.2f}"
            cells = (one["solved"].count("1"), f"{one['steps']:.2f}", f"{one['repeated']:.2f}", told)
            lines.append(row(run["setting"], run["seed"], f"{int(place):,}", *cells))
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[3, 4])
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--steps", type=int, default=SIZES["search"][1], help="steps in the grounded world")
    parser.add_argument("--episodes", type=int, default=40, help="unseen test tasks")
    parser.add_argument("--starts", type=Path, default=Path("runs/dream_first"), help="where the dreamed agents are")
    parser.add_argument("--out", type=Path, help="for finished runs; without it --quick keeps none")
    parser.add_argument("--quick", action="store_true", help="one test of an agent that never dreamed")
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.seeds, chosen.settings, chosen.starts = [0], ["bootstrap_at_limit=False"], None
        chosen.steps, chosen.episodes = 1024, 4
    one_thread()
    kept, runs = Kept.of("unlearned", chosen), []
    for seed in chosen.seeds:
        for setting in chosen.settings:
            key = {"seed": seed, "setting": setting, "sizes": [chosen.steps, chosen.episodes]}
            measure = partial(measured, seed, setting, chosen.steps, chosen.episodes, chosen.starts)
            runs.append(kept.run(key, measure))
    print(report(runs))


if __name__ == "__main__":
    main()
