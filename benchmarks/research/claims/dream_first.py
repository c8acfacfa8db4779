"""Dream before reality: does an agent that first learned in the small dream need fewer steps in the grounded world?

    python benchmarks/research/claims/dream_first.py          # three domains, five seeds; goes on where it was stopped
    python benchmarks/research/claims/dream_first.py --domains search --seeds 0 1
    python benchmarks/research/claims/dream_first.py --domains search --no-bootstrap-at-limit --starts runs/dream_first
    python benchmarks/research/claims/dream_first.py --quick  # seconds, to see that it runs; its figures mean nothing

For every domain and seed two agents learn the same tasks in the grounded world for the same number of steps. Each is
tested on unseen tasks every 1,024 steps. One of them has learned in the dream before (`world="tiny"`), and starts from
the weights that it had then. With `--starts` these are agents that an earlier run has kept, so that runs with different
settings begin alike. Three readings of the same curves: the success after a fixed number of grounded steps, the
grounded steps to a success of 0.5, and what the dream alone has taught, beside the grounded world in as many steps.
Intervals are 95 %, bootstrapped over seeds and episodes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from agents import (
    GOAL,
    Kept,
    Tasks,
    bits,
    difference,
    dreamed,
    grounded,
    heading,
    mean,
    one_thread,
    paired,
    ratio,
    row,
    steps_to_goal,
)
from sb3_contrib import MaskablePPO

TASKS = {
    "terminal": Tasks("terminal", ("permissions",), 12, backplay=0.8),
    "search": Tasks("search", ("lookup",), 8, max_tokens=256),
    "android": Tasks("android", ("set_alarms",), 10, backplay=0.8),
}
SIZES = {"terminal": (2048, 4096), "search": (8192, 8192), "android": (4096, 4096)}
"""Steps in the dream, and in the grounded world."""
ARMS = ("dream first", "grounded alone")
Pairs = Mapping[str, Sequence[Sequence[dict[str, Any]]]]
"""The runs of both arms of each domain, seed by seed."""


def curve(
    tasks: Tasks,
    steps: int,
    episodes: int,
    seed: int,
    bootstrap_at_limit: bool,
    dream: Callable[[], MaskablePPO] | None,
) -> dict[str, Any]:
    """One agent, which dreams first if it has a dream: the test tasks it solves after each number of grounded steps."""
    began = time.process_time()
    start = dream() if dream else None
    dream_seconds = time.process_time() - began
    learning = grounded(tasks, steps, seed, start, bootstrap_at_limit)
    found = {str(done): bits(tasks.tested(agent, episodes)) for done, agent in learning}
    return {
        "dream_steps": start.num_timesteps if start else 0,
        "dream_seconds": round(dream_seconds, 1),
        "seconds": round(time.process_time() - began - dream_seconds, 1),
        "curve": found,
    }


def dreamt(tasks: Tasks, steps: int, seed: int, bootstrap_at_limit: bool, folder: Path) -> MaskablePPO:
    """An agent that has learned in the dream. The folder keeps it; its name says where the step limit is an end."""
    agent = dreamed(tasks, steps, seed, bootstrap_at_limit=bootstrap_at_limit)
    folder.mkdir(parents=True, exist_ok=True)
    setting = "" if bootstrap_at_limit else "-no-bootstrap-at-limit"
    agent.save(folder / f"{tasks.domain}-dream-{seed}{setting}.zip")
    return agent


def report(runs: Sequence[dict[str, Any]]) -> str:
    """The three readings as tables in Markdown, of the seeds whose two agents are there."""
    pairs = {domain: paired(runs, domain, ARMS) for domain in dict.fromkeys(run["domain"] for run in runs)}
    whole = {domain: arms for domain, arms in pairs.items() if arms[0]}
    lines = ["Success in the grounded world after so many steps there:", "", *after_steps(whole)]
    lines += ["", f"Grounded steps to a success of {GOAL}, seed by seed; a dash where it was not reached:", ""]
    lines += to_the_goal(whole)
    lines += ["", "Success in the grounded world after steps in the dream alone, and after as many grounded ones:", ""]
    return "\n".join(lines + dream_alone(whole))


def after_steps(pairs: Pairs) -> list[str]:
    """The success after each number of grounded steps."""
    lines = [heading("domain", "grounded steps", "seeds", *ARMS, "difference")]
    for domain, (first, alone) in pairs.items():
        for place in first[0]["curve"]:
            with_dream, without = ([run["curve"][place] for run in arm] for arm in (first, alone))
            cells = (mean(with_dream), mean(without), difference(with_dream, without))
            lines.append(row(domain, f"{int(place):,}", len(first), *cells))
    return lines


def to_the_goal(pairs: Pairs) -> list[str]:
    """The grounded steps after which each agent reached the goal."""
    lines = [heading("domain", "steps at most", *ARMS)]
    for domain, arms in pairs.items():
        reached = [[steps_to_goal(run) for run in arm] for arm in arms]
        cells = (", ".join("–" if steps is None else str(steps) for steps in arm) for arm in reached)
        lines.append(row(domain, f"{max(map(int, arms[0][0]['curve'])):,}", *cells))
    return lines


def dream_alone(pairs: Pairs) -> list[str]:
    """What the dream alone has taught, where the other agent was tested after as many grounded steps."""
    lines = [heading("domain", "steps", "seeds", "dream alone", "grounded alone", "difference", "ratio")]
    for domain, (first, alone) in pairs.items():
        steps = first[0]["dream_steps"]
        if all(str(steps) in run["curve"] for run in alone):
            dream, real = [run["curve"]["0"] for run in first], [run["curve"][str(steps)] for run in alone]
            cells = (mean(dream), mean(real), difference(dream, real), ratio(dream, real))
            lines.append(row(domain, f"{steps:,}", len(first), *cells))
    return lines


def main() -> None:
    """Run what is missing, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domains", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--dream", type=int, help="steps in the dream, in place of those of the domain")
    parser.add_argument("--steps", type=int, help="steps in the grounded world, in place of those of the domain")
    parser.add_argument("--episodes", type=int, default=40, help="unseen test tasks")
    parser.add_argument(
        "--bootstrap-at-limit",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="whether the value of what would come after the step limit counts, in both worlds",
    )
    parser.add_argument("--folder", type=Path, default=Path("runs/dream_first"), help="where the agents are kept")
    parser.add_argument(
        "--starts", type=Path, help="a folder of agents to start from that were kept, in place of dreaming"
    )
    parser.add_argument("--out", type=Path, help="for finished runs; without it --quick keeps none")
    parser.add_argument("--quick", action="store_true", help="one domain, one seed, a rollout each")
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.domains, chosen.seeds, chosen.dream, chosen.steps, chosen.episodes = ["terminal"], [0], 256, 1024, 4
    one_thread()
    kept = Kept.of("dream_first", chosen)
    runs, limit = [], chosen.bootstrap_at_limit
    for seed in chosen.seeds:
        for domain in chosen.domains:
            tasks, (dream, steps) = TASKS[domain], SIZES[domain]
            dream, steps = chosen.dream or dream, chosen.steps or steps
            first = partial(dreamt, tasks, dream, seed, limit, chosen.folder)
            if chosen.starts:
                first = partial(MaskablePPO.load, chosen.starts / f"{domain}-dream-{seed}.zip", device="cpu")
            for arm, start in zip(ARMS, (first, None), strict=True):
                key = {"domain": domain, "arm": arm, "seed": seed, "sizes": [dream, steps, chosen.episodes]}
                key |= {"bootstrap_at_limit": limit, "kept_start": bool(chosen.starts and start)}
                runs.append(kept.run(key, partial(curve, tasks, steps, chosen.episodes, seed, limit, start)))
    print(report(runs))


if __name__ == "__main__":
    main()
