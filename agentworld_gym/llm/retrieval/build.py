"""Writes an index over recorded steps, in one pass over the rows."""

from __future__ import annotations

import os
import shutil
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

import numpy as np
import orjson

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.task import Split
from agentworld_gym.llm.retrieval.index import (
    ACTION,
    FORMAT,
    KEYS,
    META,
    OFFSETS,
    SCORES,
    SESSIONS,
    STATE,
    STEPS,
    VOCABULARY,
    StepIndex,
    key_of,
)
from agentworld_gym.llm.retrieval.steps import DISTURBED, Features, origin_of_row, steps_of
from agentworld_gym.llm.rows.pools import split_of_row
from agentworld_gym.llm.rows.row import Row

K1, B = 1.2, 0.4
"""The parameters of BM25. Lengths count little, because the steps of one domain are of like length."""

_WORDS = "words.bin"
_KEYS_EACH = 5


def build_index(
    rows: Iterable[Row],
    folder: Path | str,
    split: Split | None = "train",
    progress: Callable[[int], None] | None = None,
) -> StepIndex:
    """Write an index over the steps of recorded sessions; it replaces an earlier one in that folder.

    Sessions go to disk as they come. Memory holds the vocabularies and, while one domain is ranked, about 50 bytes for
    each word of its steps. The folder appears once it is whole.

    Args:
        rows: Whole sessions; a session whose content came before is left out.
        folder: The folder of the index.
        split: The split whose sessions are taken; None takes all.
        progress: A function that is called with the number of sessions that were read.

    Raises:
        SpecError: No session is left, those of a domain are in several dialects, or `folder` holds something else than
            an index.
    """
    folder = Path(folder)
    if folder.exists() and not (folder / META).is_file() and any(folder.iterdir()):
        raise SpecError(folder, "folder", folder.name, "an empty folder, or one that holds an index")
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        with ExitStack() as opened:
            writer = _Writer(partial, opened)
            for number, row in enumerate(rows, 1):
                if row.actions and (split is None or split_of_row(row) == split):
                    writer.add(row)
                if progress is not None:
                    progress(number)
        if not writer.steps:
            raise SpecError(folder, "rows", 0, f"recorded sessions of the split {split or 'train, validation or test'}")
        writer.finish()
        if folder.exists():
            shutil.rmtree(folder)
        os.replace(partial, folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    return StepIndex(folder)


class _Writer:
    """Writes sessions to disk."""

    def __init__(self, folder: Path, opened: ExitStack) -> None:
        self._folder, self._opened = folder, opened
        self._sessions = opened.enter_context((folder / SESSIONS).open("wb"))
        self._offsets, self._keys = array("q", [0]), array("Q")
        self._content = blake2b(digest_size=8)
        self._seen: set[str] = set()
        self._domains: dict[str, _DomainWriter] = {}
        self._dialects: dict[str, str] = {}
        self.steps = 0

    def add(self, row: Row) -> None:
        """Write one session."""
        digest = row.digest()
        if digest in self._seen:
            return
        self._seen.add(digest)
        self._content.update(digest.encode() + row.id.encode("utf-8", "backslashreplace"))
        data = {"id": row.id, "first": row.first_observation, "actions": row.actions, "observations": row.observations}
        line = orjson.dumps(data) + b"\n"
        self._sessions.write(line)
        session = len(self._offsets) - 1
        self._offsets.append(self._offsets[-1] + len(line))
        marks = (*origin_of_row(row), DISTURBED) if row.controls else origin_of_row(row)
        keys = [key_of(mark) for mark in marks]
        self._keys.extend((keys + keys[:1] * _KEYS_EACH)[:_KEYS_EACH])
        if row.domain not in self._domains:
            self._domains[row.domain] = _DomainWriter(row.domain, self._folder / row.domain, self._opened)
            self._dialects[row.domain] = row.dialect
        if row.dialect != (first := self._dialects[row.domain]):
            raise SpecError(f"row {row.id}", "dialect", row.dialect, f"{first}, that of the sessions before")
        self._domains[row.domain].add(session, row)
        self.steps += len(row.actions)

    def finish(self) -> None:
        """Rank the words, and write the description of the index."""
        np.save(self._folder / OFFSETS, np.array(self._offsets, dtype=np.int64))
        np.save(self._folder / KEYS, np.array(self._keys, dtype=np.uint64).reshape(-1, _KEYS_EACH))
        for domain in self._domains.values():
            domain.finish()
        meta = {
            "format": FORMAT,
            "digest": self._content.hexdigest(),
            "sessions": len(self._offsets) - 1,
            "steps": self.steps,
            "domains": sorted(self._domains),
            "dialects": self._dialects,
        }
        (self._folder / META).write_bytes(orjson.dumps(meta, option=orjson.OPT_INDENT_2))


class _DomainWriter:
    """Writes the steps of one domain to disk."""

    def __init__(self, name: str, folder: Path, opened: ExitStack) -> None:
        self._folder, self._features = folder, Features(name)
        self._steps = array("i")
        self._fields = [_FieldWriter(folder / ACTION, opened), _FieldWriter(folder / STATE, opened)]

    def add(self, session: int, row: Row) -> None:
        """Write the steps of the session with that number."""
        for turn, (action, before, _) in enumerate(steps_of(row), 1):
            self._steps.extend((session, turn))
            for field, words in zip(self._fields, self._features.words(action, before), strict=True):
                field.add(words)

    def finish(self) -> None:
        """Write the arrays."""
        np.save(self._folder / STEPS, np.array(self._steps, dtype=np.int32).reshape(-1, 2))
        for field in self._fields:
            field.finish()


class _FieldWriter:
    """Writes the words of one kind to disk: a number for each word, one after the other."""

    def __init__(self, folder: Path, opened: ExitStack) -> None:
        folder.mkdir(parents=True)
        self._folder = folder
        self._numbers: dict[str, int] = {}
        self._starts = array("q", [0])
        self._file: IO[bytes] = opened.enter_context((folder / _WORDS).open("wb"))

    def add(self, words: list[str]) -> None:
        """Write the words of one step."""
        numbers = array("i", [self._numbers.setdefault(word, len(self._numbers)) for word in words])
        self._file.write(numbers.tobytes())
        self._starts.append(self._starts[-1] + len(numbers))

    def finish(self) -> None:
        """Write the vocabulary, and the score of each word in each step."""
        from bm25s import BM25  # type: ignore[import-untyped]  # here, because it takes half a second

        path = self._folder / _WORDS
        words = np.memmap(path, dtype=np.int32, mode="r") if path.stat().st_size else np.zeros(0, dtype=np.int32)
        bm25 = BM25(k1=K1, b=B, method="lucene")
        documents: Any = _Documents(words, self._starts)
        columns = _no_words(len(documents))
        if self._numbers:
            columns = bm25.build_index_from_ids(range(len(self._numbers)), documents, show_progress=False)
        for name in SCORES:
            np.save(self._folder / name, columns[name.removesuffix(".npy")])
        text = "".join(f"{word}\n" for word in self._numbers)
        (self._folder / VOCABULARY).write_text(text, encoding="utf-8")
        path.unlink()


class _Documents:
    """The numbers of the words of each step, which are read from disk when they are asked for."""

    def __init__(self, words: Any, starts: array[int]) -> None:
        self._words, self._starts = words, starts

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __iter__(self) -> Iterator[list[int]]:
        for first, last in zip(self._starts, self._starts[1:], strict=False):
            yield self._words[first:last].tolist()


def _no_words(steps: int) -> dict[str, Any]:
    return {"data": np.zeros(0, np.float32), "indices": np.zeros(0, np.int32), "indptr": np.zeros(1, np.int64)}
