"""Right solutions that are not the expert's, played on every family and level of the grounded worlds.

    python benchmarks/research/right_ways.py [--domains NAME ...] [--families NAME ...] [--levels 1 2 3] [--seeds 3]
        [--world WORLD] [--show]
    python benchmarks/research/right_ways.py --levels 4 5  # composed tasks, in the ways of their families

A way (`ways.playing.Way`) is written from the instruction alone: other commands, another order, other tools, more than
asked where the text allows it. Each one has to win: a check that refuses it punishes an agent for what it was told.
What does not win is reported with the checks that refused it. The exit status is 1 if a way does not win, or if a level
of a family has fewer than three ways.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import product

from ways import android, composed, desktop, mcp, search, swe, terminal, web, work
from ways.composed_places import PLACES
from ways.playing import Played, Way, Ways, play

from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.core.tasks.family import COMPOSED
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions

DOMAINS: dict[str, Ways] = {
    "android": android.WAYS,
    "desktop": desktop.WAYS,
    "mcp": mcp.WAYS,
    "search": search.WAYS,
    "swe": swe.WAYS,
    "terminal": terminal.WAYS,
    "web": web.WAYS,
    "work": work.WAYS,
}
REPOSITORIES = ("swe", "work")
LEVELS = (1, 2, 3)
LEAST = 3
"""How many ways each level of a family has at least."""


def tasks(
    runner: EpisodeRunner, names: Collection[str] | None, levels: Sequence[int], seeds: Sequence[int]
) -> Iterator[tuple[str, Task, Sequence[Way]]]:
    """Return each task with the name of its family, or its own, and its ways."""
    domain = runner.spec.id
    found = DOMAINS[domain]
    for family in sorted(families(domain)):
        for level, seed in product(levels if names is None or family in names else (), seeds):
            if level in LEVELS:
                yield family, generate(domain, family, level, seed), found.get(family, ())
            elif domain in PLACES:
                yield (family, *composed.composed(domain, family, level, seed, PLACES[domain]))
    for task in runner.spec.handwritten_tasks() if set(levels) & set(LEVELS) else ():
        if names is None or task.id in names:
            yield task.id, task, found.get(task.id, ())


class Tally:
    """What was played, and what did not win."""

    def __init__(self) -> None:
        self.plays: Counter[str] = Counter()
        self.wins: Counter[str] = Counter()
        self.lost: list[tuple[str, Task, Played]] = []
        self.few: dict[str, int] = {}
        """How many ways the levels and the hand-written tasks with fewer than three of them have."""

    def add(self, domain: str, name: str, task: Task, ways: Sequence[Played]) -> None:
        """Enter the plays of one task."""
        applied = [played for played in ways if played.applies or played.refused]
        self.plays[domain] += len(applied)
        self.wins[domain] += sum(not played.refused for played in applied)
        self.lost += [(domain, task, played) for played in applied if played.refused]
        if len(applied) < LEAST:
            self.few[f"{domain} {name}" + ("" if task.seed is None else f" level {task.level}")] = len(applied)


def run(
    domains: Sequence[str],
    names: Collection[str] | None = None,
    levels: Sequence[int] = LEVELS,
    seeds: Sequence[int] = (0,),
    world: str = "grounded:monty",
) -> Tally:
    """Play every way of some domains.

    Args:
        domains: The domains.
        names: Only these families and hand-written tasks; None takes all.
        levels: The levels.
        seeds: The seeds of the tasks of each family and level.
        world: The world of the repositories.
    """
    tally = Tally()
    for domain in domains:
        runner = EnvOptions(spec=domain, world=world if domain in REPOSITORIES else "grounded").runner()
        began = time.perf_counter()
        for name, task, ways in tasks(runner, names, levels, seeds):
            tally.add(domain, name, task, [play(runner, task, way) for way in ways])
        runner.close()
        print(f"{domain}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    return tally


def main() -> int:
    """Print the table and what did not win; 1 if something did not, or a level has too few ways."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domains", nargs="+", default=sorted(DOMAINS), choices=sorted(DOMAINS))
    parser.add_argument("--families", nargs="+", metavar="NAME", help="only these families and hand-written tasks")
    parser.add_argument("--levels", nargs="+", type=int, default=list(LEVELS), choices=(*LEVELS, *COMPOSED))
    parser.add_argument("--seeds", type=int, default=3, help="tasks of each family and level")
    parser.add_argument("--world", default="grounded:monty", help="of the repositories, such as grounded:bubblewrap")
    parser.add_argument("--show", action="store_true", help="print the actions of what did not win")
    options = parser.parse_args()
    tally = run(options.domains, options.families, options.levels, range(options.seeds), options.world)
    print("| domain | wins | plays |\n|---|---|---|")
    for domain in options.domains:
        print(f"| {domain} | {tally.wins[domain]} | {tally.plays[domain]} |")
    for domain, task, played in tally.lost:
        print(f"\n{domain} {task.id}: {played.way} does not win\n  instruction: {task.instruction}")
        for line in played.refused:
            print(f"  {line}")
        for action in played.actions if options.show else ():
            print(f"  > {action}")
    for name, count in tally.few.items():
        print(f"too few ways: {name} has {count}")
    return 1 if tally.lost or tally.few else 0


if __name__ == "__main__":
    sys.exit(main())
