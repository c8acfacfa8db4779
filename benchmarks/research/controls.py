"""What the controls do in the grounded worlds: an expert without them, under them, and one that knows them.

    python benchmarks/research/controls.py [--domains NAME ...] [--seeds 200]

For every control of every domain: the share of tasks that an expert solves who was written without the control, with
the control off and on; that of an expert who knows it; and the share of episodes of the first expert whose observations
the control changes. Intervals are 95 % Wilson intervals. The exit status tells whether each control changes
observations, costs the first expert success beyond the intervals, and leaves the second one whole.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from math import sqrt

from agentworld_gym.agents.policies.following import play
from agentworld_gym.core.engines.catalog import engine_names
from agentworld_gym.core.tasks.control_cases import ControlCase, control_cases
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions

HEADER = ("domain", "control", "strength", "family", "level", "changed %", "expert, off", "expert, on", "knowing, on")
STEPS = 60
"""A limit that no expert reaches."""


def measure(runner: EpisodeRunner, case: ControlCase, seeds: int) -> tuple[float, list[int]]:
    """The share of episodes that look different, and the successes of the three experts."""
    calm = {"family": case.family, "level": case.level}
    under = {**calm, "controls": {case.control: case.strength}}
    off = [play(runner, case.naive, seed, calm) for seed in range(seeds)]
    on = [play(runner, case.naive, seed, under) for seed in range(seeds)]
    knowing = [play(runner, case.aware, seed, under) for seed in range(seeds)]
    changed = sum(a[1] != b[1] for a, b in zip(off, on, strict=True)) / seeds
    return changed, [sum(done for done, _ in runs) for runs in (off, on, knowing)]


def wilson(hits: int, trials: int, z: float = 1.96) -> tuple[float, float]:
    """The 95 % interval of a share."""
    centre = (hits + z * z / 2) / (trials + z * z)
    half = z * sqrt(hits * (trials - hits) / trials + z * z / 4) / (trials + z * z)
    return centre - half, centre + half


def shown(hits: int, trials: int) -> str:
    """A share with its interval."""
    low, high = wilson(hits, trials)
    return f"{hits / trials:.2f} ({low:.2f}-{high:.2f})"


def holds(changed: float, hits: Sequence[int], seeds: int) -> bool:
    """Whether the control shows, costs the expert success, and can be coped with."""
    off, on, knowing = hits
    return changed > 0 and wilson(on, seeds)[1] < wilson(off, seeds)[0] and min(off, knowing) >= 0.97 * seeds


def main() -> int:
    """Print the table; 1 if a control does not do what it should."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domains", nargs="+", default=engine_names())
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--world", default="grounded", help="such as grounded:monty")
    options = parser.parse_args()
    met = True
    print("| " + " | ".join(HEADER) + " |\n|" + "---|" * len(HEADER))
    for domain in options.domains:
        runner = EnvOptions(spec=domain, world=options.world, max_steps=STEPS, split="test").runner()
        cases = control_cases(domain)
        for case in cases:
            changed, hits = measure(runner, case, options.seeds)
            good = holds(changed, hits, options.seeds)
            met = met and good
            cells = (domain, case.control, case.strength, case.family, case.level, f"{100 * changed:.0f}")
            numbers = [shown(count, options.seeds) for count in hits]
            print("| " + " | ".join(map(str, (*cells, *numbers))) + f" |{'' if good else ' MISSED'}", flush=True)
        if missing := set(runner.spec.controls) - {case.control for case in cases}:
            met = False
            print(f"{domain}: no case for {', '.join(sorted(missing))}")
        runner.close()
    print(f"\nEvery control changes what is seen, costs an expert success, and can be coped with: {met}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
