"""Probes that are read off the ledger of a dream, against asking the model and against the grounded world.

    python benchmarks/ledger_probes.py [--episodes 40] [--world tiny]

An expert that errs now and then plays unseen tasks of the terminal in the grounded world, and its actions are played
again in a dream that keeps a ledger. At the end each probe of the task is carried out three times: in the grounded
world; on a fork of the dream, in which the model answers; and on the dream's copy for probes, which reads what stands
in the ledger. Intervals are 95 % bootstrap intervals over episodes.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict

import torch

from agentworld_gym.checks.probes import Probe, run_probes
from agentworld_gym.contracts import Failure, Session
from agentworld_gym.domain.task import Task
from agentworld_gym.episodes.runner import EpisodeRunner
from agentworld_gym.options import EnvOptions
from agentworld_gym.policies.playing import Played, open_policy, play
from agentworld_gym.screens.sight import Sight
from agentworld_gym.statistics.bootstrap import interval


def ended(runner: EpisodeRunner, played: list[Played]) -> list[Session | None]:
    """The sessions of a world after the actions of some episodes; None where it failed on the way."""
    sessions: list[Session | None] = []
    for begun in runner.world.begin([one.task for one in played], [one.seed for one in played]):
        sessions.append(None if isinstance(begun, Failure) else begun)
    for turn in range(max(len(one.actions) for one in played)):
        places = [place for place, one in enumerate(played) if turn < len(one.actions) and sessions[place] is not None]
        read = {place: runner.parser.parse(played[place].actions[turn]) for place in places}
        asked = [place for place in places if read[place].asks_world]
        answers = runner.world.step([sessions[place] for place in asked], [read[place] for place in asked])
        for place, answer in zip(asked, answers, strict=True):
            if isinstance(answer, Failure):
                sessions[place] = None
    return sessions


def probes_of(task: Task, session: Session | None, asks: bool) -> list[Probe] | None:
    """The probes of a task, each on a copy of its own."""
    if session is None:
        return None
    checks = [check for check in task.success if check.probes]
    return [Probe(task, check, session.fork() if asks else session.probe(), Sight(task.domain)) for check in checks]


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=40)
    parser.add_argument("--world", default="tiny", help="a dream that can keep a ledger")
    given = parser.parse_args()
    torch.set_num_threads(1)
    real = EnvOptions(spec="terminal", world="grounded", levels=(1, 2, 3), split="test")
    runner, dream = real.runner(), real.changed(world=given.world, ledger=True).runner()
    played = sorted(
        play(runner, open_policy("mixed", runner.spec), range(given.episodes)), key=lambda episode: episode.place
    )
    found: dict[str, list[list[Probe] | None]] = {}
    sessions = {"true": ended(runner, played), "dreamt": ended(dream, played)}
    for name, world, asks in (("true", runner, False), ("asked", dream, True), ("read", dream, False)):
        own = sessions["true" if name == "true" else "dreamt"]
        found[name] = [probes_of(one.task, session, asks) for one, session in zip(played, own, strict=True)]
        flat = [probe for probes in found[name] for probe in probes or ()]
        run_probes(world.world, world.parser, flat, world.output)
    report(found)
    runner.close()
    dream.close()
    return 0


def report(found: dict[str, list[list[Probe] | None]]) -> None:
    """Print how many probes were read off the ledger, and how often the verdicts agree."""
    agree: dict[str, list[bool]] = defaultdict(list)
    groups: dict[str, list[int]] = defaultdict(list)
    counts: Counter[str] = Counter()
    for place, (true, asked, read) in enumerate(zip(found["true"], found["asked"], found["read"], strict=True)):
        if true is None or asked is None or read is None:
            counts["episodes that the dream did not finish"] += 1
            continue
        for real, slow, fast in zip(true, asked, read, strict=True):
            counts["probes"] += 1
            counts["tokens written when asked"] += slow.usage.completion_tokens
            counts["tokens written when read"] += fast.usage.completion_tokens
            counts[f"{fast.check.probes[-1].split()[0]} {'read' if fast.answers['ledger'] else 'asked'}"] += 1
            for name, one, other in (
                ("read as asked, of those read", fast if fast.answers["ledger"] else None, slow),
                ("read as true, of those read", fast if fast.answers["ledger"] else None, real),
                ("asked as true, of those read", slow if fast.answers["ledger"] else None, real),
                ("all as true, some of them read", fast, real),
                ("all as true, all of them asked", slow, real),
            ):
                if one is not None and other.score is not None:
                    agree[name].append(one.score == other.score)
                    groups[name].append(place)
    for name, count in sorted(counts.items()):
        sys.stdout.write(f"{name}: {count}\n")
    for name, values in agree.items():
        sys.stdout.write(f"{name}: {interval(values, groups[name])} of {len(values)}\n")


if __name__ == "__main__":
    sys.exit(main())
