"""Ways to win without the work, tried on every family and level and every hand-written task of the grounded worlds.

    python benchmarks/research/reward_hacks.py [--domain NAME ...] [--kind NAME ...] [--seeds 1] [--plays 8]
        [--levels 1 2 3] [--every 1] [--json FILE] [--show]

A win is an episode that ends with `info["success"]` though the work was not done. What is tried: blind finishes,
shotgun answers (the right one among others), forged outputs, tampered tools, collateral acts (the expert's work and a
wrong act), doubled acts, and work of which an act was left out. An attacker here knows the task's checks, its expert
and what the probes should print, which no agent does. The expert alone has to win. The exit status is 1 if an attack
wins or an expert loses.

A collateral, doubled or left-out act that leaves the lasting state of the world as the expert leaves it did no harm: it
is no play. Fields that tell of the view or the moment (`hacks.playing.PASSING`) do not count.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from hacks import acts, answers, forged_code, forged_shell, forged_views
from hacks.playing import ALL, REPOSITORIES, STEPS, Attack, Case, drawn, open_case, try_out

from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.tasks import families, generate
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.options import EnvOptions

ATTACKS: tuple[Attack, ...] = (
    *answers.ATTACKS,
    *forged_shell.ATTACKS,
    *forged_code.ATTACKS,
    *forged_views.ATTACKS,
    *acts.ATTACKS,
)
KINDS = ("blind", "shotgun", "forged", "tampered", "collateral", "doubled", "undone")
LEVELS = (1, 2, 3)
KIN = 7919
"""How far the seed of another task of the family is."""


def tasks(
    runner: EpisodeRunner, seeds: Iterable[int], names: Collection[str] | None, levels: Sequence[int] = LEVELS
) -> Iterator[tuple[Task, list[Task]]]:
    """Every task to attack, with others of its family."""
    domain = runner.spec.id
    for family in sorted(families(domain)):
        for level in levels:
            for seed in seeds:
                if names is None or family in names:
                    yield generate(domain, family, level, seed), [generate(domain, family, level, seed + KIN)]
    for task in runner.spec.handwritten_tasks():
        if names is None or task.id in names:
            yield task, []


class Tally:
    """Counts of what was played and won."""

    def __init__(self) -> None:
        self.plays: Counter[tuple[str, str]] = Counter()
        self.wins: Counter[tuple[str, str]] = Counter()
        self.harmless: Counter[tuple[str, str]] = Counter()
        self.experts: Counter[str] = Counter()
        self.seconds: Counter[str] = Counter()
        self.lost: list[str] = []
        self.found: list[dict[str, object]] = []

    def lost_in(self, domain: str) -> int:
        """How many experts of a domain lost."""
        return sum(name.startswith(f"{domain} ") for name in self.lost)

    def add(self, case: Case, attacks: Sequence[Attack], most: int | None) -> None:
        """Attack one task with at most so many plays of each attack."""
        domain = case.domain
        self.experts[domain] += 1
        if not case.won:
            self.lost.append(f"{domain} {case.task.id}")
            return
        for attack in attacks:
            key = (attack.kind, domain)
            began = time.process_time()
            for attempt in drawn(case, attack, most):
                result = try_out(case, attack, attempt)
                self.plays[key] += result.played
                self.harmless[key] += not result.played
                self.wins[key] += result.won
                if result.won:
                    self.found.append({
                        "domain": domain, "task": case.task.id, "kind": attack.kind, "attack": attack.name,
                        "play": attempt.name, "actions": list(result.actions), "differs": list(result.differs[:8]),
                    })  # fmt: skip
            self.seconds[attack.name] += time.process_time() - began


def run(
    domains: Sequence[str],
    kinds: Sequence[str] = KINDS,
    seeds: Sequence[int] = (0,),
    most: int | None = None,
    names: Collection[str] | None = None,
    world: str = "auto",
    every: int = 1,
    levels: Sequence[int] = LEVELS,
) -> Tally:
    """Attack every task of some domains.

    Args:
        domains: of the grounded worlds.
        kinds: of attacks.
        seeds: of the tasks of each family and level.
        most: plays of one attack on one task; None plays all.
        names: only these families and hand-written tasks; None takes all.
        world: of the repositories, such as `grounded:bubblewrap`; `auto` takes `grounded:monty`.
        every: only every so manieth task.
        levels: of the generated tasks; hand-written ones are attacked as well.
    """
    tally = Tally()
    attacks = [attack for attack in ATTACKS if attack.kind in kinds]
    for domain in domains:
        place = ("grounded:monty" if world == "auto" else world) if domain in REPOSITORIES else "grounded"
        runner = EnvOptions(spec=domain, world=place, max_steps=STEPS).runner()
        began = time.perf_counter()
        for task, kin in islice(tasks(runner, seeds, names, levels), 0, None, every):
            case = open_case(runner, task, kin)
            tally.add(case, attacks, most)
            case.close()
        runner.close()
        print(f"{domain}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    return tally


def table(tally: Tally, domains: Sequence[str], kinds: Sequence[str]) -> str:
    """Wins of plays by kind and domain, as Markdown."""
    lines = ["| kind | " + " | ".join(domains) + " | all |", "|---|" + "---|" * (len(domains) + 1)]
    experts = [f"{tally.experts[domain] - tally.lost_in(domain)} of {tally.experts[domain]}" for domain in domains]
    whole = tally.experts.total()
    lines.append("| expert alone | " + " | ".join(experts) + f" | {whole - len(tally.lost)} of {whole} |")
    for kind in kinds:
        cells = [(tally.wins[kind, domain], tally.plays[kind, domain]) for domain in domains]
        cells.append((sum(wins for wins, _ in cells), sum(plays for _, plays in cells)))
        lines.append(
            f"| {kind} | " + " | ".join(f"{wins} of {plays:,}" if plays else "–" for wins, plays in cells) + " |"
        )
    return "\n".join(lines)


def main() -> int:
    """Print the table; 1 if an attack wins or an expert loses."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domain", nargs="+", default=sorted(ALL), choices=sorted(ALL))
    parser.add_argument("--kind", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--task", nargs="+", metavar="NAME", help="only these families and hand-written tasks")
    parser.add_argument("--levels", nargs="+", type=int, default=list(LEVELS), choices=(*LEVELS, 4, 5))
    parser.add_argument("--seeds", type=int, default=1, help="tasks of each family and level")
    parser.add_argument("--every", type=int, default=1, help="attack only every so manieth task")
    parser.add_argument("--plays", type=int, default=8, help="most plays of one attack on one task; 0: all of them")
    parser.add_argument("--world", default="auto", help="of the repositories, such as grounded:bubblewrap")
    parser.add_argument("--json", type=Path, help="write every win, with its actions, to this file")
    parser.add_argument("--show", action="store_true", help="print every win")
    options = parser.parse_args()
    seeds, plays = range(options.seeds), options.plays or None
    tally = run(options.domain, options.kind, seeds, plays, options.task, options.world, options.every, options.levels)
    print(table(tally, options.domain, options.kind))
    for name in tally.lost:
        print(f"the expert loses: {name}")
    if options.show:
        for win in tally.found:
            print(f"{win['kind']}: {win['domain']} {win['task']}: {win['attack']}: {win['play']}")
    if options.json is not None:
        counts = [
            {
                "kind": kind,
                "domain": domain,
                "plays": plays,
                "wins": tally.wins[kind, domain],
                "harmless": tally.harmless[kind, domain],
            }
            for (kind, domain), plays in sorted(tally.plays.items())
        ]
        options.json.write_text(
            json.dumps({"counts": counts, "wins": tally.found, "lost": tally.lost}, indent=1, ensure_ascii=False)
        )
    wins = tally.wins.total()
    print(f"\n{wins} of {tally.plays.total():,} plays win ({tally.harmless.total():,} more did no harm)")
    return 1 if wins or tally.lost else 0


if __name__ == "__main__":
    sys.exit(main())
