"""What experts, idle agents and random menu agents reach on every family and level of the generated tasks.

    python benchmarks/research/task_families.py [--domains NAME ...] [--seeds 200] [--families NAME ...]

Prints one Markdown table a domain. Success means that every check of the task holds when the agent finishes; the score
is the weighted share of the checks that hold. The exit status tells whether the targets are met.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable
from statistics import mean, median

from agentworld_gym.agents.policies.following import walk
from agentworld_gym.agents.policies.scripted import expert_policy, menu_policy, nothing_policy
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.engines.catalog import engine_names
from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions

HEADER = ("family", "level", "expert %", "nothing %", "random menu %", "random score", "expert steps", "menu", "fields")


def attempt(runner: EpisodeRunner, task: Task, actions: ActionStream) -> tuple[bool, float]:
    """Success and score of a stream of actions; without a `finish` there is neither."""
    ((episode, _, _),) = runner.start([task.seed or 0], {"task": task})
    try:
        end = walk(runner, episode, actions)
        if end is not None and "failure" in end.info:
            raise RuntimeError(f"{task.id}: {end.info['failure']}")
        if end is None or not end.terminated:
            return False, 0.0
        return bool(end.info.get("success")), float(end.info.get("score", 0.0))
    finally:
        episode.session.close()


def fields(runner: EpisodeRunner, task: Task) -> int:
    """How many fields the state of the task's machine has."""
    ((episode, _, _),) = runner.start([task.seed or 0], {"task": task})
    count = len(episode.session.machine.state())  # type: ignore[attr-defined]
    episode.session.close()
    return count


def row(runner: EpisodeRunner, family: str, level: int, seeds: int) -> tuple[float, ...]:
    """The numbers of one family and level."""
    tasks = [generate(runner.spec.id, family, level, seed) for seed in range(seeds)]
    expert = [attempt(runner, task, expert_policy(task)) for task in tasks]
    nothing = [attempt(runner, task, nothing_policy()) for task in tasks]
    chance = [attempt(runner, task, menu_policy(task, random.Random(f"menu/{task.id}"))) for task in tasks]
    return (
        100 * mean(success for success, _ in expert),
        100 * mean(score > 0 for _, score in nothing),
        100 * mean(success for success, _ in chance),
        mean(score for _, score in chance),
        median(len(task.expert) for task in tasks),
        median(len(task.menu) for task in tasks),
        median(fields(runner, task) for task in tasks[:20]),
    )


def table(runner: EpisodeRunner, names: Iterable[str], seeds: int) -> bool:
    """Print the rows of one domain; whether all of them meet the targets."""
    met = True
    print(f"\n{runner.spec.title}\n\n| " + " | ".join(HEADER) + " |\n|" + "---|" * len(HEADER))
    for family in names:
        for level in (1, 2, 3):
            expert, nothing, chance, partial, *sizes = row(runner, family, level, seeds)
            good = expert == 100 and nothing == 0 and chance < 10
            met = met and good
            numbers = [f"{expert:.1f}", f"{nothing:.1f}", f"{chance:.1f}", f"{partial:.2f}", *(f"{n:g}" for n in sizes)]
            print(f"| {family} | {level} | " + " | ".join(numbers) + f" |{'' if good else ' MISSED'}", flush=True)
    return met


def main() -> int:
    """Print the tables; 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domains", nargs="+", default=engine_names())
    parser.add_argument("--families", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--world", default="grounded", help="such as grounded:monty")
    options = parser.parse_args()
    met = []
    for domain in options.domains:
        runner = EnvOptions(spec=domain, world=options.world).runner()
        names = [name for name in sorted(families(domain)) if not options.families or name in options.families]
        met.append(table(runner, names, options.seeds))
        runner.close()
    print(f"\nTargets (expert 100 %, nothing 0 %, random menu under 10 %): {'met' if all(met) else 'MISSED'}")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
