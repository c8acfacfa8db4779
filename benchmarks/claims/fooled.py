"""Fooling the dream: does the transfer report notice by itself that an agent has learned the simulator?

    python benchmarks/claims/fooled.py                     # goes on where it was stopped
    python benchmarks/claims/fooled.py --quick             # seconds, to see that it runs; its figures mean nothing

For every domain and seed one agent is optimised against the dream alone (`world="tiny"`), and one learns the same tasks
in the grounded world. Each plays the same unseen tasks in both worlds, and `agentworld eval transfer` compares: this
prints its verdict, word for word. The agents lie in `--folder`, for

    agentworld eval transfer DOMAIN --policy FOLDER/DOMAIN-dream-0.zip --world tiny --levels 1 --families FAMILY
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agents import RESULTS, Kept, Tasks, dreamed, grounded, heading, one_thread, row

from agentworld_gym.evaluation.transfer import transfer
from agentworld_gym.options import EnvOptions

TASKS = {
    "terminal": Tasks("terminal", ("permissions",), 12, backplay=0.8),
    "android": Tasks("android", ("change_settings",), 14, backplay=0.8),
}
ARMS = ("dream", "grounded")


def judged(tasks: Tasks, arm: str, seed: int, dream: int, steps: int, episodes: int, folder: Path) -> dict[str, Any]:
    """One agent and what the transfer report says of it."""
    began = time.process_time()
    if arm == "dream":
        agent = dreamed(tasks, dream, seed)
    else:
        *_, (_, agent) = grounded(tasks, steps, seed)
    path = folder / f"{tasks.domain}-{arm}-{seed}.zip"
    path.parent.mkdir(parents=True, exist_ok=True)
    agent.save(path)
    options = EnvOptions(spec=tasks.domain, world="tiny", split="test", **tasks.options())
    found = transfer(str(path), options, range(episodes))
    return {
        "dream": str(found.dream.success),
        "grounded": str(found.grounded.success),
        "gap": str(found.gap),
        "verdict": found.verdict,
        "failures": found.dream.failures,
        "seconds": round(time.process_time() - began, 1),
    }


def report(runs: Sequence[dict[str, Any]]) -> str:
    """What the transfer reports say, as a table in Markdown."""
    lines = [heading("domain", "trained in", "seed", "success in the dream", "grounded", "difference", "the verdict")]
    for run in runs:
        keys = ("domain", "trained", "seed", "dream", "grounded", "gap", "verdict")
        lines.append(row(*(run[key] for key in keys)))
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domains", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--dream", type=int, default=8192, help="steps in the dream")
    parser.add_argument("--steps", type=int, default=4096, help="steps of the other agent in the grounded world")
    parser.add_argument("--episodes", type=int, default=100, help="unseen test tasks")
    parser.add_argument("--folder", type=Path, default=Path("runs/fooled"), help="where the agents are kept")
    parser.add_argument("--out", type=Path, default=RESULTS / "fooled.jsonl", help="where finished runs are kept")
    parser.add_argument("--quick", action="store_true", help="one domain, one seed, a rollout each")
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.domains, chosen.seeds, chosen.dream, chosen.steps, chosen.episodes = ["terminal"], [0], 64, 512, 4
    one_thread()
    kept, runs = Kept(chosen.out), []
    for seed in chosen.seeds:
        for domain in chosen.domains:
            for arm in ARMS:
                sizes = (chosen.dream, chosen.steps, chosen.episodes)
                key = {"domain": domain, "trained": arm, "seed": seed, "sizes": list(sizes)}
                runs.append(
                    kept.run(key, lambda d=domain, a=arm, s=seed, z=sizes: judged(TASKS[d], a, s, *z, chosen.folder))
                )
    print(report(runs))


if __name__ == "__main__":
    main()
