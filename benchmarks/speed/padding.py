"""What turns weigh, what the length of samples costs, and how much padding batches hold, in all seven domains.

Records sessions as the bundled models read them (or reads some), makes samples, and trains a tokenizer on them.

    python benchmarks/speed/padding.py --episodes 210
    python benchmarks/speed/padding.py --rows data/train.jsonl
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from agentworld_gym.agents.collect.recording_file import collect
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.domains import DOMAINS
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.rows.row_reading import read_rows
from agentworld_gym.llm.rows.turn_weights import CLASSES, Weighting, classify, turn_weights
from agentworld_gym.recipe.config_files import load_config
from agentworld_gym.recipe.data.preparation import Preparation, prepare
from agentworld_gym.recipe.data.small_tokenizer import build_tokenizer, wrap
from agentworld_gym.recipe.data.token_store import TokenStore, build_store
from agentworld_gym.recipe.training.batches import Batches

BUDGETS = (8192, 16384, 32768)
LENGTHS = (2048, 3072, 4096, 8192)
SHORT = 512


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=Path, help="recorded sessions; else they are recorded here")
    parser.add_argument("--episodes", type=int, default=210)
    parser.add_argument("--max-tokens", type=int, default=4096)
    parser.add_argument("--vocabulary", type=int, default=4096)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = options.rows or Path(folder) / "rows.jsonl"
        if options.rows is None:
            collect(
                [load_spec(domain) for domain in DOMAINS], rows, options.episodes, 0, load_config("mcp-state").collect
            )
        classes(read_rows(rows))
        start = time.perf_counter()
        samples = list(prepare(read_rows(rows), Preparation(pool=None, profile="compact", form="change"))[0])
        texts = (message["content"] for sample in samples for message in sample.messages)
        tokenizer = wrap(build_tokenizer(texts, options.vocabulary), options.max_tokens)
        turns: defaultdict[str, list[int]] = defaultdict(list)
        store = build_store(
            samples,
            tokenizer,
            Path(folder) / "store",
            options.max_tokens,
            lambda item: turns[item.sample.domain].extend(item.turns),
        )
        print(f"\n{len(samples)} samples in {time.perf_counter() - start:.0f} s: {store.meta}\n")
        lost(turns)
        print()
        padding(store, options.max_tokens)


def lost(turns: Mapping[str, Sequence[int]]) -> None:
    """Print the share of turns that end behind the most tokens that a sample may have."""
    print("| domain | " + " | ".join(f"{most:,}" for most in LENGTHS) + " |")
    print("| --- " * (len(LENGTHS) + 1) + "|")
    for domain, ends in [*sorted(turns.items()), ("all", list(chain.from_iterable(turns.values())))]:
        shares = (sum(end > most for end in ends) / len(ends) for most in LENGTHS)
        print(f"| {domain} | " + " | ".join(f"{share:.1%}" if share else "–" for share in shares) + " |")


def padding(store: TokenStore, longest: int) -> None:
    """Print the share of padding in an epoch of batches."""
    print("| tokens a batch | " + " | ".join(("sorted", "packed", "sorted, 2 processes", "in file order")) + " |")
    print("| --- " * 5 + "|")
    for tokens in BUDGETS:
        cells = [epoch(store, tokens, longest, "sorted"), epoch(store, tokens, longest, "packed")]
        cells += [epoch(store, tokens // 2, longest, "sorted", processes=2), plain(store, tokens)]
        print(f"| {tokens:,} | " + " | ".join(f"{cell:.1%}" for cell in cells) + " |")


def epoch(store: TokenStore, tokens: int, longest: int, packing: Literal["sorted", "packed"], **more: Any) -> float:
    """The share of padding in one epoch."""
    batches = Batches(store, seed=0, tokens=tokens, longest=longest, short=SHORT, packing=packing, pad=0, **more)
    while batches.state()["epoch"] < 1:
        batches.next()
    return batches.padded


def plain(store: TokenStore, tokens: int) -> float:
    """The share of padding where samples come as they stand in the file, as many as fit the budget."""
    cells = filled = 0
    batch: list[int] = []
    for length in store.lengths.tolist():
        if batch and max(*batch, length) * (len(batch) + 1) > tokens:
            cells, filled, batch = cells + max(batch) * len(batch), filled + sum(batch), []
        batch.append(length)
    cells, filled = cells + max(batch) * len(batch), filled + sum(batch)
    return 1 - filled / cells


def classes(rows: Iterable[Row]) -> None:
    """Print the share of turns of each class by domain, and what share of turns and characters is kept."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    kept: defaultdict[tuple[str, str], defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for row in rows:
        counts[row.domain].update(classify(*pair) for pair in zip(row.actions, row.observations, strict=True))
        for rule in ("share", "draw"):
            weights = turn_weights(row.id, row.actions, row.observations, Weighting(rule=rule))
            for weight, text in zip(weights, row.observations, strict=True):
                sums = kept[row.domain, rule]
                for name, value in (("turns", weight), ("all", 1), ("kept", weight * len(text)), ("size", len(text))):
                    sums[name] += value
    print("| domain | turns | " + " | ".join(CLASSES) + " | turns kept: share, draw | characters kept: share, draw |")
    print("| --- " * (len(CLASSES) + 4) + "|")
    for domain, found in sorted(counts.items()):
        shares = " | ".join(f"{found[name] / found.total():.1%}" if found[name] else "–" for name in CLASSES)
        rules = [kept[domain, rule] for rule in ("share", "draw")]
        turns = ", ".join(f"{rule['turns'] / rule['all']:.1%}" for rule in rules)
        characters = ", ".join(f"{rule['kept'] / rule['size']:.1%}" for rule in rules)
        print(f"| {domain} | {found.total():,} | {shares} | {turns} | {characters} |")


if __name__ == "__main__":
    main()
