"""The page of a data card: a README.md with tables and charts beside the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from agentworld_gym.recipe.collect.data_card.charts import Summaries, draw_charts
from agentworld_gym.recipe.collect.data_card.statistics import (
    KINDS,
    MOST_FIELDS,
    DomainSummary,
    rounded_median,
    summarise,
)
from agentworld_gym.sessions.row import Row, read_rows

CARD = "README.md"


def write_card(folder: Path) -> Path:
    """Write the card of all JSONL files of a folder and return its path; without matplotlib it has no charts.

    Raises:
        SpecError: A file holds something else than rows.
    """
    files = sorted(folder.glob("*.jsonl"))
    found = summarise(_rows(files))
    pictures = draw_charts(found, folder) if found and find_spec("matplotlib") else []
    images = "\n\n".join(f"![{title}]({name})" for name, title in pictures)
    parts = [*_front(folder), "# Recorded sessions", _opening(found, files), *_tables(found), images, _READING]
    path = folder / CARD
    path.write_text("\n\n".join(filter(None, parts)) + "\n", encoding="utf-8")
    return path


def _rows(files: Sequence[Path]) -> Iterator[Row]:
    for file in files:
        yield from read_rows(file)


def _front(folder: Path) -> list[str]:
    """Return the front matter that tells Hugging Face's `datasets` where the Parquet files are."""
    files = sorted(folder.glob("*.parquet"))
    lines = [f"      - split: {file.stem}\n        path: {file.name}" for file in files]
    head = "---\nconfigs:\n  - config_name: default\n    data_files:\n"
    return [head + "\n".join(lines) + "\n---"] if files else []


def _opening(found: Summaries, files: Sequence[Path]) -> str:
    sessions = sum(len(one.turns) for one in found.values())
    turns = sum(sum(one.turns) for one in found.values())
    engines = "; ".join(dict.fromkeys(engine for one in found.values() for engine in one.engines))
    names = ", ".join(f"`{file.name}`" for file in files)
    return (
        f"{sessions:,} sessions with {turns:,} turns in {len(found)} "
        f"{'domain' if len(found) == 1 else 'domains'}, in {names or 'no file'}. "
        f"They come from: {engines or 'nothing'}. No session stands twice in a file."
    )


def _tables(found: Summaries) -> list[str]:
    items = found.items()
    policies = sorted({policy for one in found.values() for policy in one.policies})
    controls = sorted({name for one in found.values() for name in one.controls})
    splits = sorted({split for one in found.values() for split in one.splits})
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
                    len(one.turns),
                    *(one.splits[split] for split in splits),
                    len(one.families),
                    sum(one.turns),
                    rounded_median(one.turns),
                    rounded_median(one.characters),
                    one.disturbed,
                ]
                for domain, one in items
            ],
        ),
        "Turns and characters a session are medians; a disturbed session has controls in force.",
        "## Who plays",
        "Sessions, and how many of a hundred succeed:",
        _table(
            ["domain", *policies],
            [[domain, *(_rate(one, policy) for policy in policies)] for domain, one in items],
        ),
        "## What a turn changes and shows",
        "Of a hundred turns, how many change so many fields of the state; of a hundred characters of observations, how "
        "many are of which kind:",
        _table(
            ["domain", *map(str, range(MOST_FIELDS)), f"{MOST_FIELDS} or more", *KINDS],
            [
                [
                    domain,
                    *(_percent(one.fields[n], one.fields.total()) for n in range(MOST_FIELDS + 1)),
                    *(_percent(one.kinds[kind], one.kinds.total()) for kind in KINDS),
                ]
                for domain, one in items
            ],
        ),
    ]
    if controls:
        tables += [
            "## Controls in force",
            _table(
                ["control", *found],
                [[name, *(one.controls[name] for one in found.values())] for name in controls],
            ),
        ]
    return tables


def _table(head: Sequence[str], rows: Sequence[Sequence[str | int]]) -> str:
    lines = [head, ["---"] * len(head), *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _cell(value: str | int) -> str:
    return f"{value:,}" if isinstance(value, int) else value.replace("|", "\\|")


def _rate(one: DomainSummary, policy: str) -> str:
    if not one.policies[policy]:
        return "–"
    return f"{one.policies[policy]:,} ({_percent(one.succeeded[policy], one.judged[policy])})"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f}" if whole else "–"


_READING = """## How to read it

```python
from pathlib import Path
from agentworld_gym.sessions.row import read_rows

for row in read_rows(Path("train.jsonl")):
    row.request(), row.response[-1]      # what a model is asked, and what it should have answered
    row.at(1).request()                  # the same for the first turn
    row.state_after(row.turn_idx)        # the state behind the last observation
```"""
