"""Sessions as Parquet files, which Hugging Face's `datasets` reads. Needs pyarrow (`pip install -e '.[data]'`)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from agentworld_gym.base.errors import AgentWorldError, install

GROUP = 256
"""How many sessions lie together in a file, and in memory before they are written."""


class Tables:
    """Parquet files of chat messages, one for each split.

    Args:
        folder: The folder of the files.

    Raises:
        AgentWorldError: pyarrow is not installed.
    """

    def __init__(self, folder: Path) -> None:
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError as error:
            raise AgentWorldError(f"Parquet needs pyarrow: {install('data')}") from error
        self._arrow, self._parquet = pyarrow, parquet
        self._folder, self._open = folder, ExitStack()
        self._writers: dict[str, Any] = {}
        self._waiting: dict[str, list[Mapping[str, Any]]] = {}
        text, number = pyarrow.string(), pyarrow.int64()
        message = pyarrow.struct([("role", text), ("content", text), ("train", pyarrow.bool_())])
        kinds = {"level": number, "seed": number, "success": pyarrow.bool_(), "score": pyarrow.float64()}
        names = ("id", "domain", "dialect", "task_id", "family", "level", "seed", "split", "policy", "success", "score")
        labels = [(name, kinds.get(name, text)) for name in names]
        self._schema = pyarrow.schema([("messages", pyarrow.list_(message)), *labels])

    def write(self, split: str, line: Mapping[str, Any]) -> None:
        """Write a session to the file of a split."""
        waiting = self._waiting.setdefault(split, [])
        waiting.append(line)
        if len(waiting) >= GROUP:
            self._flush(split)

    def close(self) -> None:
        """Write what waits, and close the files."""
        with self._open:
            for split in self._waiting:
                self._flush(split)

    def _flush(self, split: str) -> None:
        if split not in self._writers:
            file = self._folder / f"{split}.parquet"
            writer = self._parquet.ParquetWriter(file, self._schema, compression="zstd")
            self._writers[split] = self._open.enter_context(writer)
        self._writers[split].write_table(self._arrow.Table.from_pylist(self._waiting[split], schema=self._schema))
        self._waiting[split].clear()
