"""Forks in the grounded worlds: exact on random episodes, and what one costs.

    python benchmarks/research/forks.py [--domains NAME ...] [--episodes 500]
    python benchmarks/research/forks.py --world awm:DIR

In each episode a random agent plays menu entries, expert actions and noise; at a random turn the session is forked, and
from there on both copies play the same actions. An episode is exact if every observation and the whole state behind it
are equal on both; closing the copy leaves the original as it was. The cost is that of the fork, and apart from it that
of the copy's first action, because a copy may be made late.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from statistics import median
from typing import Any

from agentworld_gym.core.actions.finish import finishes
from agentworld_gym.core.engines.catalog import engine_names
from agentworld_gym.core.screens.sight import Sight
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions

STEPS = 12


def noise(rng: random.Random, episode: Episode) -> str:
    """An action of the episode that is possible on its screen, at times with a piece missing."""
    sight = Sight(episode.task.domain, episode.observations)
    offers = sight.offers(a for a in (*episode.task.menu, *episode.task.expert) if not finishes(a))
    action = rng.choice([offer for offer in offers if offer is not None] or ["nothing"])
    if rng.random() < 0.15:
        cut = rng.randrange(len(action) + 1)
        action = action[:cut] + action[cut + 1 :]
    return action


def exact(runner: EpisodeRunner, seed: int) -> tuple[bool, float, float]:
    """Whether both copies stay equal, and the seconds that the fork and the first action on it took."""
    rng = random.Random(seed)
    grounded = runner.source.pool is None  # Tasks that a world brings have no levels and no controls.
    options: dict[str, Any] = {"level": rng.choice((1, 2, 3))} if grounded else {}
    if grounded and rng.random() < 0.3:
        options["controls"] = {rng.choice(sorted(runner.spec.controls)): 0.5}
    ((episode, _, _),) = runner.start([seed], options)
    turn = rng.randrange(STEPS // 2)
    for _ in range(turn):
        runner.advance([episode], [noise(rng, episode)])
    began = time.perf_counter()
    twin = runner.fork(episode)
    cost = time.perf_counter() - began
    runner.fork(episode).session.close()
    same, first = True, 0.0
    for number in range(STEPS - turn):
        action = noise(rng, episode)
        began = time.perf_counter()
        (other,) = runner.advance([twin], [action])
        first = first if number else time.perf_counter() - began
        (one,) = runner.advance([episode], [action])
        same = same and one == other
    machines = [copy.session.machine for copy in (episode, twin)]  # type: ignore[attr-defined]
    same = same and machines[0].state() == machines[1].state()
    for copy in (episode, twin):
        copy.session.close()
    return same, cost, first


def main() -> int:
    """Print a table; 1 if an episode is not exact."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domains", nargs="+", default=engine_names())
    parser.add_argument("--world", help="a folder of AWM's worlds, in place of the grounded worlds")
    parser.add_argument("--episodes", type=int, default=500)
    options = parser.parse_args()
    worlds = dict.fromkeys(options.domains, "grounded") | {"swe": "grounded:monty"}
    worlds = {"mcp": options.world} if options.world else {domain: worlds[domain] for domain in options.domains}
    met = True
    print("| domain | episodes | exact | fork: median, 99th percentile ms | first action on it: median ms |")
    print("|---|---|---|---|---|")
    for domain, world in worlds.items():
        runner = EnvOptions(spec=domain, world=world, judge="none", max_steps=10 * STEPS).runner()
        results = [exact(runner, seed) for seed in range(options.episodes)]
        runner.close()
        costs = sorted(1000 * cost for _, cost, _ in results)
        first = median(1000 * first for _, _, first in results)
        good = sum(same for same, _, _ in results)
        met = met and good == len(results)
        tail = costs[int(0.99 * (len(costs) - 1))]
        print(f"| {domain} | {len(results)} | {good} | {median(costs):.2f}, {tail:.2f} | {first:.2f} |", flush=True)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
