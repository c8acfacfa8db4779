"""Recording mixed episodes of the grounded worlds, killed again and again on the way.

    python benchmarks/speed/collect.py                              # 1,000 episodes, two workers, ten kills
    python benchmarks/speed/collect.py --episodes 100 --kills 2     # a sample

Records a folder without a stop, then another one whose processes are killed (SIGKILL of the whole group) at points
spread over the recording and started again. Both must hold the same bytes, with every session in it once. Prints the
times as a Markdown table; the exit status tells whether all of it holds within the time.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from agentworld_gym.core.engines.catalog import engine_names
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.rows.row_reading import read_rows

TARGET_SECONDS = 900


def command(arguments: argparse.Namespace, folder: Path) -> list[str]:
    """The command line that records."""
    options = ["--out", str(folder), "-n", str(arguments.episodes), "--workers", str(arguments.workers)]
    options += ["--controls-share", "0.3", "--seed", str(arguments.seed), "--no-card"]
    return [sys.executable, "-m", "agentworld_gym", "collect", *arguments.domains, *options]


def lines(path: Path) -> int:
    """How many whole lines a file has."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


def killed(arguments: argparse.Namespace, folder: Path) -> tuple[float, list[int]]:
    """Record with kills; the seconds it took with all restarts, and how many sessions there were at each kill."""
    path, rng = folder / "train.jsonl", random.Random(arguments.seed)
    points = sorted(rng.sample(range(1, max(arguments.episodes - 20, arguments.kills + 1)), arguments.kills))
    began, kills = time.monotonic(), []
    while True:
        process = subprocess.Popen(command(arguments, folder), stdout=subprocess.DEVNULL, start_new_session=True)
        try:
            while points and process.poll() is None and lines(path) < points[0]:
                time.sleep(0.02)
            if points and process.poll() is None:
                time.sleep(rng.random() * 0.2)  # in the middle of whatever it does
                os.killpg(process.pid, signal.SIGKILL)
                kills.append(lines(path))
                points = [point for point in points if point > kills[-1]]
                points = points or ([kills[-1] + 1] if len(kills) < arguments.kills else [])
            elif process.wait():
                raise SystemExit(f"recording failed with status {process.returncode}")
            if process.wait() == 0:
                return time.monotonic() - began, kills
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def problems(rows: list[Row], episodes: int) -> list[str]:
    """What is lost or doubled."""
    found = []
    numbers = [row.number for row in rows]
    for name, values in (("id", [row.id for row in rows]), ("content", [row.digest() for row in rows])):
        found += [f"{name} {value}: {count} times" for value, count in Counter(values).items() if count > 1]
    if len(rows) != episodes:
        found.append(f"{len(rows)} sessions, {episodes} wanted")
    if numbers != sorted(number for number in numbers if number is not None):
        found.append("the sessions are out of order")
    return found


def main() -> int:
    """Run the benchmark; 1 if something is lost, doubled or too slow."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domains", nargs="+", default=engine_names())
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        whole, parts = Path(name, "whole"), Path(name, "parts")
        began = time.monotonic()
        subprocess.run(command(arguments, whole), check=True, stdout=subprocess.DEVNULL)
        seconds = time.monotonic() - began
        restarted, kills = killed(arguments, parts)
        rows = list(read_rows(whole / "train.jsonl"))
        size = (whole / "train.jsonl").stat().st_size
        same = (whole / "train.jsonl").read_bytes() == (parts / "train.jsonl").read_bytes()
    wrong = problems(rows, arguments.episodes)
    if not same:
        wrong.append("the recording that was killed differs from the one that was not")
    if max(seconds, restarted) > TARGET_SECONDS:
        wrong.append(f"more than {TARGET_SECONDS} s")
    print("| what | figure |\n|---|---|")
    counts = ", ".join(f"{count} {domain}" for domain, count in sorted(Counter(row.task for row in rows).items()))
    print(f"| sessions | {len(rows):,} ({counts}), {sum(row.turn_idx for row in rows):,} turns, {size / 1e6:.1f} MB |")
    print(f"| without a stop, {arguments.workers} workers | {seconds:.1f} s |")
    print(
        f"| killed {len(kills)} times (at {', '.join(map(str, kills))} sessions), with restarts | {restarted:.1f} s |"
    )
    print(
        f"| numbers left out, because a session repeats one or has no turn | {(rows[-1].number or 0) + 1 - len(rows)} |"
    )
    print(f"\nNothing lost, nothing doubled, same bytes: {'; '.join(wrong) or 'yes'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
