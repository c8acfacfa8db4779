"""Reads rows from JSON lines, and from the files of AgentWorldBench, which leave some keys to the reader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from agentworld_gym.base.documents.json_lines import problem_of
from agentworld_gym.base.documents.strict import validated
from agentworld_gym.base.errors import SpecError
from agentworld_gym.llm.rows.row import Row


def read_rows(path: Path, start: int = 0, stop: int | None = None) -> Iterator[Row]:
    """Read the rows of a JSONL file, split at line feeds only; a torn last line is left out.

    Args:
        path: The file.
        start: The first line to read, counted from 0.
        stop: The line to stop before; None reads to the end.

    Raises:
        SpecError: A line is not a row; names the file, the line, the key, its value and what was expected.
    """
    for number, line in row_lines(path, start, stop):
        yield row_of_line(line, path, number)


def row_lines(path: Path, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a JSONL file with their numbers, counted from 1; a torn last line is left out.

    Args:
        path: The file.
        start: The first line to read, counted from 0.
        stop: The line to stop before; None reads to the end.
    """
    with path.open("rb") as file:
        for number, line in enumerate(islice(file, start, stop), start + 1):
            if not line.endswith(b"\n"):
                return
            yield number, line


def row_of_line(line: bytes, path: Path, number: int) -> Row:
    """Read one line as a row.

    Args:
        line: The line.
        path: The file that it stood in, for errors.
        number: The number of the line, for errors.

    Raises:
        SpecError: The line is not a row; the error names the file, the line, the key, its value and what was expected.
    """
    try:
        data = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        found, reason = problem_of(line, error)
        raise SpecError(path, f"line {number}", found, f"a JSON object ({reason})") from error
    return row_of(data, path, f"line {number}")


def completed(data: Mapping[str, Any]) -> dict[str, Any]:
    """Complete the data of a row of AgentWorldBench with what its files leave to the reader.

    The id may be a number, a single turn may stand as a text, and prompts and responses may go on to the end of the
    trajectory, where they are cut at the row's turn. Without a turn the row is that of the first one, without a current
    prompt it takes the prompt of its turn, and the system message may be missing. Other data stays broken.

    >>> row = completed({"task": "mcp", "id": 7, "turn_idx": 1, "prompt": ["a", "b"], "response": ["x", "y"]})
    >>> row["id"], row["prompt"], row["response"], row["current_prompt"], row["total_turns"]
    ('7', ['a'], ['x'], 'a', 2)
    """
    row = dict(data)
    turn = row.setdefault("turn_idx", 1)
    whole = isinstance(turn, int) and turn > 0
    longest = 0
    for key in ("prompt", "response"):
        if isinstance(row.get(key), str):
            row[key] = [row[key]]
        if isinstance(row.get(key), list) and whole:
            longest = max(longest, len(row[key]))
            row[key] = row[key][:turn]
    if row.get("total_turns") is None:
        row["total_turns"] = longest
    if isinstance(row.get("id"), int):
        row["id"] = str(row["id"])
    if row.get("system_str") is None:
        row["system_str"] = ""
    prompts = row.get("prompt")
    if not row.get("current_prompt") and isinstance(prompts, list) and prompts:
        row["current_prompt"] = prompts[-1]
    return row


def row_of(data: Any, file: str | Path, place: str) -> Row:
    """Validate plain data as a row.

    Args:
        data: The plain data.
        file: The file that it stood in, for errors.
        place: The place in the file, for errors, such as `line 3`.

    Raises:
        SpecError: The data is no row: the error names file, place, key, value and what was expected.
    """
    try:
        return validated(Row, data, file)
    except SpecError as error:
        raise SpecError(file, f"{place}: {error.key}", error.value, error.expected) from error
