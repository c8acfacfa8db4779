"""The table of reference agents: what anybody's figure of `agentworld eval agent` can be read against.

    python benchmarks/research/reference_agents.py --out runs/reference  # expert, menu and nothing, grounded and tiny
    python benchmarks/research/reference_agents.py --out runs/reference --agents expert --worlds tiny --tasks 20
    python benchmarks/research/reference_agents.py --out runs/reference --worlds grounded --levels 4 5 --tasks 15
    python benchmarks/research/ppo.py --seeds 0 --no-twin --save runs/ppo  # the PPO of the demo, for longer
    python benchmarks/research/reference_agents.py --out runs/reference --agents runs/ppo/ppo-0.zip --domains terminal

At levels 4 and 5 `menu` draws from all actions that such a task lists, which are too many for menus of vectors, and so
for PPO. Each agent, world and level is a result of its own in the folder, beside its episodes, so that a run that was
stopped goes on with the same command.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from agentworld_gym.core.registration import all_domains
from agentworld_gym.evaluation.agent import Setup, evaluate_agent
from agentworld_gym.evaluation.results.agent import AgentCell


def shown(cell: AgentCell) -> str:
    """A cell of the table: success with its interval, score, and steps."""
    if cell.success is None or cell.score is None:
        return "–"
    share = cell.success
    lost = f", {cell.unscored} not scored" if cell.unscored else ""
    return f"{share.share:.2f} ({share.low:.2f} to {share.high:.2f}), {cell.score:.2f}, {cell.steps:.1f}{lost}"


def main() -> None:
    """Play what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="the folder of the results")
    parser.add_argument("--agents", nargs="+", default=["expert", "menu", "nothing"])
    parser.add_argument("--worlds", nargs="+", default=["grounded", "tiny"])
    parser.add_argument("--levels", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--domains", nargs="+", default=list(all_domains()))
    parser.add_argument("--tasks", type=int, default=100, help="tasks of each domain and level")
    parser.add_argument("--seed", type=int, default=602131)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    print("| agent | world | domain | level | success, score, steps |\n|---|---|---|---|---|")
    for agent in asked.agents:
        for world in asked.worlds:
            for level in asked.levels:
                setup = Setup(
                    agent=agent,
                    options={},
                    world=world,
                    world_options={},
                    domains=tuple(asked.domains),
                    levels=(level,),
                    families=(),
                    split="test",
                    seed=asked.seed,
                    drawn=False,
                )
                name = f"{Path(agent).stem}-{world.replace('/', '-')}-{level}"
                result = evaluate_agent(setup, asked.tasks, asked.out / f"{name}.episodes.jsonl")
                result.write(asked.out / f"{name}.json")
                for domain, cell in {**result.domains, "all": result.whole}.items():
                    print(f"| `{agent}` | {world} | {domain} | {level} | {shown(cell)} |", flush=True)


if __name__ == "__main__":
    main()
