"""The files that a stage learns from: they are found, read as samples, and recognised by their digests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from agentworld_gym.base.errors import MissingFile, SpecError
from agentworld_gym.core.domain.task import Split
from agentworld_gym.llm.rows.rerendering import is_of
from agentworld_gym.llm.rows.row_reading import read_rows
from agentworld_gym.llm.rows.samples import Sample, read_samples
from agentworld_gym.recipe.data.preparation import Preparation, PreparationReport, prepare
from agentworld_gym.recipe.data.text_corpora import DOMAIN as KNOWLEDGE


def data_files(sources: Sequence[str], split: Split) -> list[Path]:
    """Return the files that a configuration names; of a folder, the file of a split.

    Raises:
        SpecError: There is no such file.
    """
    paths = [_file(source, split) for source in sources]
    for path in paths:
        if not path.is_file():
            raise MissingFile(path, "what `agentworld collect`, `samples` or `think` wrote")
    return paths


def samples_of_files(
    paths: Iterable[Path],
    domains: Sequence[str],
    preparation: Preparation | None = None,
    workers: int = 1,
    told: Callable[[Path, PreparationReport], None] | None = None,
) -> Iterator[Sample]:
    """Yield the samples of files that hold samples, or rows that are to be prepared.

    Args:
        paths: The files.
        domains: The domains to keep; an empty sequence keeps all. `swe:claude-code` keeps the sessions of a dialect.
        preparation: How rows become samples; None where every file holds samples.
        workers: The number of processes that prepare rows; the samples and their order do not depend on it.
        told: A function that is called at the end of each file of rows, with their outcomes.

    Raises:
        SpecError: A dialect is to be kept of a file that holds samples, which do not name theirs.
    """
    for path in paths:
        if preparation is None or holds_samples(path):
            if spoken := next((name for name in domains if ":" in name), None):
                raise SpecError(path, "data.domains", spoken, "domains alone: samples do not name their dialects")
            wanted = {*domains, KNOWLEDGE}
            yield from (sample for sample in read_samples(path) if not domains or sample.domain in wanted)
        else:
            rows = (row for row in read_rows(path) if not domains or is_of(row, domains))
            samples, account = prepare(rows, preparation, workers)
            yield from samples
            if told is not None:
                told(path, account)


def file_digests(sources: Sequence[str], split: Split) -> dict[str, str]:
    """Return the digests of the content of the files that a configuration names, as far as they are there."""
    paths = [path for path in (_file(source, split) for source in sources) if path.is_file()]
    return {str(path): _digest(path) for path in paths}


def must_be_unchanged(before: Mapping[str, str]) -> None:
    """Compare files with digests that were taken of them earlier; a file that is gone is passed over.

    Raises:
        SpecError: A file holds something else.
    """
    for name, digest in before.items():
        path = Path(name)
        if path.is_file() and (current := _digest(path)) != digest:
            raise SpecError(
                path, "content", current, f"{digest}, which is encoded already, or another folder for the run"
            )


def _file(source: str, split: Split) -> Path:
    return Path(source) / f"{split}.jsonl" if Path(source).is_dir() else Path(source)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:16]


def holds_samples(path: Path) -> bool:
    """Return whether a file holds samples; otherwise it holds rows."""
    with path.open("rb") as file:
        line = file.readline()
    try:
        return "messages" in json.loads(line)
    except ValueError:
        return False  # the reader of rows says what is wrong with the line
