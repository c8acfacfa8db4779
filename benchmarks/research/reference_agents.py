"""The table of reference agents, by domain and level: what anybody's figure of `agentworld eval agent` is read against.

    agentworld eval agent --agent expert --tasks 100 --seed 602131 --out runs/expert.json  # levels 1 to 3
    agentworld eval agent --agent expert --tasks 15 --level 4 --seed 602131 --out runs/expert-4.json
    agentworld eval agent --agent menu --tasks 30 --seed 602131 --world tiny --out runs/menu-tiny.json
    python benchmarks/research/ppo.py --seeds 0 --no-twin --save runs/ppo  # the PPO of the demo
    agentworld eval agent --agent runs/ppo/ppo-0.zip --tasks 100 --seed 602131 --out runs/ppo.json
    python benchmarks/research/reference_agents.py runs/expert.json runs/expert-4.json runs/menu-tiny.json runs/ppo.json

Results of one agent in one world share a column.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from agentworld_gym.evaluation.results.agent import AgentCell, AgentResult

Column = tuple[str, str]
"""An agent and a world."""


def shown(cell: AgentCell | None) -> str:
    """A cell of the table: success with its 95 % interval, the mean score where it is another, and the mean steps."""
    if cell is None or cell.success is None or cell.score is None:
        return "–"
    share = cell.success
    score = f", {cell.score:.2f}" if abs(cell.score - share.share) >= 0.005 else ""
    lost = f", {cell.unscored} not scored" if cell.unscored else ""
    return f"{share.share:.2f} ({share.low:.2f} to {share.high:.2f}){score}, {cell.steps:.1f} steps{lost}"


def columns_of(results: list[AgentResult]) -> dict[Column, dict[tuple[str, int], AgentCell]]:
    """Return the cells of some results by column, domain and level."""
    columns: dict[Column, dict[tuple[str, int], AgentCell]] = {}
    for result in results:
        for domain, of_domain in result.domains.items():
            column = columns.setdefault((Path(result.agent).stem, of_domain.world), {})
            column |= {(domain, int(level)): cell for level, cell in of_domain.levels.items()}
    return columns


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path, nargs="+", help="results of `agentworld eval agent`")
    columns = columns_of([AgentResult.read(path) for path in parser.parse_args().results])
    places = dict.fromkeys(place for cells in columns.values() for place in cells)
    order = list(dict.fromkeys(domain for domain, _ in places))
    print(f"| domain | level | {' | '.join(f'`{agent}`, {world}' for agent, world in columns)} |")
    print("|---" * (2 + len(columns)) + "|")
    for domain, level in sorted(places, key=lambda place: (order.index(place[0]), place[1])):
        cells = " | ".join(shown(cells.get((domain, level))) for cells in columns.values())
        print(f"| {domain} | {level} | {cells} |")


if __name__ == "__main__":
    main()
