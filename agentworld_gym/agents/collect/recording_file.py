"""Recording sessions of grounded worlds into a file of rows, in parallel.

A session is a function of the seed and its number alone, so that any number of workers gives the same bytes, and a
recording that was interrupted, even by a kill, goes on where it stopped. Sessions that may have ended their process are
played again in one of their own, up to three times; what ends that one too is left out. The workers may be on other
machines.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import lru_cache, partial
from itertools import chain, count
from pathlib import Path
from typing import Any

from agentworld_gym.agents.collect.config import CollectConfig
from agentworld_gym.agents.collect.recorder import AHEAD, TRIES, Recorder
from agentworld_gym.base.documents.json_lines import JsonlWriter
from agentworld_gym.base.errors import AgentWorldError, SpecError
from agentworld_gym.base.process.elsewhere import Elsewhere
from agentworld_gym.base.process.parallel import AHEAD as BATCHES_AHEAD
from agentworld_gym.base.process.parallel import WorkerDied, batches, outlived
from agentworld_gym.core.domain.spec import DomainSpec, load_spec
from agentworld_gym.core.domain.task import Split
from agentworld_gym.llm.rows.row import Row, content_digest
from agentworld_gym.llm.rows.row_reading import read_rows

logger = logging.getLogger(__name__)

Progress = Callable[[int], None]
"""A function that is called with the number of rows in the file: at the start, and whenever some were written."""

BATCH = 4
WIDTH = 16
"""How many sessions a model plays at a time in each process, where nothing is said."""

FAR = 1024
"""How many sessions behind the first one that is not over may have begun on other machines."""

LEAST = 16
"""The fewest sessions that are played on other machines together."""

MOST_REPEATED = 1000
"""The number of sessions in a row without anything new that ends a recording, because there are no more."""

_START = b'{"task":"'


def collect(
    specs: Sequence[DomainSpec],
    out: Path,
    episodes: int,
    seed: int,
    config: CollectConfig | None = None,
    split: Split = "train",
    workers: int = 1,
    progress: Progress | None = None,
    on_row: Callable[[Mapping[str, Any]], None] | None = None,
    width: int = WIDTH,
    elsewhere: Elsewhere | None = None,
) -> int:
    """Record sessions into a JSONL file until it holds `episodes` of them, going on from those it holds already.

    The domains take turns, and rows are in the order of their numbers. A session that repeats an earlier one, or has no
    turn, is left out, and its number is missing. So is one that ends its process, once the recording is started again;
    a warning names it. A torn last line is cut off at the start.

    Args:
        specs: The domains.
        out: The file of rows, which one process at a time writes.
        episodes: The number of rows that the file shall hold.
        seed: The seed of all sessions.
        config: The configuration: who plays what.
        split: The split of the tasks to play.
        workers: The number of processes that play.
        progress: A function that is called as rows are written.
        on_row: A function that is called with each row that is added.
        width: The number of sessions that a model plays at a time, in each process. Policies play one after the other.
        elsewhere: What plays the sessions; None plays them on this machine.

    Returns:
        The number of rows that were added.

    Raises:
        SpecError: The file holds something else, or another recording.
        TraceError: The file cannot be written, or another process writes it.
        WorkerDied: A session ended the process that played it; started again, the recording goes on without it.
        AgentWorldError: There are not so many different sessions.
    """
    config = config or CollectConfig()
    recorder = Recorder(specs, config, seed, split)
    recorder.close()  # What it was asked for stays readable; the workers have recorders of their own.
    setting = tuple(map(_source, specs)), config.model_dump_json(), seed, split
    _must_be_rows(out)
    writer = JsonlWriter(out)
    died, opened = False, ExitStack()
    playing = out.with_name(f"{out.name}.playing")
    try:
        seen, first = _recorded(out, recorder.recording, partial(_differences, recorder, seed, split))
        if progress:
            progress(len(seen))
        missing = added = max(0, episodes - len(seen))
        repeated = 0
        at_a_time = 1 if config.agent is None else width
        doubted = _doubted(playing, first, _under_way(workers, at_a_time))
        if elsewhere is None:
            rest = _played(setting, count(doubted.stop), workers, at_a_time)
        else:
            rest = _played_elsewhere(setting, doubted.stop, lambda: missing, elsewhere)
        opened.enter_context(closing(rest))
        again = opened.enter_context(closing(_survivors(setting, doubted)))
        if elsewhere is None:
            playing.write_text("")
        for batch in chain(again, rest) if missing else ():
            rows = _unseen(batch, seen)[:missing]
            repeated = 0 if rows else repeated + len(batch)
            writer.write(rows)
            if on_row:
                for row in rows:
                    on_row(row)
            missing -= len(rows)
            if progress:
                progress(episodes - missing)
            if not missing:
                break
            if repeated >= MOST_REPEATED:
                raise AgentWorldError(
                    f"{out}: after {episodes - missing} sessions {repeated} more were nothing new; ask for fewer, or "
                    "for more families, levels or policies"
                )
        return added
    except WorkerDied as error:
        died = True
        if error.item is not None:
            playing.write_text(str(error.item))
        raise
    finally:
        opened.close()
        _close_recorder(setting)
        if not died:
            playing.unlink(missing_ok=True)
        writer.close()


_Setting = tuple[tuple[str, ...], str, int, Split]
"""The specs, the configuration as JSON, the seed and the split: what a worker needs, in a form that can be a key."""


def _source(spec: DomainSpec) -> str:
    """Return what `load_spec` loads a spec from, in its dialect."""
    source = str(spec.path) if spec.path.name else spec.id
    return source if spec.speaks_first_dialect else f"{source}:{spec.dialect}"


def _unseen(batch: Sequence[dict[str, Any] | None], seen: set[str]) -> list[dict[str, Any]]:
    """Return the rows of a batch that repeat no session seen before, and count them as seen."""
    unseen = []
    for row in batch:
        if row is None:
            continue
        digest = content_digest(row["system_str"], row["actions"], row["observations"])
        if digest not in seen:
            seen.add(digest)
            unseen.append(row)
    return unseen


def _played(
    setting: _Setting, numbers: Iterable[int], workers: int, at_a_time: int
) -> Generator[list[dict[str, Any] | None], None, None]:
    """Play sessions and yield their rows in order, some at a time."""
    if workers > 1 or at_a_time == 1:
        yield from batches(partial(_record, setting, at_a_time), numbers, workers, max(BATCH, at_a_time))
        return
    for row in _recorder(setting).rows(numbers, at_a_time):
        yield [_dumped(row)]


def _played_elsewhere(
    setting: _Setting, first: int, missing: Callable[[], int], elsewhere: Elsewhere
) -> Generator[list[dict[str, Any] | None], None, None]:
    """Play sessions on other machines and yield their rows in order: as many as are missing, and so on."""
    while True:
        numbers = range(first, first + max(LEAST, missing()))
        try:
            with closing(_in_order(setting, numbers, FAR, elsewhere)) as rows:
                for row in rows:
                    yield [row]
                    first += 1
        except WorkerDied as error:
            error.item = None if error.item is None else numbers[error.item]
            raise


def recorded_elsewhere(
    specs: Sequence[DomainSpec],
    config: CollectConfig,
    seed: int,
    split: Split,
    numbers: Sequence[int],
    elsewhere: Elsewhere,
) -> Generator[Row | None, None, None]:
    """Play the sessions of some numbers in other processes and yield their rows, in the order of the numbers."""
    setting = tuple(map(_source, specs)), config.model_dump_json(), seed, split
    with closing(_in_order(setting, numbers, None, elsewhere)) as rows:
        for row in rows:
            yield None if row is None else Row.model_validate(row)


def _in_order(
    setting: _Setting, numbers: Sequence[int], ahead: int | None, elsewhere: Elsewhere
) -> Generator[dict[str, Any] | None, None, None]:
    ended: dict[int, dict[str, Any] | None] = {}
    following = 0
    with closing(elsewhere(partial(_Recording, setting), numbers, ahead)) as playing:
        for place, row in playing:
            ended[place] = row
            while following in ended:
                yield ended.pop(following)
                following += 1


class _Recording:
    """Plays sessions on another machine; items are their numbers."""

    def __init__(self, setting: _Setting, name: str, width: int) -> None:
        self._recorder, self._width = _opened(setting), width

    def work(self, items: Iterator[int]) -> Iterator[tuple[int, dict[str, Any] | None]]:
        """Play the sessions, in the order of their numbers."""
        for place, row in enumerate(self._recorder.rows(items, self._width)):
            yield place, _dumped(row)

    def close(self) -> None:
        """Close the worlds."""
        self._recorder.close()


def _doubted(playing: Path, first: int, under_way: int) -> range:
    """Return the sessions that may have ended the process that played them, or the one that this file names."""
    if not playing.exists():
        return range(first, first)
    named = playing.read_text()
    return range(first, int(named) + 1 if named else first + under_way)


def _under_way(workers: int, at_a_time: int) -> int:
    """Return how many sessions behind the last row may have begun."""
    batch = max(BATCH, at_a_time)
    return batch * BATCHES_AHEAD * workers if workers > 1 else max(batch, AHEAD * at_a_time)


def _survivors(setting: _Setting, numbers: Iterable[int]) -> Generator[list[dict[str, Any] | None], None, None]:
    """Play sessions in a process that they may end, one after the other, and yield the rows of those that do not."""
    numbers, play = list(numbers), partial(_record, setting, 1)
    for number, first in zip(numbers, outlived(play, numbers), strict=True):
        played = first
        for _ in range(TRIES - 1):  # Somebody else may have ended that process too.
            if isinstance(played, WorkerDied):
                [played] = outlived(play, [number])
        if isinstance(played, WorkerDied):
            logger.warning("session %d is left out, because it ended the process that played it: %s", number, played)
            yield [None]
        else:
            yield played


def _record(setting: _Setting, at_a_time: int, numbers: Sequence[int]) -> list[dict[str, Any] | None]:
    return [_dumped(row) for row in _recorder(setting).rows(numbers, at_a_time)]


def _dumped(row: Row | None) -> dict[str, Any] | None:
    return None if row is None else row.model_dump()


@lru_cache(maxsize=1)
def _recorder(setting: _Setting) -> Recorder:
    return _opened(setting)


def _close_recorder(setting: _Setting) -> None:
    """Close the recorder of this process, if it has one."""
    if _recorder.cache_info().currsize:
        _recorder(setting).close()
        _recorder.cache_clear()


def _opened(setting: _Setting) -> Recorder:
    sources, config, seed, split = setting
    return Recorder([load_spec(source) for source in sources], CollectConfig.model_validate_json(config), seed, split)


def _must_be_rows(path: Path) -> None:
    """Refuse a file that holds anything but rows, so that it stays as it is."""
    if not path.exists():
        return
    with path.open("rb") as file:
        start = file.read(len(_START))
    if not _START.startswith(start):
        raise SpecError(path, "line 1", start.decode("utf-8", "replace"), "rows; record to another file")


def _differences(recorder: Recorder, seed: int, split: Split, row: Row) -> dict[str, tuple[Any, Any]]:
    """Compare what a row was recorded with and what is asked for.

    Returns:
        Both values by name where they differ: of what was asked for, else of the world that was opened for it.
    """
    origin, defaults = row.provenance, CollectConfig().model_dump(mode="json")
    # The seed of a row is that of its task; the seed of the recording stands in the id, before the number.
    told = row.id.split("-")[-2:-1]
    recorded = {"seed": int(told[0]) if told and told[0].isdecimal() else None, "split": row.split}
    recorded |= {**defaults, **origin.settings} if origin.settings else {}
    asked = {"seed": seed, "split": split, **defaults, **recorder.settings}
    differing = {key: (value, asked.get(key)) for key, value in recorded.items() if value != asked.get(key)}
    if differing:
        return differing
    here = recorder.provenances.get((row.domain, row.dialect))
    if here is None:
        return {"domain": (row.domain, ", ".join(recorder.settings["domains"]))}
    compared = {key: (getattr(origin, key), getattr(here, key)) for key in ("package", "variant", "fingerprint")}
    return {f"provenance.{key}": values for key, values in compared.items() if values[0] != values[1]}


def _recorded(
    path: Path, recording: str, differences: Callable[[Row], dict[str, tuple[Any, Any]]]
) -> tuple[set[str], int]:
    """Return the digests of the sessions in a file, and the number of the next session."""
    seen: set[str] = set()
    following = 0
    for line, row in enumerate(read_rows(path), 1):
        if row.provenance.recording != recording or row.number is None:
            different = differences(row) or {"provenance.recording": (row.provenance.recording, recording)}
            (key, (got, wanted)), *more = different.items()
            also = "".join(f", and {name} {asked!r} instead of {told!r}" for name, (told, asked) in more)
            rest = "" if key != "provenance.recording" else ": the same settings, engines and prompts"
            expected = f"{wanted!r}{also}, as asked for now{rest}; record to another file"
            raise SpecError(path, f"line {line}: {key}", got, expected)
        seen.add(row.digest())
        following = row.number + 1
    return seen, following
