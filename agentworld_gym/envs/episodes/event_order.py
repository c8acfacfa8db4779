"""The order in which steps that never wait for each other are handed out: recorded, and given again in a replay."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from agentworld_gym.base.documents.json_lines import JsonlWriter, check_fields, read_jsonl
from agentworld_gym.base.errors import MissingFile, RecordingError, SpecError, TraceError

FORMAT = "agentworld-order-1"
_HEADER: Mapping[str, Any] = {"format": str, "env": str, "fingerprint": str}

HandedOut = tuple[str, int]
"""The name of an episode and the number of its step, from 1 on."""


class EventOrder(Protocol):
    """Who follows, or decides, which steps are handed out together and in which order."""

    def due(self, under_way: Collection[str]) -> Sequence[str] | None:
        """Return the episodes whose steps are to be handed out next, of those under way; None leaves it to time."""
        ...

    def handed_out(self, steps: Sequence[HandedOut]) -> None:
        """Take notice of the steps that are handed out together, in their order."""
        ...

    def close(self) -> None:
        """Close what is open. A second call does nothing."""
        ...


class OrderRecording:
    """Writes the order of the steps to a file of JSON lines: a header, and then one line a batch.

    A line `{"steps": [["e3", 1], ["e0", 2]]}` says that the first step of the episode `e3` and the second one of `e0`
    were handed out together, that of `e3` first.

    Args:
        path: The file.
        env_id: The id of the environment.
        fingerprint: The digest of the world.

    Raises:
        RecordingError: The file holds something already.
        TraceError: The file cannot be written.
    """

    def __init__(self, path: Path, env_id: str, fingerprint: str) -> None:
        self._file = JsonlWriter(path)
        if not self._file.empty:
            self._file.close()
            raise RecordingError(f"{path} holds something already; record the order to another file")
        self._file.write([{"format": FORMAT, "env": env_id, "fingerprint": fingerprint}])

    def due(self, under_way: Collection[str]) -> None:
        """Leave the order to time."""

    def handed_out(self, steps: Sequence[HandedOut]) -> None:
        """Write a line.

        Raises:
            TraceError: The file cannot be written.
        """
        self._file.write([{"steps": steps}])

    def close(self) -> None:
        """Close the file. A second call does nothing."""
        self._file.close()


class RecordedOrder:
    """Hands out steps in the batches and in the order of a recording, however long the answers take.

    Args:
        path: The file that an `OrderRecording` wrote.
        env_id: The id of the environment.
        fingerprint: The digest of the world, which must be the one of the recording.

    Raises:
        MissingFile: There is no such file.
        RecordingError: The file is no recorded order, or is that of another environment or world.
    """

    def __init__(self, path: Path, env_id: str, fingerprint: str) -> None:
        if not path.is_file():
            raise MissingFile(path, f"one that order='record:{path}' makes", "recorded order")
        self._path, self._line = path, 1
        self._rows: Iterator[dict[str, Any]] = read_jsonl(path)
        self._batch: list[HandedOut] | None = None
        header = next(self._rows, {})
        if header.get("format") != FORMAT:
            raise RecordingError(f"{path}: not a recorded order (expected a first line with format {FORMAT!r})")
        self._check(header, _HEADER)
        for key, value in (("env", env_id), ("fingerprint", fingerprint)):
            if header[key] != value:
                raise RecordingError(f"{path}: line 1: {key}: got {header[key]!r}, expected {value!r}")

    def due(self, under_way: Collection[str]) -> list[str]:
        """Return the episodes of the next batch; equal calls return the same one until it was handed out.

        Raises:
            RecordingError: The recording has ended, or names an episode that has no step under way.
        """
        if self._batch is None:
            self._batch = self._next()
        names = [name for name, _ in self._batch]
        for name in names:
            if name not in under_way:
                raise RecordingError(self._differs(f"{name} has no step under way in the replay"))
        return names

    def handed_out(self, steps: Sequence[HandedOut]) -> None:
        """Go on to the next batch.

        Raises:
            RecordingError: A step has another number than in the recording.
        """
        for recorded, replayed in zip(self._batch or (), steps, strict=True):
            if recorded != replayed:
                name, number = recorded
                raise RecordingError(self._differs(f"step {number} of {name} is step {replayed[1]} in the replay"))
        self._batch = None

    def close(self) -> None:
        """Do nothing, because the file is read as it is needed and closes with this object."""

    def _next(self) -> list[HandedOut]:
        row = next(self._rows, None)
        if row is None:
            raise RecordingError(f"{self._path}: the recorded order ends after {self._line - 1} batches")
        self._line += 1
        self._check(row, {"steps": list})
        return [(str(name), int(number)) for name, number in row["steps"]]

    def _check(self, row: Mapping[str, Any], kinds: Mapping[str, Any]) -> None:
        try:
            check_fields(row, kinds, self._path, self._line)
        except TraceError as error:
            raise RecordingError(str(error)) from error

    def _differs(self, what: str) -> str:
        return f"{self._path}: line {self._line}: {what}; send what was sent in the recorded run"


def open_order(handle: str | None, env_id: str, fingerprint: str) -> EventOrder | None:
    """Return the order that a handle names; None for None.

    Args:
        handle: `record:PATH`, `recorded:PATH` or None.
        env_id: The id of the environment.
        fingerprint: The digest of the world.

    Raises:
        SpecError: The handle is neither, or there is no such file.
        RecordingError: The file to record to holds something, or the file to replay holds no order of this world.
        TraceError: The file cannot be written.
    """
    if handle is None:
        return None
    kind, _, path = handle.partition(":")
    if kind == "record" and path:
        return OrderRecording(Path(path), env_id, fingerprint)
    if kind == "recorded" and path:
        return RecordedOrder(Path(path), env_id, fingerprint)
    raise SpecError("options", "order", handle, "record:PATH or recorded:PATH")
