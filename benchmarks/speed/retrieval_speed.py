"""What an index of recorded steps costs to write and to ask, in seconds of one core, and the memory it takes.

    python benchmarks/speed/retrieval_speed.py --steps 200000

Sessions of the grounded terminal are recorded, then written again and again with other words for their names, as other
tasks have them.
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
import resource
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import numpy as np

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.llm.retrieval.build import build_index
from agentworld_gym.llm.retrieval.index import StepIndex
from agentworld_gym.llm.retrieval.steps import origin_of_row, steps_of
from agentworld_gym.llm.rows.row import Row

RECORDED = 100
NAME = re.compile(r"\b[a-z]{5,}\b")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=100_000, help="about so many steps are recorded")
    parser.add_argument("--asked", type=int, default=300, help="questions")
    arguments = parser.parse_args()
    recorder = Recorder([load_spec("terminal")], CollectConfig(profile="compact"), seed=0)
    own = [row for number in range(RECORDED) if (row := recorder.row(number)) is not None]
    with tempfile.TemporaryDirectory() as folder:
        begun = time.process_time()
        built = build_index(renamed(own, arguments.steps), Path(folder) / "index", split=None)
        seconds = time.process_time() - begun
        size = sum(path.stat().st_size for path in built.folder.rglob("*") if path.is_file())
        print(f"{built.steps:,} steps, {built.sessions:,} sessions, {size / 1e6:.0f} MB: {seconds:.1f} s to write")
        print(f"memory of the whole process, writing included: {memory():.0f} MB at most")
        index, times = StepIndex(built.folder), []
        asked = [(row, action, state) for row in own for action, state, _ in steps_of(row)]
        for row, action, state in random.Random(0).choices(asked, k=arguments.asked):
            origin = origin_of_row(row)
            begun = time.process_time()
            index.search("terminal", action, state, 3, origin)
            times.append(1000 * (time.process_time() - begun))
        median, slow = np.quantile(times[10:], [0.5, 0.99])
        print(f"the three nearest: {median:.1f} ms in the median, {slow:.1f} ms at 99 %")


def renamed(rows: list[Row], steps: int) -> Iterator[Row]:
    """The sessions again and again, each time with other names."""
    written = 0
    for turn in itertools.count():
        for row in rows:
            if written >= steps:
                return
            written += len(row.actions)
            yield another(row, turn)


def another(row: Row, turn: int) -> Row:
    """The same session with other names, under another id."""

    def change(text: str) -> str:
        return NAME.sub(lambda found: f"{found[0]}{crc32(f'{found[0]} {turn}'.encode()) % 97 or ''}", text)

    actions, shown = tuple(map(change, row.actions)), tuple(map(change, row.observations))
    return row.model_copy(update={"id": f"{row.id}-{turn}", "actions": actions, "observations": shown})


def memory() -> float:
    """Megabytes of this process at its fullest."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
