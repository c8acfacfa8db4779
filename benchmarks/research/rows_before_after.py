"""What the prompts of two checkouts cost: their length at turn 10, and the share that a prefix cache holds.

    python benchmarks/research/rows_before_after.py BEFORE AFTER [--sessions 20] [--domain mcp] [--turn 10]
        [--tokenizer DIR]

Each tree records sessions of its grounded worlds with `agentworld collect`, of the same tasks and by the same draws, in
full prompts; the first ones of each domain that have as many turns count. A request is the messages of a turn in the
markup of Qwen's chat template. What an engine has cached when it gets the request of a turn is what that begins with in
common with the request of the turn before. Both are counted in tokens of the folder `--tokenizer`, and without one in
characters: the vocabulary of a small model would know one layout better than the other.

The exit status is 1 where a domain of the second tree has a mean share below 0.92.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from statistics import mean
from typing import Any

DOMAINS = ("mcp", "search", "terminal", "swe", "web", "desktop", "android")
LEAST = 0.92
SEED = 16
PLAYED = (60, 150, 400, 1000)
"""How many sessions are recorded until enough of them have as many turns."""


def requests(tree: Path, domain: str, sessions: int, turn: int, folder: Path) -> list[tuple[str, str]]:
    """The requests of a turn and of the one before, of the first sessions of a domain that have as many turns, as a
    checkout records them.

    Raises:
        SystemExit: Recording failed.
    """
    file = folder / f"{domain}.jsonl"
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "agentworld_gym", "collect", domain, "--out", str(file), "--no-card"]
    command += ["--seed", str(SEED), "--split", "validation", "--profile", "full", "--episodes"]
    found: list[tuple[str, str]] = []
    for count in PLAYED:
        done = subprocess.run(
            [*command, str(count)], cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise SystemExit(f"{tree}, {domain}: {done.stderr[-3000:]}")
        found = list(_pairs(file, turn))
        if len(found) >= sessions:
            break
    return found[:sessions]


def _pairs(file: Path, turn: int) -> Iterator[tuple[str, str]]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row["turn_idx"] >= turn:
                yield _request(row, turn - 1), _request(row, turn)


def _request(row: dict[str, Any], turn: int) -> str:
    """The text of the request of one turn of a session."""
    closing = row["prompt"][-1].removeprefix(row["current_prompt"])
    users = [*row["prompt"][:-1], row["current_prompt"]]
    parts = [("system", row["system_str"])]
    for user, assistant in zip(users[: turn - 1], row["response"], strict=False):
        parts += [("user", user), ("assistant", assistant)]
    parts.append(("user", users[turn - 1] + closing))
    return "".join(f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in parts) + "<|im_start|>assistant\n"


def measured(pairs: list[tuple[str, str]], tokenizer: Any) -> tuple[int, float, float]:
    """The number of sessions, the mean length of a request of the later turn, and the mean share that is cached."""
    counts, shares = [], []
    for earlier, later in pairs:
        before, now = (
            text if tokenizer is None else tokenizer.encode(text, add_special_tokens=False).ids
            for text in (earlier, later)
        )
        same = sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(before, now, strict=False)))
        counts.append(len(now))
        shares.append(same / len(now))
    return len(pairs), mean(counts or [0]), mean(shares or [0.0])


def main() -> int:
    """Print the table, and tell whether every share is large enough."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, help="a checkout")
    parser.add_argument("after", type=Path, help="another checkout")
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--domain", action="append", choices=DOMAINS, help="only this domain")
    parser.add_argument("--turn", type=int, default=10)
    parser.add_argument("--tokenizer", type=Path, help="a folder with a tokenizer.json")
    options = parser.parse_args()
    tokenizer, unit = None, "characters"
    if options.tokenizer:
        from tokenizers import Tokenizer

        tokenizer, unit = Tokenizer.from_file(str(options.tokenizer / "tokenizer.json")), "tokens"
    trees = [options.before.resolve(), options.after.resolve()]
    print(f"| domain | sessions | {unit} before | {unit} after | after/before | cached before | cached after |")
    print("|---|---|---|---|---|---|---|", flush=True)
    enough = True
    with tempfile.TemporaryDirectory() as scratch:
        folders = [Path(scratch) / name for name in ("before", "after")]
        for folder in folders:
            folder.mkdir()
        for domain in options.domain or DOMAINS:
            (played, old, held), (again, new, holds) = (
                measured(requests(tree, domain, options.sessions, options.turn, folder), tokenizer)
                for tree, folder in zip(trees, folders, strict=True)
            )
            enough = enough and holds >= LEAST
            number = str(played) if played == again else f"{played}, {again}"
            ratio = f"{new / old:.2f}" if old else "–"
            print(f"| {domain} | {number} | {old:,.0f} | {new:,.0f} | {ratio} | {held:.3f} | {holds:.3f} |", flush=True)
    return int(not enough)


if __name__ == "__main__":
    sys.exit(main())
