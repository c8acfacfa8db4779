"""A planned run beside the actual one, against a server whose latencies are known.

    python benchmarks/speed/cost_plan.py [--episodes 200] [--width 32] [--latency 0.5] [--sigma 0.7] [--measure 256]

`agentworld cost plan` measures the server with a few steps and plans a run; `agentworld rollout` then plays that run on
other tasks, and `agentworld cost run` compares. The exit status tells whether steps, tokens and time agree within a
tenth.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import stub

from agentworld_gym.evaluation.cost import Cost, total_of

ANSWER = "<predicted_observation>\nuser@host:~$ ls\nnotes.txt  report.txt\nuser@host:~$ \n</predicted_observation>"
TOLERANCE = 0.1


def agentworld(*arguments: str) -> None:
    """Run a command and show what it prints."""
    subprocess.run([sys.executable, "-m", "agentworld_gym", *arguments], check=True)


def main() -> int:
    """Plan, play, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--width", type=int, default=32)
    parser.add_argument("--latency", type=float, default=0.5, help="the median, in seconds")
    parser.add_argument("--sigma", type=float, default=0.7, help="of the logarithm of a latency")
    parser.add_argument("--measure", type=int, default=256)
    given = parser.parse_args()
    episodes, width = str(given.episodes), str(given.width)
    with TemporaryDirectory() as folder, stub.server(given.latency, ANSWER, given.sigma) as base:
        plan, runs = str(Path(folder) / "plan.json"), str(Path(folder) / "runs")
        common = ("terminal", "--world", f"{base}/v1", "-n", episodes, "--width", width)
        agentworld("cost", "plan", *common, "--measure", str(given.measure), "--seed", "100000", "--out", plan)
        agentworld("rollout", *common, "--out", runs)
        agentworld("cost", "run", runs, "--plan", plan)
        planned = Cost.model_validate(json.loads(Path(plan).read_text(encoding="utf-8")))
        actual = total_of(Path(runs))
    pairs = [
        (planned.steps, actual.steps),
        (planned.world.prompt, actual.world.prompt),
        (planned.world.completion, actual.world.completion),
        (planned.seconds or 0.0, actual.seconds or 0.0),
    ]
    return int(any(abs(spent - asked) > TOLERANCE * spent for asked, spent in pairs))


if __name__ == "__main__":
    sys.exit(main())
