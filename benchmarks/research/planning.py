"""Planning in a grounded world and in a dream: success in the grounded world for each budget of world calls.

    python benchmarks/research/planning.py  # the terminal, and planning in its small dream
    python benchmarks/research/planning.py --domain mcp --dream none
    python benchmarks/research/planning.py --tasks 24 --budgets 8 32 --searches tree

Three agents play the same unseen tasks: one that draws from the menu, which is also where the plans come from; one that
plans in the grounded world in which it acts; and one that plans in the dream and acts in the grounded world. The budget
is the number of actions that one search may try. Intervals are 95 % Wilson intervals.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from agentworld_gym.agents.planning.imagination import OtherWorld
from agentworld_gym.agents.planning.planner import Planner
from agentworld_gym.agents.planning.search import BeamSearch, BestOfN, Search, TreeSearch
from agentworld_gym.agents.policies.playing import Policy, play
from agentworld_gym.agents.policies.registry import open_policy
from agentworld_gym.base.statistics.proportions import proportion
from agentworld_gym.envs.options import EnvOptions

WORLDS = {"swe": "grounded:monty"}
console = Console()


def searches(names: list[str], budget: int, depth: int) -> list[Search]:
    """Return the searches of a budget; a beam of one state tries more than a small budget allows."""
    every: dict[str, Search] = {
        "best": BestOfN(n=max(1, budget // depth), depth=depth),
        "beam": BeamSearch(width=max(1, budget // (8 * depth)), depth=depth, branch=8),
        "tree": TreeSearch(simulations=budget, depth=depth),
    }
    return [every[name] for name in names]


def measured(runner: Any, policy: Policy, tasks: int, agent: str, budget: int) -> dict[str, Any]:
    """Play the tasks and return a row of the table."""
    began = time.process_time()
    played = list(play(runner, policy, range(tasks)))
    known = [one.success for one in played if one.success is not None]
    share = proportion(known)
    calls = getattr(policy, "calls", 0)
    return {
        "agent": agent,
        "search": policy.name,
        "budget": budget,
        "success": share.share,
        "low": share.low,
        "high": share.high,
        "tasks": len(known),
        "failures": len(played) - len(known),
        "calls_a_task": calls / len(played),
        "seconds": time.process_time() - began,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domain", default="terminal")
    parser.add_argument("--dream", default="tiny", help="the world to plan in beside the grounded one, or none")
    parser.add_argument("--levels", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--tasks", type=int, default=48)
    parser.add_argument("--budgets", type=int, nargs="+", default=[8, 32, 128])
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--searches", nargs="+", choices=["best", "beam", "tree"], default=["best", "beam", "tree"])
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    world = WORLDS.get(arguments.domain, "grounded")
    options = EnvOptions(spec=arguments.domain, world=world, levels=tuple(arguments.levels), split="test")
    runner = options.runner()
    dreamt = None if arguments.dream == "none" else options.changed(world=arguments.dream).runner()
    rows = [measured(runner, open_policy("menu", runner.spec), arguments.tasks, "menu alone", 0)]
    for budget in arguments.budgets:
        for search in searches(arguments.searches, budget, arguments.depth):
            planners = {"plans in the grounded world": Planner(runner, search)}
            if dreamt is not None:
                planners["plans in the dream"] = Planner(runner, search, imagination=OtherWorld(dreamt))
            for agent, planner in planners.items():
                rows.append(measured(runner, planner, arguments.tasks, agent, budget))
                console.print(rows[-1])
    table = Table("agent", "search", "budget", "success", "calls a task", "CPU-s")
    for row in rows:
        success = f"{row['success']:.2f} ({row['low']:.2f}–{row['high']:.2f})"
        table.add_row(
            row["agent"],
            row["search"],
            str(row["budget"]),
            success,
            f"{row['calls_a_task']:.0f}",
            f"{row['seconds']:.0f}",
        )
    console.print(table)
    if arguments.out:
        arguments.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
