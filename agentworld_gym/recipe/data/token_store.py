"""Samples as tokens on disk: memory-mapped arrays that are written in a stream, so that they may outgrow the memory."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from agentworld_gym.base.errors import SpecError
from agentworld_gym.base.process.pacing import paced
from agentworld_gym.llm.rows.samples import TEXT, Sample
from agentworld_gym.llm.rows.tokenization import SampleTokenizer, TokenizedSample, tokenization_digest

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

logger = logging.getLogger(__name__)

FORMAT = 2
META = "meta.json"
STARTS = "starts.bin"
COUNTS = ("samples", "tokens", "learned", "cut", "too_long", "weightless", "turns", "lost_turns")
ARRAYS = {"ids": "uint32", "weights": "float32", "observed": "bool"}
"""The arrays with one entry for each token, each a file `NAME.bin`, with their types."""


@dataclass(frozen=True)
class TokenStore:
    """A folder of samples as tokens, one after the other."""

    folder: Path
    """The folder."""

    meta: dict[str, Any]
    """The digests of the tokenizer, of the arrays (`digest`) and of the files that the samples came from (`sources`),
    and the counts: `samples`, `tokens`, `learned` (tokens of a weight above 0), `cut` (samples that lost turns at their
    end, because they were too long), `too_long` and `weightless` (samples that were left out), and `turns` and
    `lost_turns` (the turns kept, and those lost to length)."""

    ids: NDArray[np.uint32]
    """The tokens."""

    weights: NDArray[np.float32]
    """The weight of each token as a target; 0 for the first token of each sample, because nothing comes before it."""

    observed: NDArray[np.bool_]
    """Whether each token is part of an answer."""

    starts: NDArray[np.int64] = field(repr=False)
    """The place of each sample's first token, and the number of all tokens; sample i holds the tokens from `starts[i]`
    to `starts[i + 1]`."""

    @classmethod
    def open(cls, folder: Path, tokenizer: PreTrainedTokenizerBase | None = None) -> TokenStore:
        """Map the arrays of a folder into memory.

        Args:
            folder: The folder.
            tokenizer: The tokenizer that must have made the store; None takes any.

        Raises:
            SpecError: There is no whole store, or another tokenizer made it than the one given.
        """
        try:
            meta = json.loads((folder / META).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise SpecError(
                folder, META, type(error).__name__, "a folder that `build_store` wrote to its end"
            ) from error
        if not isinstance(meta, dict) or meta.get("format") != FORMAT:
            raise SpecError(folder / META, "format", meta, f"format {FORMAT}; build the store anew")
        if tokenizer is not None and meta["tokenizer"] != (digest := tokenization_digest(tokenizer)):
            raise SpecError(
                folder, "tokenizer", meta["tokenizer"], f"{digest}, that of the model; build the store anew"
            )
        starts = _mapped(folder / STARTS, "int64", meta["samples"] + 1)
        arrays = {name: _mapped(folder / f"{name}.bin", kind, meta["tokens"]) for name, kind in ARRAYS.items()}
        if int(starts[-1]) != meta["tokens"]:
            raise SpecError(
                folder / STARTS, "the last start", int(starts[-1]), f"{meta['tokens']}, the tokens there are"
            )
        return cls(folder, meta, starts=starts, **arrays)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, index: int) -> tuple[NDArray[np.uint32], NDArray[np.float32], NDArray[np.bool_]]:
        """Return the tokens of one sample, their weights as targets, and which of them are part of an answer."""
        span = slice(self.starts[index], self.starts[index + 1])
        return self.ids[span], self.weights[span], self.observed[span]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of tokens of each sample."""
        return np.diff(self.starts)

    @property
    def longest_answer(self) -> int:
        """The most tokens of an answer."""
        ends = np.flatnonzero(np.diff(np.concatenate(([False], self.observed, [False]))))
        return int(np.diff(ends.reshape(-1, 2)).max(initial=0))


