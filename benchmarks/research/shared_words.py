"""Count which words and texts of test tasks stand in training tasks too.

    python benchmarks/research/shared_words.py terminal web --tasks 160

A word is a run of three letters or more in the instruction or in the texts of the initial state, so that the words of
the instructions count too. A text is a whole string of the initial state, such as a name, a path or the content of a
file. Three times as many training tasks as test tasks are drawn, over all families and levels.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from typing import Any

from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.domain.task import Split, Task
from agentworld_gym.core.tasks.source import TaskSource

DOMAINS = ("mcp", "search", "terminal", "swe", "web", "desktop", "android")
WORD = re.compile(r"[^\W\d_]{3,}")


def texts(data: Any) -> Iterator[str]:
    """Yield all strings of plain data, its keys included."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield str(key)
            yield from texts(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from texts(value)


def tasks(domain: str, split: Split, count: int) -> list[Task]:
    """Return the first tasks of a split."""
    source = TaskSource(load_spec(domain), split=split, levels=(1, 2, 3))
    return [source.pick(seed, {}) for seed in range(count)]


def words_and_texts(drawn: Sequence[Task]) -> tuple[set[str], set[str]]:
    """Return the words and the texts of some tasks."""
    strings = {text for task in drawn for text in texts(task.state)}
    return {word for text in (*strings, *(task.instruction for task in drawn)) for word in WORD.findall(text)}, strings


def main() -> None:
    """Print a row for each domain."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("domains", nargs="*", default=DOMAINS)
    parser.add_argument("--tasks", type=int, default=160, help="test tasks of each domain")
    options = parser.parse_args()
    print("| domain | words in training tasks too | texts in training tasks too |\n|---|---|---|")
    for domain in options.domains:
        known = words_and_texts(tasks(domain, "train", 3 * options.tasks))
        met = words_and_texts(tasks(domain, "test", options.tasks))
        shares = (f"{len(new & old) / len(new):.2f} of {len(new):,}" for new, old in zip(met, known, strict=True))
        print(f"| {domain} | {' | '.join(shares)} |", flush=True)


if __name__ == "__main__":
    main()
