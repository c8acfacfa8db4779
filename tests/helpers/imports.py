"""Records of other systems, imported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agentworld_gym.llm.rows.row import Row
from agentworld_gym.recipe.importers import Importer
from agentworld_gym.recipe.importers.conversation import ImportTally


def imported(tmp_path: Path, *records: Any, **options: Any) -> tuple[list[Row], ImportTally]:
    """The rows of some records, and what was left out of them."""
    path = tmp_path / "records.jsonl"
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    importer = Importer(**options)
    return list(importer.rows(path)), importer.tally
