"""What helps a small world model: arms trained from scratch in equal time on equal sessions, as one table.

    python benchmarks/ablations.py --domains terminal android --minutes 10 --out runs/ablations.json
    python benchmarks/ablations.py --smoke --out /tmp/ablations.json        # seconds, to see that it runs

Writes a JSON file and the same as Markdown. Runs lie in a folder of the same name beside them; one that was stopped
goes on with the arm it was at. A GPU is used where there is one.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from agentworld_gym.recipe.ablations.arms import ARMS
from agentworld_gym.recipe.ablations.study import AblationStudy, smoke
from agentworld_gym.recipe.ablations.table import AblationConfig, markdown
from agentworld_gym.recipe.config_files import load_config
from agentworld_gym.recipe.training.stage_config import CptConfig


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domains", nargs="+", default=["terminal", "android"], help="with grounded worlds")
    parser.add_argument("--arms", nargs="+", choices=sorted(ARMS), default=[], help="only these; default: all")
    parser.add_argument("--minutes", type=float, default=10, help="of training, for each arm")
    parser.add_argument("--episodes", type=int, default=3000, help="sessions to learn from")
    parser.add_argument("--unseen", type=int, default=200, help="sessions to test on")
    parser.add_argument("--decoded", type=int, default=400, help="turns that the thinking arm is tested on")
    parser.add_argument("--config", default="search", help="the run that the arms vary: a shipped one, or a YAML file")
    parser.add_argument("--out", type=Path, default=Path("runs/ablations.json"), help="where the figures go")
    parser.add_argument("--smoke", action="store_true", help="run through all arms in seconds")
    arguments = parser.parse_args()
    recipe = load_config(arguments.config, CptConfig)
    settings = (
        smoke(recipe, tuple(arguments.domains))
        if arguments.smoke
        else AblationConfig(
            domains=tuple(arguments.domains),
            arms=tuple(arguments.arms),
            minutes=arguments.minutes,
            episodes=arguments.episodes,
            unseen=arguments.unseen,
            decoded=arguments.decoded,
            recipe=recipe,
        )
    )
    begun = time.monotonic()

    def say(text: str) -> None:
        sys.stderr.write(f"{time.monotonic() - begun:7.0f} s  {text}\n")

    out: Path = arguments.out
    table = AblationStudy(settings, out.with_suffix(""), say).run()
    out.write_text(table.model_dump_json(indent=2) + "\n", encoding="utf-8")
    found = markdown(table)
    out.with_suffix(".md").write_text(found, encoding="utf-8")
    print(found)


if __name__ == "__main__":
    main()
