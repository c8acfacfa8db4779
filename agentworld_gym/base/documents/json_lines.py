"""Files of JSON lines that survive a crash: rows are written at once, and a torn last line is cut off."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from agentworld_gym.base.errors import ClosedError, TraceError


class JsonlWriter:
    """Appends rows to a file; each call of `write` is one system call.

    A torn last line (a crash, a full disk) is cut off at opening, so that a file never holds half a row in its middle.

    Raises:
        TraceError: The file cannot be opened or written; what was written before stays whole.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._fd: int | None = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            _lock(self._fd, path)
            self._size = _whole_lines(self._fd)
            os.ftruncate(self._fd, self._size)
        except OSError as error:
            raise _trace_error(path, error) from error

    @property
    def empty(self) -> bool:
        """Whether the file holds no row."""
        return self._size == 0

    def write(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Append all rows, or none."""
        if self._fd is None:
            raise ClosedError(f"{self.path} is closed")
        if not rows:
            return
        data = b"".join([_line(row) for row in rows])
        written = 0
        try:
            while written < len(data):
                written += os.write(self._fd, data[written:])
        except OSError as error:
            os.ftruncate(self._fd, self._size)
            raise _trace_error(self.path, error) from error
        except BaseException:
            if 0 < written < len(data):
                os.ftruncate(self._fd, self._size)
            raise
        self._size += len(data)

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    """Read the rows of a file, split at line feeds only; a torn last line is left out.

    Raises:
        TraceError: The file cannot be read, or a line in its middle is no JSON object: the error names the line.
    """
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    return
                try:
                    row = orjson.loads(line)
                except orjson.JSONDecodeError as error:
                    found, reason = problem_of(line, error)
                    raise TraceError(f"{path}: line {number}: not JSON ({reason}): {found!r}") from error
                if not isinstance(row, dict):
                    raise TraceError(f"{path}: line {number}: expected a JSON object")
                yield row
    except OSError as error:
        raise _trace_error(path, error) from error


def sealed(row: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return a row with the digest of its content and of the digest `before` it.

    >>> first = sealed({"key": "a"})
    >>> second = sealed({"key": "b"}, first["digest"])
    >>> is_whole(second, first["digest"]), is_whole(second), is_whole({**second, "key": "c"}, first["digest"])
    (True, False, False)
    """
    try:
        digest = _digest(row, before)
    except TypeError:
        row = _cleaned(row)
        digest = _digest(row, before)
    return {**row, "digest": digest}


def is_whole(row: Mapping[str, Any], before: str = "") -> bool:
    """Whether a row that was read has the digest of its content and of the digest before it."""
    return row.get("digest") == _digest({key: value for key, value in row.items() if key != "digest"}, before)


def _digest(row: Mapping[str, Any], before: str) -> str:
    return hashlib.blake2b(orjson.dumps([before, row], option=orjson.OPT_SORT_KEYS), digest_size=16).hexdigest()


def check_fields(row: Mapping[str, Any], kinds: Mapping[str, Any], path: Path, number: int) -> None:
    """Check that a row has some fields of some types.

    >>> check_fields({"turn": "1"}, {"turn": int}, Path("a.jsonl"), 3)
    Traceback (most recent call last):
    agentworld_gym.base.errors.TraceError: a.jsonl: line 3: turn: got '1', expected int

    Raises:
        TraceError: A field does not fit: the error names file, line, field, value and what was expected.
    """
    for name, kind in kinds.items():
        value = row.get(name)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            wanted = getattr(kind, "__name__", str(kind))
            raise TraceError(f"{path}: line {number}: {name}: got {str(row.get(name))[:80]!r}, expected {wanted}")


def problem_of(line: bytes, error: orjson.JSONDecodeError) -> tuple[str, str]:
    """Return the text around the place where a line stops being JSON, and the reason.

    >>> line = b'{"reward": NaN}'
    >>> try:
    ...     orjson.loads(line)
    ... except orjson.JSONDecodeError as error:
    ...     problem_of(line, error)
    ('{"reward": NaN}', 'NaN and Infinity are no JSON values, column 12')
    """
    text = line.decode("utf-8", "replace")
    place = min(error.pos, len(text))
    if text.startswith(("NaN", "Infinity", "-Infinity"), place):
        reason = "NaN and Infinity are no JSON values"
    elif "UTF-8" in error.msg:
        reason = "the line is no UTF-8"
        place = next((at for at, letter in enumerate(text) if letter == "\ufffd"), place)
    elif "surrogate" in error.msg:
        reason = "a lone surrogate is no text"
    else:
        reason = error.msg
    return text[max(0, place - 40) : place + 60].strip(), f"{reason}, column {place + 1}"


def _lock(fd: int, path: Path) -> None:
    """Lock a file for one writer, because two would cut each other's rows."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(fd)
        raise TraceError(f"{path}: another writer has this file open; write to another one") from error


def _line(row: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # A lone surrogate is not valid UTF-8.
        return orjson.dumps(_cleaned(row), option=orjson.OPT_APPEND_NEWLINE)


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, Mapping):
        return {_cleaned(key): _cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(item) for item in value]
    return value


def _whole_lines(fd: int) -> int:
    """Return the length of the file up to and including its last line feed."""
    end = os.fstat(fd).st_size
    while end:
        start = max(0, end - 65536)
        block = os.pread(fd, end - start, start)
        newline = block.rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0


def _trace_error(path: Path, error: OSError) -> TraceError:
    hint = "; free some space and run again, what was recorded so far is whole" if error.errno == errno.ENOSPC else ""
    return TraceError(f"{path}: {error.strerror or error}{hint}")
