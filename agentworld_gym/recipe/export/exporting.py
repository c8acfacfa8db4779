"""Recorded sessions as what trainers of agents read, one session at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

from agentworld_gym.base.process.parallel import batches
from agentworld_gym.recipe.export.agent_session import AgentSession, ExportTally
from agentworld_gym.recipe.export.folder import ExportedTables, JsonLines, appearing, write_card
from agentworld_gym.recipe.export.messages import chat, task_prompt, tool_chat
from agentworld_gym.recipe.export.minari_datasets import MinariDatasets, MinariEpisodes
from agentworld_gym.recipe.export.preference import Pairs
from agentworld_gym.recipe.export.reading import Recorded, SessionReader, recorded

Format = Literal["chat", "tools", "prompt-completion", "prompt-only", "preference", "minari", "parquet"]
"""What an export writes."""

PLAYED: Sequence[Format] = ("preference", "minari")
"""The formats for which sessions are played again, which takes long."""

Only = Literal["success", "all"]
"""Which sessions an export takes."""

BATCH = 16
"""How many sessions a process is given at a time."""

AGAIN = "its task has a prompt already"
"""Why a session of a task gives no second prompt."""


def export(
    files: Sequence[Path],
    form: Format,
    out: Path,
    only: Only = "success",
    on_session: Callable[[int], None] | None = None,
    workers: int = 1,
) -> ExportTally:
    """Write recorded sessions to a folder that appears once it is whole: a file for each split, and a card.

    Sessions are read a few at a time, and none is kept. Where nothing could be written, no folder appears.

    Args:
        files: Files of rows and agent logs, as `reading.recordings` finds them.
        form: What to write.
        out: The folder, which must not be there yet, or be empty.
        only: Whether to take sessions that solved their task, or all.
        on_session: A function that is called with the number of sessions that were read.
        workers: The number of processes that make the lines, which are the same whatever their number.

    Returns:
        What was read, written and left out.

    Raises:
        SpecError: A line is broken, or the folder is there; the error names file, line and key.
        TraceError: A line of a trace is broken; the error names file, line and field.
        AgentWorldError: A library is missing.
        WorldNotConfigured: Preferences and Minari need a grounded world that is not there.
        WorkerDied: A worker ended by itself.

    >>> from tempfile import TemporaryDirectory
    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> from agentworld_gym.agents.collect.config import CollectConfig
    >>> from agentworld_gym.agents.collect.recording_file import collect
    >>> with TemporaryDirectory() as folder:
    ...     rows, out = Path(folder) / "rows.jsonl", Path(folder) / "chat"
    ...     _ = collect([load_spec("terminal")], rows, 2, 0, CollectConfig(policies={"expert": 1.0}))
    ...     tally = export([rows], "chat", out)
    ...     tally.written, sorted(path.name for path in out.iterdir())
    (2, ['README.md', 'train.jsonl'])
    """
    tally = ExportTally()
    sessions = chain.from_iterable(map(recorded, files))
    with appearing(out) as folder:
        _write(sessions, form, folder, only, tally, on_session, workers)
        if tally.kept and form != "minari":
            write_card(folder, form, tally)
    return tally


class _Lines(NamedTuple):
    """The lines of a session."""

    split: str
    domain: str
    lines: list[dict[str, Any]]


class _Maker:
    """Makes the lines of sessions, and keeps what serves several of them, such as worlds."""

    def __init__(self, form: Format, only: Only) -> None:
        self._reader = SessionReader(only == "success")
        self._player = Pairs() if form == "preference" else MinariEpisodes() if form == "minari" else None
        self._of = _FORMS[form] if self._player is None else self._player.of

    def make(self, some: Iterable[Recorded]) -> list[_Lines | str]:
        """Return the lines of each session, or why it is left out."""
        return list(map(self._lines, some))

    def _lines(self, one: Recorded) -> _Lines | str:
        session = self._reader.read(one)
        if isinstance(session, str):
            return session
        made = self._of(session)
        if isinstance(made, str):
            return made
        return _Lines(session.split, session.spec.source, made) if made else "no action that could be read"

    def close(self) -> None:
        """Close the worlds."""
        if self._player is not None:
            self._player.close()


def _made(form: Format, only: Only, some: list[Recorded]) -> list[_Lines | str]:
    return _maker(form, only).make(some)


@lru_cache(maxsize=1)
def _maker(form: Format, only: Only) -> _Maker:
    """Return the maker of a worker process."""
    return _Maker(form, only)


def _write(
    sessions: Iterable[Recorded],
    form: Format,
    folder: Path,
    only: Only,
    tally: ExportTally,
    on_session: Callable[[int], None] | None,
    workers: int,
) -> None:
    kind = ExportedTables if form == "parquet" else MinariDatasets if form == "minari" else JsonLines
    files: ExportedTables | MinariDatasets | JsonLines = kind(folder)
    prompted: set[tuple[str, str]] = set()
    with closing(files), closing(_Maker(form, only)) as maker:
        make = maker.make if workers == 1 else partial(_made, form, only)
        at_a_time = 1 if form in PLAYED else BATCH
        with closing(batches(make, sessions, workers, at_a_time)) as found:
            for made in chain.from_iterable(found):
                if form == "prompt-only" and not isinstance(made, str):
                    task = made.domain, made.lines[0]["task_id"]
                    made = AGAIN if task in prompted else made
                    prompted.add(task)
                if not isinstance(made, str):
                    for line in made.lines:
                        files.write(made.split, line)
                _count(tally, made, on_session)


def _count(tally: ExportTally, made: _Lines | str, on_session: Callable[[int], None] | None) -> None:
    tally.read += 1
    if isinstance(made, str):
        tally.left[made] += 1
    else:
        tally.kept += 1
        tally.written += len(made.lines)
        tally.splits[made.split] += len(made.lines)
        tally.domains[made.domain] += 1
    if on_session:
        on_session(tally.read)


def _chat(session: AgentSession) -> list[dict[str, Any]]:
    return [{"messages": chat(session), **session.labels()}]


def _tools(session: AgentSession) -> list[dict[str, Any]] | str:
    made = tool_chat(session)
    return made if isinstance(made, str) else [{**made._asdict(), **session.labels()}]


def _turns(session: AgentSession) -> list[dict[str, Any]]:
    messages = chat(session)
    plain = [{"role": message["role"], "content": message["content"]} for message in messages]
    return [
        {"prompt": plain[:place], "completion": plain[place : place + 1], "turn": place // 2, **session.labels()}
        for place, message in enumerate(messages)
        if message["train"]
    ]


def _prompt(session: AgentSession) -> list[dict[str, Any]]:
    return [{"prompt": task_prompt(session), "env_id": session.spec.env_id, **session.labels()}]


_FORMS: Mapping[Format, Callable[[AgentSession], list[dict[str, Any]] | str]] = {
    "chat": _chat,
    "tools": _tools,
    "prompt-completion": _turns,
    "prompt-only": _prompt,
    "parquet": _chat,
}
"""What makes the lines of a session alone."""
