"""What experts, idle agents and random menu agents reach on every family and level of terminal tasks.

    python benchmarks/task_families.py [--seeds 300] [--family NAME ...]

Prints one Markdown table. Success means that every check of the task holds when the agent says `finish`; the score is
the weighted share of the checks that hold. The exit status tells whether the targets are met.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable
from statistics import mean, median

from agentworld_gym.engines.terminal import TerminalMachine
from agentworld_gym.task import Task
from agentworld_gym.tasks import families, generate
from agentworld_gym.tasks.policies import expert_policy, menu_policy

HEADER = ("family", "level", "expert %", "nothing %", "random menu %", "random score", "expert steps", "menu", "files")


def enter(machine: TerminalMachine, command: str) -> str:
    """What a command prints, without echo and prompt."""
    return "\n".join(machine.act([{"keystrokes": command + "\n"}]).split("\n")[1:-1])


def attempt(task: Task, actions: Iterable[str]) -> float:
    """The score of some actions; without `finish` there is none."""
    machine = TerminalMachine.start(task.state, 0)
    try:
        for action in actions:
            if action == "finish":
                return score(task, machine)
            enter(machine, action)
        return 0.0
    finally:
        machine.close()


def score(task: Task, machine: TerminalMachine) -> float:
    """The weighted share of checks that hold, each probed on a fork."""
    passed = 0.0
    for check in task.success:
        if check.probe is None or check.expect is None:
            raise ValueError(f"{task.id}: only probes are expected here")
        fork = machine.fork()
        passed += check.weight * check.expect.holds(enter(fork, check.probe))
        fork.close()
    return round(passed / sum(check.weight for check in task.success), 9)


def row(family: str, level: int, seeds: int) -> tuple[float, ...]:
    """The numbers of one family and level."""
    tasks = [generate("terminal", family, level, seed) for seed in range(seeds)]
    expert = [attempt(task, expert_policy(task)) for task in tasks]
    nothing = [attempt(task, ["finish"]) for task in tasks]
    chance = [attempt(task, menu_policy(task, random.Random(f"menu/{task.id}"))) for task in tasks]
    return (
        100 * mean(score == 1 for score in expert),
        100 * mean(score > 0 for score in nothing),
        100 * mean(score == 1 for score in chance),
        mean(chance),
        median(len(task.expert) for task in tasks),
        median(len(task.menu) for task in tasks),
        median(len(task.state["files"]) for task in tasks),
    )


def main() -> int:
    """Print the table; 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=300)
    parser.add_argument("--family", nargs="*", default=sorted(families("terminal")), metavar="NAME")
    options = parser.parse_args()
    met = True
    print("| " + " | ".join(HEADER) + " |\n|" + "---|" * len(HEADER))
    for family in options.family:
        for level in (1, 2, 3):
            expert, nothing, chance, partial, *sizes = row(family, level, options.seeds)
            met = met and expert == 100 and nothing == 0 and chance < 10
            numbers = [f"{expert:.1f}", f"{nothing:.1f}", f"{chance:.1f}", f"{partial:.2f}", *(f"{n:g}" for n in sizes)]
            print(f"| {family} | {level} | " + " | ".join(numbers) + " |", flush=True)
    print(f"\nTargets (expert 100 %, nothing 0 %, random under 10 %): {'met' if met else 'MISSED'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
