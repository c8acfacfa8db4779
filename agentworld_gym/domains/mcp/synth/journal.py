"""The journal of a run: every answer of the generator, and what its check said of it.

An answer is a line as soon as it is there, and its verdict is another one. A run that was stopped reads its journal and
goes on: no answer is asked for again, and no check that was finished is made again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from agentworld_gym.base.documents.json_lines import JsonlWriter, check_fields, read_jsonl
from agentworld_gym.base.errors import TraceError
from agentworld_gym.core.contracts import Completion

FILE = "journal.jsonl"
"""The name of the file in the folder of a run."""


class Key(NamedTuple):
    """Which answer is meant."""

    world: str
    """The world; for scenarios the number of the batch."""

    stage: str
    """The stage."""

    part: int
    """The number of the task, in the stage of verifiers; otherwise 0."""

    attempt: int
    """The number of the try, from 1 on."""


@dataclass
class JournalEntry:
    """One answer, with its verdict once there is one."""

    key: Key
    """Which answer it is."""

    prompt: str
    """The digest of the request."""

    text: str
    """What the generator wrote."""

    tokens: dict[str, int] = field(default_factory=dict)
    """The tokens that it took, as `Usage.as_dict` has them; empty where the server does not tell."""

    cut_off: bool = False
    """Whether it ended at the limit of tokens."""

    failure: str = ""
    """Why there is no answer, where the generator refused one."""

    checked: bool = False
    """Whether there is a verdict."""

    problem: str = ""
    """What is wrong with it; empty where nothing is."""

    value: dict[str, Any] | None = None
    """What the stage made of it, as plain data."""

    seconds: float = 0.0
    """How long the check took."""


class Journal:
    """The answers of a run, by their keys.

    Args:
        path: The file. What it holds already is read; a torn last line is cut off.

    Raises:
        TraceError: The file cannot be read or written, or another run has it open.
    """

    def __init__(self, path: Path) -> None:
        self._writer = JsonlWriter(path)
        self._lock = threading.Lock()
        self.entries: dict[Key, JournalEntry] = {}
        for number, row in enumerate(read_jsonl(path), 1):
            _enter(self.entries, row, path, number)

    def find(self, key: Key, prompt: str) -> JournalEntry | None:
        """Return an answer that was given before; None where there is none.

        Raises:
            TraceError: The answer under this key was given to another request.
        """
        entry = self.entries.get(key)
        if entry is not None and entry.prompt != prompt:
            raise TraceError(f"{self._writer.path}: {'/'.join(map(str, key))} was the answer to another request")
        return entry

    def answered(self, key: Key, prompt: str, completion: Completion, failure: str = "") -> JournalEntry:
        """Enter an answer."""
        cut_off = completion.finish_reason == "length"
        entry = JournalEntry(key, prompt, completion.text, completion.usage.as_dict(), cut_off, failure)
        row = {"prompt": prompt, "text": entry.text, "tokens": entry.tokens, "cut_off": cut_off, "failure": failure}
        self._write({"key": list(key), **row})
        self.entries[key] = entry
        return entry

    def judged(self, entry: JournalEntry, problem: str, value: Mapping[str, Any] | None, seconds: float) -> None:
        """Enter the verdict on an answer: what is wrong with it, or what was made of it."""
        entry.checked, entry.problem, entry.seconds = True, problem, seconds
        entry.value = dict(value) if value else None
        verdict = {"problem": problem, "value": entry.value, "seconds": round(seconds, 4)}
        self._write({"key": list(entry.key), **verdict})

    def _write(self, row: Mapping[str, Any]) -> None:
        with self._lock:  # Answers come in a thread of the generator, verdicts in that of the run.
            self._writer.write([row])

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        self._writer.close()


def read_journal(path: Path) -> Iterator[JournalEntry]:
    """Yield the answers of a journal in their order, also while its run goes on.

    Raises:
        TraceError: The journal cannot be read.
    """
    entries: dict[Key, JournalEntry] = {}
    for number, row in enumerate(read_jsonl(path), 1):
        _enter(entries, row, path, number)
    yield from entries.values()


def _enter(entries: dict[Key, JournalEntry], row: Mapping[str, Any], path: Path, number: int) -> None:
    check_fields(row, {"key": list}, path, number)
    key = Key(*row["key"]) if len(row["key"]) == len(Key._fields) else None
    if key is None:
        raise TraceError(f"{path}: line {number}: key: got {row['key']}, expected {', '.join(Key._fields)}")
    if "problem" not in row:
        check_fields(row, {"prompt": str, "text": str, "tokens": dict}, path, number)
        failure, cut_off = str(row.get("failure", "")), bool(row.get("cut_off"))
        entries[key] = JournalEntry(key, row["prompt"], row["text"], row["tokens"], cut_off, failure)
        return
    entry = entries.get(key)
    if entry is None:
        raise TraceError(f"{path}: line {number}: a verdict on an answer that is not there")
    entry.checked, entry.problem, entry.value = True, row["problem"], row.get("value")
    entry.seconds = float(row.get("seconds", 0.0))
