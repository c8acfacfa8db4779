"""The page of a data card: a README.md with tables and charts beside the rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from agentworld_gym.agents.collect.data_card.charts import Summaries, draw_charts
from agentworld_gym.agents.collect.data_card.statistics import (
    KINDS,
    MOST_FIELDS,
    DomainSummary,
    rounded_median,
    summarise,
)
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.rows.row_reading import read_rows

CARD = "README.md"

_SHARD = re.compile(r"-\d{5}$")
"""What ends the name of one of several Parquet files of a split."""


def write_card(folder: Path) -> Path:
    """Write the card of all JSONL files of a folder and return its path; without matplotlib it has no charts.

    Raises:
        SpecError: A file holds something else than rows.
    """
    files = sorted(folder.glob("*.jsonl"))
    summaries = summarise(_rows(files))
    pictures = draw_charts(summaries, folder) if summaries and find_spec("matplotlib") else []
    images = "\n\n".join(f"![{title}]({name})" for name, title in pictures)
    parts = [*_front(folder), "# Recorded sessions", _opening(summaries, files), *_tables(summaries), images, _READING]
    path = folder / CARD
    path.write_text("\n\n".join(filter(None, parts)) + "\n", encoding="utf-8")
    return path


def _rows(files: Sequence[Path]) -> Iterator[Row]:
    for file in files:
        yield from read_rows(file)


def _front(folder: Path) -> list[str]:
    """Return the front matter that tells Hugging Face's `datasets` where the Parquet files are."""
    names = dict.fromkeys(_SHARD.sub("-*", file.stem) for file in sorted(folder.glob("*.parquet")))
    lines = [f"      - split: {name.removesuffix('-*')}\n        path: {name}.parquet" for name in names]
    head = "---\nconfigs:\n  - config_name: default\n    data_files:\n"
    return [head + "\n".join(lines) + "\n---"] if names else []


def _opening(summaries: Summaries, files: Sequence[Path]) -> str:
    sessions = sum(len(summary.turns) for summary in summaries.values())
    turns = sum(sum(summary.turns) for summary in summaries.values())
    engines = "; ".join(dict.fromkeys(engine for summary in summaries.values() for engine in summary.engines))
    names = ", ".join(f"`{file.name}`" for file in files)
    return (
        f"{sessions:,} sessions with {turns:,} turns in {len(summaries)} "
        f"{'domain' if len(summaries) == 1 else 'domains'}, in {names or 'no file'}. "
        f"They come from: {engines or 'nothing'}. No session stands twice in a file."
    )


def _tables(summaries: Summaries) -> list[str]:
    items = summaries.items()
    policies = sorted({policy for summary in summaries.values() for policy in summary.policies})
    controls = sorted({name for summary in summaries.values() for name in summary.controls})
    splits = sorted({split for summary in summaries.values() for split in summary.splits})
    tables = [
        "## What is in it",
        _table(
            [
                "domain",
                "sessions",
                *splits,
                "families",
                "turns",
                "turns a session",
                "characters a session",
                "disturbed",
            ],
            [
                [
                    domain,
                    len(summary.turns),
                    *(summary.splits[split] for split in splits),
                    len(summary.families),
                    sum(summary.turns),
                    rounded_median(summary.turns),
                    rounded_median(summary.characters),
                    summary.disturbed,
                ]
                for domain, summary in items
            ],
        ),
        "Turns and characters a session are medians; a disturbed session has controls in force.",
        "## Who plays",
        "Sessions, and how many of a hundred succeed:",
        _table(
            ["domain", *policies],
            [[domain, *(_rate(summary, policy) for policy in policies)] for domain, summary in items],
        ),
        "## What a turn changes and shows",
        "Of a hundred turns, how many change so many fields of the state; of a hundred characters of observations, how "
        "many are of which kind:",
        _table(
            ["domain", *map(str, range(MOST_FIELDS)), f"{MOST_FIELDS} or more", *KINDS],
            [
                [
                    domain,
                    *(_percent(summary.fields[n], summary.fields.total()) for n in range(MOST_FIELDS + 1)),
                    *(_percent(summary.kinds[kind], summary.kinds.total()) for kind in KINDS),
                ]
                for domain, summary in items
            ],
        ),
    ]
    if controls:
        tables += [
            "## Controls in force",
            _table(
                ["control", *summaries],
                [[name, *(summary.controls[name] for summary in summaries.values())] for name in controls],
            ),
        ]
    return tables


def _table(head: Sequence[str], rows: Sequence[Sequence[str | int]]) -> str:
    lines = [head, ["---"] * len(head), *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(value: str | int) -> str:
    return f"{value:,}" if isinstance(value, int) else value.replace("|", "\\|")


def _rate(summary: DomainSummary, policy: str) -> str:
    if not summary.policies[policy]:
        return "–"
    return f"{summary.policies[policy]:,} ({_percent(summary.succeeded[policy], summary.judged[policy])})"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f}" if whole else "–"


_READING = """## How to read it

```python
from pathlib import Path
from agentworld_gym.llm.rows.row_reading import read_rows

for row in read_rows(Path("train.jsonl")):
    row.request(), row.response[-1]      # what a model is asked, and what it should have answered
    row.at(1).request()                  # the same for the first turn
    row.state_after(row.turn_idx)        # the state behind the last observation
```"""
