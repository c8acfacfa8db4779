"""Rows as Parquet, and back. Needs pyarrow (`pip install -e '.[data]'`)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from agentworld_gym.base.errors import AgentWorldError, SpecError, install
from agentworld_gym.llm.rows.row import Row, RowProvenance
from agentworld_gym.llm.rows.row_reading import row_of, row_of_line

GROUP = 256
"""How many rows are converted together, and lie together in the file."""

_MAPPINGS = ("controls", "initial_state")
_MAPPINGS_OF_PROVENANCE = ("libraries", "settings")
_VALUES = ("before", "after")
"""The keys whose values are written as JSON texts, because Parquet wants to know keys and types beforehand."""


def write_parquet(rows: Iterable[Row], path: Path) -> int:
    """Write rows as a Parquet file. A crash leaves the file as it was before, or the whole of the new one.

    Mappings of any keys (`controls`, `initial_state`, `libraries` and `settings` of the provenance) and values of any
    type (`before` and `after` of a change) are JSON texts in it; all else has the structure of the row.

    Returns:
        How many rows there were.

    Raises:
        AgentWorldError: pyarrow is not installed.
    """
    arrow, parquet = _libraries()
    schema = _schema(arrow)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    count = 0
    rest = iter(rows)
    with parquet.ParquetWriter(partial, schema, compression="zstd") as writer:
        while group := [_flat(row.model_dump()) for row in islice(rest, GROUP)]:
            writer.write_table(arrow.Table.from_pylist(group, schema=schema))
            count += len(group)
    os.replace(partial, path)
    return count


def write_shards(file: Path, size: int) -> list[Path]:
    """Write the rows of a JSONL file beside it as Parquet files of so many rows each, as `train-00000.parquet`.

    Files that hold their rows already stay as they are, so that a recording that goes on writes its new rows alone.

    Returns:
        The files. Those of an earlier recording that was longer, or had other sizes, are removed.

    Raises:
        AgentWorldError: pyarrow is not installed.
    """
    _, parquet = _libraries()
    shards: list[Path] = []
    for part in _parts(file, size):
        shard = file.with_name(f"{file.stem}-{len(shards):05}.parquet")
        ends = [next(part.rows(file, part.start, part.first)).id, next(part.rows(file, part.end, part.last)).id]
        if not _holds(parquet, shard, ends, part.last - part.first + 1):
            write_parquet(islice(part.rows(file, part.start, part.first), part.last - part.first + 1), shard)
        shards.append(shard)
    for other in set(file.parent.glob(f"{file.stem}-[0-9]*.parquet")) - set(shards):
        other.unlink()
    return shards


class _Part(NamedTuple):
    """Lines of a file that lie together."""

    start: int
    """Where the first one begins, in bytes."""

    end: int
    """Where the last one begins."""

    first: int
    """The number of the first line, counted from 1."""

    last: int
    """That of the last one."""

    def rows(self, file: Path, place: int, number: int) -> Iterator[Row]:
        """Yield the rows from a place on, which is that of a line of that number."""
        with file.open("rb") as lines:
            lines.seek(place)
            for count, line in enumerate(lines, number):
                yield row_of_line(line, file, count)


def _parts(file: Path, size: int) -> Iterator[_Part]:
    place, part = 0, None
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):
                break
            if part is not None and number - part.first == size:
                yield part
                part = None
            part = _Part(place, place, number, number) if part is None else part._replace(end=place, last=number)
            place += len(line)
    if part is not None:
        yield part


def _holds(parquet: Any, shard: Path, ends: list[str], count: int) -> bool:
    """Return whether a file holds so many rows, from one id to another."""
    if not shard.exists() or parquet.read_metadata(shard).num_rows != count:
        return False
    ids = parquet.read_table(shard, columns=["id"])["id"]
    return [ids[0].as_py(), ids[-1].as_py()] == ends


def read_parquet(path: Path) -> Iterator[Row]:
    """Read the rows of a Parquet file that `write_parquet` wrote.

    Raises:
        SpecError: It holds something else: the error names file, row, key, value and what was expected.
        AgentWorldError: pyarrow is not installed.
    """
    arrow, parquet = _libraries()
    try:
        file = parquet.ParquetFile(path)
    except arrow.ArrowInvalid as error:
        raise SpecError(path, "file", str(error), "a Parquet file") from error
    with file:
        number = 0
        for batch in file.iter_batches(batch_size=GROUP):
            for data in batch.to_pylist():
                number += 1
                try:
                    full = _full(data)
                except (KeyError, TypeError, ValueError) as error:
                    raise SpecError(path, f"row {number}", str(error), "a row that `write_parquet` wrote") from error
                yield row_of(full, path, f"row {number}")


def _flat(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a row with JSON texts instead of what has no fixed structure."""
    changes = [[{**change, **_json(change, _VALUES)} for change in turn] for turn in data["changes"]]
    provenance = {**data["provenance"], **_json(data["provenance"], _MAPPINGS_OF_PROVENANCE)}
    return {**data, **_json(data, _MAPPINGS), "changes": changes, "provenance": provenance}


def _full(data: dict[str, Any]) -> dict[str, Any]:
    """Return the data that `_flat` was given."""
    changes = [[{**change, **_parsed(change, _VALUES)} for change in turn] for turn in data["changes"]]
    provenance = {**data["provenance"], **_parsed(data["provenance"], _MAPPINGS_OF_PROVENANCE)}
    return {**data, **_parsed(data, _MAPPINGS), "changes": changes, "provenance": provenance}


def _json(data: Mapping[str, Any], keys: Iterable[str]) -> dict[str, str]:
    return {key: orjson.dumps(data[key]).decode() for key in keys}


def _parsed(data: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: orjson.loads(data[key]) for key in keys if key in data}


def _schema(arrow: Any) -> Any:
    text, number, texts = arrow.string(), arrow.int64(), arrow.list_(arrow.string())
    change = arrow.struct([(key, text) for key in ("field", "kind", "before", "after")])
    span = arrow.struct([("start", number), ("end", number), ("kind", text)])
    origin = arrow.struct([(key, number if key == "format" else text) for key in RowProvenance.model_fields])
    special = {
        **dict.fromkeys(("prompt", "response", "actions", "observations", "verdicts", "attempts"), texts),
        **dict.fromkeys(("turn_idx", "total_turns", "number", "level"), number),
        **dict.fromkeys(("seed", "episode_seed", "control_seed", "probes"), number),
        "spans": arrow.list_(arrow.list_(span)),
        "changes": arrow.list_(arrow.list_(change)),
        "fields_changed": arrow.list_(number),
        "success": arrow.bool_(),
        "score": arrow.float64(),
        "provenance": origin,
    }
    return arrow.schema([(key, special.get(key, text)) for key in Row.model_fields])


def _libraries() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise AgentWorldError(f"Parquet needs pyarrow: {install('data')}") from error
    return pyarrow, parquet
