"""The speeds of two trees: short slices in turn, so that what slows the machine down slows both."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

WITHIN = 0.03
"""How far a ratio may be from 1."""
DRAWS = 2000
IMPORTS = ("import gymnasium", "import agentworld_gym")
IMPORT = "import time; began = time.process_time(); {}; print(time.process_time() - began)"

Pairs = list[list[tuple[float, float]]]
"""The seconds of both trees, pair by pair, by round; a round has processes of its own."""


class Pacer:
    """A process under one tree that does slices of work."""

    def __init__(self, environment: Mapping[str, str], folder: Path, core: int, least: float) -> None:
        command = [sys.executable, "-m", "trees.pace", str(core), str(least)]
        self._process = subprocess.Popen(
            command,
            env=environment,
            cwd=folder,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.names: list[str] = self._read()

    def slice(self, name: str) -> float:
        """The seconds of one slice."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{name}\n")
        self._process.stdin.flush()
        return float(self._read())

    def _read(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"the process that measures speeds ended with {self._process.wait()}")
        return json.loads(line)

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def measured(
    environments: Sequence[Mapping[str, str]], folder: Path, core: int, quick: bool = False
) -> dict[str, Pairs]:
    """The seconds of every work under both trees.

    Args:
        environments: the environment variables of both trees' processes, the earlier tree's first.
        folder: an empty folder to run in.
        core: the core of the processor to run on.
        quick: whether few slices will do.
    """
    rounds, pairs, least = (1, 5, 0.05) if quick else (4, 10, 0.12)
    found: dict[str, Pairs] = {}
    for work in IMPORTS:
        found[work] = [_imports(environments, folder, core, work, 5 if quick else 15)]
    for _ in range(rounds):
        pacers = [Pacer(environment, folder, core, least) for environment in environments]
        for name in pacers[0].names:
            found.setdefault(name, []).append(_alternating(pacers, name, pairs))
        for pacer in pacers:
            pacer.close()
    return found


def _alternating(pacers: Sequence[Pacer], name: str, pairs: int) -> list[tuple[float, float]]:
    """Pairs of slices: before and after, then after and before, and so on."""
    for pacer in pacers:
        pacer.slice(name)
    found = []
    for number in range(pairs):
        order = pacers if number % 2 == 0 else pacers[::-1]
        spent = {id(pacer): pacer.slice(name) for pacer in order}
        found.append((spent[id(pacers[0])], spent[id(pacers[1])]))
    return found


def _imports(
    environments: Sequence[Mapping[str, str]], folder: Path, core: int, work: str, pairs: int
) -> list[tuple[float, float]]:
    """The seconds of an import in a fresh process, pair by pair; the first pair, which compiles, does not count."""
    found = []
    for number in range(pairs + 1):
        order = (0, 1) if number % 2 == 0 else (1, 0)
        spent = {place: _import(environments[place], folder, core, work) for place in order}
        found.append((spent[0], spent[1]))
    return found[1:]


def _import(environment: Mapping[str, str], folder: Path, core: int, work: str) -> float:
    code = IMPORT.format(work)
    if sys.platform == "linux":
        code = f"import os; os.sched_setaffinity(0, {{{core}}}); {code}"
    ended = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=folder, text=True, check=True, stdout=subprocess.PIPE
    )
    return float(ended.stdout)


def ratio(pairs: Pairs) -> tuple[float, float, float]:
    """The median ratio of the later tree to the earlier one, and its 95 % interval.

    The interval is a bootstrap over rounds and over the pairs in each.

    >>> ratio([[(1.0, 2.0), (2.0, 4.0)]])
    (2.0, 2.0, 2.0)
    """
    logs = [[math.log(after / before) for before, after in one] for one in pairs]
    rng = random.Random(0)
    draws = sorted(
        median([value for one in rng.choices(logs, k=len(logs)) for value in rng.choices(one, k=len(one))])
        for _ in range(DRAWS)
    )
    middle = median([value for one in logs for value in one])
    low, high = draws[round(0.025 * (DRAWS - 1))], draws[round(0.975 * (DRAWS - 1))]
    return math.exp(middle), math.exp(low), math.exp(high)


def verdict(low: float, high: float) -> str:
    """What an interval of the ratio says of the bound of 3 %.

    >>> verdict(0.99, 1.02), verdict(0.5, 0.6), verdict(1.1, 1.2), verdict(1.0, 1.1)
    ('within 3 %', 'faster', 'SLOWER', 'not settled')
    """
    if low >= 1 - WITHIN and high <= 1 + WITHIN:
        return "within 3 %"
    if high < 1 - WITHIN:
        return "faster"
    return "SLOWER" if low > 1 + WITHIN else "not settled"


def report(speeds: Mapping[str, Pairs], seconds: float) -> str:
    """The speeds as Markdown: seconds are medians of one slice, so only their ratios mean something."""
    lines = ["", "## Speed", "", "| work | before, ms | after, ms | after / before | 95 % interval | |"]
    lines.append("|---|---|---|---|---|---|")
    middles: dict[str, tuple[float, float]] = {}
    for name, pairs in speeds.items():
        flat = [pair for one in pairs for pair in one]
        before, after = (1000 * median([pair[place] for pair in flat]) for place in (0, 1))
        middles[name] = before, after
        value, low, high = ratio(pairs)
        interval = f"{low:.3f} to {high:.3f}"
        lines.append(f"| {name} | {before:.2f} | {after:.2f} | {value:.3f} | {interval} | {verdict(low, high)} |")
    floor, ours = (middles[name] for name in IMPORTS)
    times = " and ".join(f"{mine / theirs:.2f}" for mine, theirs in zip(ours, floor, strict=True))
    lines += ["", f"`import agentworld_gym` takes {times} times `import gymnasium` (before and after)."]
    lines += [
        "",
        f"Medians of {sum(map(len, speeds['wave of 64']))} pairs of slices, processor time ({seconds:.0f} s).",
    ]
    return "\n".join(lines)
