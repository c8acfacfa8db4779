"""The folder that an export fills, which appears once it is whole: JSON lines or Parquet, and a card."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, BinaryIO

import orjson

from agentworld_gym.base.errors import AgentWorldError, SpecError, install
from agentworld_gym.recipe.export.agent_session import ExportTally

GROUP = 256
"""How many sessions lie together in a file, and in memory before they are written."""

CARD = "README.md"

_ABOUT: Mapping[str, str] = {
    "chat": "A line is a session: `messages`, of which those with `train` are the agent's to learn.",
    "tools": "A line is a session: `messages` with `tool_calls` and results, and the `tools`. Messages "
    "with `train` are the agent's to learn.",
    "prompt-completion": "A line is a turn: the messages before it as `prompt`, and what the agent wrote as "
    "`completion`.",
    "prompt-only": "A line is a task: the messages before the first action as `prompt`, of which the last names its "
    "`task` and a `task_seed` for `EnvironmentRollout`, and `env_id`, the environment to make. `policy`, `success` and "
    "`score` are those of the first session of the task.",
    "preference": "A line is a turn: the messages before it as `prompt`, what the agent wrote as `chosen`, and as "
    "`rejected` another action, after which the rest of the session no longer won on an exact fork of the world.",
    "parquet": "A row is a session: `messages`, of which those with `train` are the agent's to learn.",
}
_LABELS = (
    "Beside them stand `id`, `domain`, `dialect`, `task_id`, `family`, `level`, `seed`, `split`, `policy`, `success` "
    'and `score`. `task_id` is what `reset(options={"task": …})` takes to play the task again.'
)


@contextmanager
def appearing(out: Path) -> Iterator[Path]:
    """Yield a folder to fill, which takes its place once the block ends; an error or Ctrl-C leaves nothing.

    A folder that stays empty leaves nothing either.

    Args:
        out: The place of the folder, which must not be there yet, or be empty.

    Raises:
        SpecError: Something is there, or nothing can be written.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as above:
    ...     with appearing(Path(above) / "out") as folder:
    ...         _ = (folder / "a.txt").write_text("a")
    ...         before = (Path(above) / "out").exists()
    ...     before, (Path(above) / "out" / "a.txt").exists()
    (False, True)
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise SpecError("command line", "--out", str(out), "a folder that is not there yet, or is empty")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        above = Path(mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    except OSError as error:
        raise SpecError(
            "command line", "--out", str(out), f"a folder that can be written ({error.strerror})"
        ) from error
    try:
        folder = above / out.name
        folder.mkdir()
        yield folder
        if any(folder.iterdir()):
            folder.replace(out)
    finally:
        shutil.rmtree(above, ignore_errors=True)


class JsonLines:
    """Files of JSON lines, one for each split, that are opened when their first line comes.

    Args:
        folder: The folder of the files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._files, self._open = folder, dict[str, BinaryIO](), ExitStack()

    def write(self, split: str, line: Mapping[str, Any]) -> None:
        """Write a line to the file of a split."""
        file = self._files.get(split)
        if file is None:
            file = self._files[split] = self._open.enter_context((self._folder / f"{split}.jsonl").open("wb"))
        file.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))

    def close(self) -> None:
        """Close the files."""
        self._open.close()


class ExportedTables:
    """Parquet files of chat messages, one for each split, which Hugging Face's `datasets` reads.

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
