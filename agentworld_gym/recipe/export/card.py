"""The card of an export: a README.md that says what lies beside it, and that `datasets` reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agentworld_gym.recipe.export.agent_session import ExportTally

CARD = "README.md"

_ABOUT: Mapping[str, str] = {
    "chat": "A line is a session: `messages`, of which those with `train` are the agent's to learn.",
    "tools": "A line is a session: `messages` with `tool_calls` and results, and the `tools`. Messages "
    "with `train` are the agent's to learn.",
    "prompt-completion": "A line is a turn: the messages before it as `prompt`, and what the agent wrote as "
    "`completion`.",
    "preference": "A line is a turn: the messages before it as `prompt`, what the agent wrote as `chosen`, and as "
    "`rejected` another action, after which the rest of the session no longer won on an exact fork of the world.",
    "parquet": "A row is a session: `messages`, of which those with `train` are the agent's to learn.",
}
_LABELS = (
    "Beside them stand `id`, `domain`, `dialect`, `task_id`, `family`, `level`, `seed`, `split`, `policy`, `success` "
    'and `score`. `task_id` is what `reset(options={"task": …})` takes to play the task again.'
)


def write_card(folder: Path, form: str, tally: ExportTally) -> None:
    """Write the card of a folder of JSON lines or of Parquet.

    Args:
        folder: The folder, which holds a file for each split.
        form: The format.
        tally: What was written.
    """
    ending = "parquet" if form == "parquet" else "jsonl"
    files = "\n".join(f"      - split: {split}\n        path: {split}.{ending}" for split in sorted(tally.splits))
    front = f"---\nconfigs:\n  - config_name: default\n    data_files:\n{files}\n---"
    counts = "\n".join(f"| {domain} | {count:,} |" for domain, count in sorted(tally.domains.items()))
    table = f"| domain | sessions |\n| --- | --- |\n{counts}"
    left = "; ".join(f"{reason}: {count:,}" for reason, count in sorted(tally.left.items()))
    parts = [
        front,
        "# Sessions to train agents on",
        f"{tally.written:,} lines of {tally.kept:,} sessions, made by `agentworld export --format {form}`.",
        _ABOUT[form],
        _LABELS,
        table,
        f"Sessions that were left out: {left or 'none'}.",
    ]
    (folder / CARD).write_text("\n\n".join(parts) + "\n", encoding="utf-8")
