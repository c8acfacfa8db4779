"""Episodes in worlds of AWM, recorded by a process that is killed on the way: nothing may be lost or doubled.

    AGENTWORLD_AWM_PYTHON=awm/bin/python python benchmarks/research/awm_kills.py [--worlds awm:DIR] [--episodes N]
        [--kills N]

Each time, `agentworld collect` is killed (SIGKILL) after a share of its episodes, and started again. At the end the
file must hold all episodes, each number once and in order, and some of them are played again here and compared.
`--worlds` takes a folder of AWM's own worlds; otherwise all worlds of the tests are played.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "helpers"))
sys.path.append(str(ROOT / "benchmarks" / "speed"))

import awm_factory  # noqa: E402
import awm_styles  # noqa: E402
import awm_worlds  # noqa: E402
from awm import family_of  # noqa: E402

from agentworld_gym.agents.collect.config import CollectConfig  # noqa: E402
from agentworld_gym.agents.collect.recorder import Recorder  # noqa: E402
from agentworld_gym.core.domain.spec import load_spec  # noqa: E402

COMPARED = 20
"""How many episodes are played again."""

LOOK = 0.5


def all_worlds(folder: Path) -> Path:
    """Write all worlds of the tests that can be played."""
    worlds = (awm_worlds.library(), awm_worlds.harbor(), awm_factory.factory(), awm_factory.kept_session())
    return awm_worlds.write(folder, *worlds, awm_styles.clinic(), awm_styles.diary())


def lines_of(file: Path) -> int:
    """Return how many whole lines a file has."""
    return file.read_bytes().count(b"\n") if file.exists() else 0


def living(pids: Iterable[int]) -> list[int]:
    """Return those of some processes that have not ended."""
    found = []
    for pid in pids:
        with suppress(OSError):
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            found += [pid] if state != "Z" else []
    return found


def play(worlds: Path, out: Path, episodes: int, until: int | None) -> list[int]:
    """Record episodes until a file has so many lines, and kill the recording then; None lets it end.

    Returns:
        The processes of its sandboxes, as they were when it was killed.

    Raises:
        SystemExit: The recording failed.
    """
    command = [sys.executable, "-m", "agentworld_gym", "collect", "mcp", "--world", f"awm:{worlds}", "--out", str(out)]
    process = subprocess.Popen([*command, "-n", str(episodes)], stdout=subprocess.DEVNULL)
    while process.poll() is None:
        if until is not None and lines_of(out) >= until:
            _, *below = family_of(process.pid)
            process.kill()
            process.wait()
            return below
        time.sleep(LOOK)
    if process.returncode:
        raise SystemExit(f"the recording ended with exit code {process.returncode}")
    return []


def main() -> None:
    """Run the benchmark."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--worlds", help="a folder of AWM's worlds, as awm:DIR")
    options.add_argument("--episodes", type=int, default=1000)
    options.add_argument("--kills", type=int, default=10)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as made:
        out = Path(made) / "rows.jsonl"
        worlds = Path(chosen.worlds.removeprefix("awm:")) if chosen.worlds else all_worlds(Path(made) / "worlds")
        sandboxed: list[int] = []
        began = time.perf_counter()
        for kill in range(1, chosen.kills + 1):
            sandboxed += play(worlds, out, chosen.episodes, chosen.episodes * kill // (chosen.kills + 1))
            print(f"killed with {lines_of(out)} episodes in the file", flush=True)
        play(worlds, out, chosen.episodes, None)
        seconds = time.perf_counter() - began
        rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
        numbers = [row["number"] for row in rows]
        whole = len(rows) == chosen.episodes and numbers == sorted(set(numbers))
        recorder = Recorder([load_spec("mcp")], CollectConfig(world=f"awm:{worlds}"), 0)
        sample = random.Random(0).sample(rows, min(COMPARED, len(rows)))
        again = [recorder.row(row["number"]) for row in sample]
        equal = sum(
            one is not None and json.loads(one.model_dump_json()) == row for one, row in zip(again, sample, strict=True)
        )
        families = sorted({row["family"] for row in rows})
        print(f"{len(rows)} episodes of {len(families)} worlds in {seconds:.0f} s, {chosen.kills} kills")
        print(f"each number once, and none lost: {'yes' if whole else 'NO'}")
        left = living(sandboxed)
        print(f"played again and equal: {equal} of {len(sample)}")
        print(f"processes of sandboxes when it was killed: {len(sandboxed)}, left behind: {len(left)}")
        successes, unknown = ([row["success"] for row in rows].count(value) for value in (True, None))
        print(f"successes: {successes}, unknown: {unknown}")
        if not whole or equal < len(sample) or left:
            raise SystemExit(1)


if __name__ == "__main__":
    main()
