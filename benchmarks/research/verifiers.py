"""Whether the rule verifiers can be trusted: the truth should pass, and seeded mistakes should not.

    python benchmarks/research/verifiers.py [--domains NAME ...] [--sessions 14]

Records sessions of each domain, 40 % of them disturbed by controls, and gives the verifiers the recorded observation of
each turn and corrupted copies of it (`corruptions.py`). The exit status tells whether
the truth passed everywhere and 95 % of the mistakes were noticed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator

from corruptions import corruptions

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recorder import Recorder
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.domains import DOMAINS
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.recipe.rl.verifiers import Truth, verify

MISTAKES = ("digit", "line", "names", "state", "metadata", "pre-existing")
NOTICED = 0.95


def turns(domain: str, sessions: int) -> Iterator[Row]:
    """The turns of some sessions on validation tasks."""
    recorder = Recorder([load_spec(domain)], CollectConfig(controls_share=0.4), seed=0, split="validation")
    for number in range(sessions):
        row = recorder.row(number)
        if row is not None:
            yield from row.turns()


def measure(domain: str, sessions: int) -> bool:
    """Print the row of a domain; whether its verifier can be trusted."""
    counts: Counter[str] = Counter()
    seconds = 0.0
    for row in turns(domain, sessions):
        truth = Truth.of(row)
        tried = [("truth", row.observations[-1]), *(corruptions(truth, seed=0) if truth is not None else ())]
        for name, text in tried:
            begun = time.perf_counter()
            verdict = verify(row, text)
            seconds += time.perf_counter() - begun
            counts["calls"] += 1
            if verdict.skipped:
                counts[f"{name} skipped"] += 1
                continue
            counts[name] += 1
            counts[f"{name} passed"] += verdict.passed
    noticed = [f"{counts[name] - counts[f'{name} passed']}/{counts[name]}" for name in MISTAKES]
    truth_passed = f"{counts['truth passed']}/{counts['truth']}"
    each = f"{1e3 * seconds / counts['calls']:.2f}"
    print("|", " | ".join([domain, truth_passed, str(counts["truth skipped"]), *noticed, each]), "|", flush=True)
    wrong, passed = (sum(counts[name + more] for name in MISTAKES) for more in ("", " passed"))
    return counts["truth passed"] == counts["truth"] > 0 and passed <= (1 - NOTICED) * wrong


def main() -> int:
    """Print the table; 0 if all verifiers can be trusted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--domains", nargs="+", default=DOMAINS, choices=DOMAINS)
    parser.add_argument("--sessions", type=int, default=14)
    options = parser.parse_args()
    print("| domain | truth passes | skipped |", " | ".join(MISTAKES), "| ms |")
    print("| --- " * (4 + len(MISTAKES)) + "|")
    return 0 if all([measure(domain, options.sessions) for domain in options.domains]) else 1


if __name__ == "__main__":
    sys.exit(main())
