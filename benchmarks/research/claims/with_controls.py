"""Controls: does training in a faulty world help in faulty worlds, and what does it cost in a sound one?

    python benchmarks/research/claims/with_controls.py  # MCP and Search, five seeds; goes on where it was stopped
    python benchmarks/research/claims/with_controls.py --quick  # seconds, to see that it runs; its figures mean nothing

Two agents learn the same tasks in the grounded world for the same number of steps, one of them with calls that fail now
and then (`intermittent-errors`). Both are tested on the same unseen tasks, with these faults and without. Intervals are
95 %, bootstrapped over seeds and episodes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agents import (
    Kept,
    Tasks,
    bits,
    difference,
    difference_in_differences,
    grounded,
    heading,
    mean,
    one_thread,
    paired,
    row,
)

STRENGTH = 0.4
TASKS = {"mcp": Tasks("mcp", ("pay_bill",), 16), "search": Tasks("search", ("lookup",), 12)}
STEPS = {"mcp": 3072, "search": 8192}
"""Training steps; PPO learns to search more slowly."""
ARMS = ("with controls", "without")


def trained(tasks: Tasks, arm: str, seed: int, steps: int, episodes: int) -> dict[str, Any]:
    """One agent: which test tasks it solves with faults and without."""
    began = time.process_time()
    faulty = tasks.under(intermittent_errors=STRENGTH)
    *_, (done, agent) = grounded(faulty if arm == "with controls" else tasks, steps, seed)
    found = {"with faults": faulty.tested(agent, episodes), "without faults": tasks.tested(agent, episodes)}
    return {
        "steps": done,
        **{test: bits(result) for test, result in found.items()},
        "lengths": {test: round(result.steps, 2) for test, result in found.items()},
        "seconds": round(time.process_time() - began, 1),
    }


def report(runs: Sequence[dict[str, Any]]) -> str:
    """The table in Markdown, of the seeds whose two agents are there: both tests, and what faults cost each agent."""
    lines = [heading("domain", "tested", "seeds", *(f"trained {arm}" for arm in ARMS), "difference")]
    for domain in dict.fromkeys(run["domain"] for run in runs):
        arms = [arm for arm in paired(runs, domain, ARMS) if arm]
        if not arms:
            continue
        found = {test: [[run[test] for run in arm] for arm in arms] for test in ("with faults", "without faults")}
        for test, (first, second) in found.items():
            lines.append(row(domain, test, len(first), mean(first), mean(second), difference(first, second)))
        lost = list(zip(found["without faults"], found["with faults"], strict=True))
        costs = (difference(*arm) for arm in lost)
        lines.append(row(domain, "lost to faults", len(arms[0]), *costs, difference_in_differences(*lost)))
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domains", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--steps", type=int, help="training steps, in place of those of the domain")
    parser.add_argument("--episodes", type=int, default=100, help="unseen test tasks")
    parser.add_argument("--out", type=Path, help="for finished runs; without it --quick keeps none")
    parser.add_argument("--quick", action="store_true", help="one domain, one seed, one rollout")
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.domains, chosen.seeds, chosen.steps, chosen.episodes = ["mcp"], [0], 1024, 4
    one_thread()
    kept, runs = Kept.of("with_controls", chosen), []
    for seed in chosen.seeds:
        for domain in chosen.domains:
            for arm in ARMS:
                sizes = (chosen.steps or STEPS[domain], chosen.episodes)
                key = {"domain": domain, "arm": arm, "seed": seed, "sizes": list(sizes)}
                runs.append(kept.run(key, lambda d=domain, a=arm, s=seed, z=sizes: trained(TASKS[d], a, s, *z)))
    print(report(runs))


if __name__ == "__main__":
    main()