def build_store(
    samples: Iterable[Sample],
    tokenizer: PreTrainedTokenizerBase,
    folder: Path,
    max_tokens: int,
    watch: Callable[[TokenizedSample], None] | None = None,
    sources: Mapping[str, str] | None = None,
) -> TokenStore:
    """Write samples as tokens; the folder appears once it is whole, and replaces an earlier store.

    A session of more than `max_tokens` tokens loses turns at its end. Where that leaves no turn, or nothing to learn
    from, the session is left out: a language world sends whole histories, so that a window from the middle of one would
    teach prompts that nobody sends. A plain text is cut into pieces of that length.

    Args:
        samples: The samples, which are read once, in order.
        tokenizer: A fast tokenizer with a chat template.
        folder: The folder of the store.
        max_tokens: The most tokens of a sample.
        watch: A function that is called with each sample as it was tokenized, before it is cut.
        sources: The digests of the files that the samples come from, to be remembered.

    Raises:
        SpecError: Nothing is left to learn from, or the folder holds something else.
        OSError: The disk is full, or the folder cannot be written; an earlier store is left as it was.
    """
    if folder.exists() and any(folder.iterdir()) and not (folder / META).is_file():
        raise SpecError(folder, "folder", sorted(path.name for path in folder.iterdir())[0], "no folder, or a store")
    partial = folder.with_name(f"{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        counts, digest, shortest = _write(partial, SampleTokenizer(tokenizer).encode(samples), max_tokens, watch)
        if not counts["samples"]:
            why = _why_none(counts, max_tokens, shortest)
            raise SpecError(folder, "samples", 0, f"something to learn from within {max_tokens} tokens; {why}")
        made = {"tokenizer": tokenization_digest(tokenizer), "digest": digest, "sources": dict(sources or {})}
        meta = {"format": FORMAT, **made, "max_tokens": max_tokens, **counts}
        (partial / META).write_text(json.dumps(meta), encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        partial.replace(folder)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    logger.info("%s: %s", folder, ", ".join(f"{count} {name}" for name, count in counts.items()).replace("_", " "))
    return TokenStore.open(folder, tokenizer)


def _why_none(counts: Mapping[str, int], max_tokens: int, shortest: int | None) -> str:
    """Say why no sample is left, by reason."""
    reasons = []
    if counts["too_long"]:
        needs = "" if shortest is None else f": the shortest needs {shortest} (data.max_tokens)"
        reasons.append(f"{counts['too_long']} samples have no turn within {max_tokens} tokens{needs}")
    if counts["weightless"]:
        reasons.append(f"{counts['weightless']} have no turn that weighs anything")
    return ", ".join(reasons) or "there was no sample"


def _write(
    folder: Path, encoded: Iterable[TokenizedSample], max_tokens: int, watch: Callable[[TokenizedSample], None] | None
) -> tuple[dict[str, int], str, int | None]:
    """Write the arrays, and return the counts, a digest of all that was written, and the tokens that the shortest of
    the samples needs which are too long.
    """
    digest = hashlib.sha256()
    shortest: int | None = None
    counts = Counter(dict.fromkeys(COUNTS, 0))
    due = paced()
    with ExitStack() as stack:
        files = {name: stack.enter_context((folder / f"{name}.bin").open("wb")) for name in (*ARRAYS, "starts")}
        files["starts"].write(np.int64(0).tobytes())
        for item in encoded:
            if watch is not None:
                watch(item)
            too_long = counts["too_long"]
            spans = list(_spans_to_keep(item, max_tokens, counts))
            if counts["too_long"] > too_long and item.turns:
                shortest = item.turns[0] if shortest is None else min(shortest, item.turns[0])
            for start, stop in spans:
                weights = item.weights[start:stop].copy()
                weights[0] = 0
                arrays = {"ids": item.ids[start:stop], "weights": weights, "observed": item.observed[start:stop]}
                for name, array in arrays.items():
                    files[name].write(array.tobytes())
                    digest.update(array.tobytes())
                counts.update(samples=1, tokens=stop - start, learned=int((weights > 0).sum()))
                stands = np.int64(counts["tokens"]).tobytes()
                files["starts"].write(stands)
                digest.update(stands)
            if due():
                logger.info("encoding: %d samples, %d tokens so far", counts["samples"], counts["tokens"])
        for file in files.values():
            file.flush()
            os.fsync(file.fileno())
    return dict(counts), digest.hexdigest()[:16], shortest


def _spans_to_keep(item: TokenizedSample, max_tokens: int, counts: Counter[str]) -> Iterator[tuple[int, int]]:
    """Yield the spans of a sample's tokens that go into the store."""
    length = len(item.ids)
    if item.sample.messages[0]["role"] == TEXT:
        yield from (span for span in pairwise([*range(0, length, max_tokens), length]) if span[1] - span[0] > 1)
        return
    fit = [turn for turn in item.turns if turn <= max_tokens]
    stop = length if length <= max_tokens else max(fit, default=0)
    counts["lost_turns"] += len(item.turns) - len(fit)
    if not stop:
        counts["too_long"] += 1
    elif not (item.weights[:stop][item.observed[:stop]] > 0).any():
        counts["weightless" if stop == length else "too_long"] += 1
    else:
        counts.update(cut=stop < length, turns=len(fit))
        yield 0, stop


def _mapped(path: Path, kind: str, length: int) -> Any:
    expected = length * np.dtype(kind).itemsize
    size = path.stat().st_size if path.is_file() else 0
    if size != expected:
        raise SpecError(path, "bytes", size, f"{expected}; build the store anew")
    return np.memmap(path, dtype=kind, mode="r", shape=(length,))
