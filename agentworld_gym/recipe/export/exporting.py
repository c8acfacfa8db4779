"""Recorded sessions as what trainers of agents read, one session at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Literal, Protocol

from agentworld_gym.recipe.export.agent_session import AgentSession, ExportTally
from agentworld_gym.recipe.export.folder import JsonLines, Tables, appearing, write_card
from agentworld_gym.recipe.export.messages import chat, tool_chat
from agentworld_gym.recipe.export.minari_datasets import MinariDatasets
from agentworld_gym.recipe.export.preference import Pairs
from agentworld_gym.recipe.export.reading import SessionReader

Format = Literal["chat", "tools", "prompt-completion", "preference", "minari", "parquet"]
"""What an export writes."""

Only = Literal["success", "all"]
"""Which sessions an export takes."""


class _Output(Protocol):
    """Where the sessions of an export go."""

    def add(self, session: AgentSession) -> int | str:
        """Write a session; return how many lines it made, or why it is left out."""
        ...

    def close(self) -> None:
        """Write what waits, and let go of files and worlds."""
        ...


def export(
    files: Sequence[Path],
    form: Format,
    out: Path,
    only: Only = "success",
    on_session: Callable[[int], None] | None = None,
) -> ExportTally:
    """Write recorded sessions to a folder that appears once it is whole: a file for each split, and a card.

    Sessions are read one at a time, and none is kept. Where nothing could be written, no folder appears.

    Args:
        files: Files of rows and agent logs, as `reading.recordings` finds them.
        form: What to write.
        out: The folder, which must not be there yet, or be empty.
        only: Whether to take sessions that solved their task, or all.
        on_session: A function that is called with the number of sessions that were read.

    Returns:
        What was read, written and left out.

    Raises:
        SpecError: A line is broken, or the folder is there; the error names file, line and key.
        TraceError: A line of a trace is broken; the error names file, line and field.
        AgentWorldError: A library is missing.
        WorldNotConfigured: Preferences and Minari need a grounded world that is not there.

    >>> from tempfile import TemporaryDirectory
    >>> from agentworld_gym.core.domain.spec import load_spec
    >>> from agentworld_gym.recipe.collect.config import CollectConfig
    >>> from agentworld_gym.recipe.collect.recording_file import collect
    >>> with TemporaryDirectory() as folder:
    ...     rows, out = Path(folder) / "rows.jsonl", Path(folder) / "chat"
    ...     _ = collect([load_spec("terminal")], rows, 2, 0, CollectConfig(policies={"expert": 1.0}))
    ...     tally = export([rows], "chat", out)
    ...     tally.written, sorted(path.name for path in out.iterdir())
    (2, ['README.md', 'train.jsonl'])
    """
    tally = ExportTally()
    reader = SessionReader(tally, only == "success")
    with appearing(out) as folder:
        with closing(_output(form, folder)) as output:
            for session in (session for file in files for session in reader.read(file)):
                _count(tally, session, output.add(session))
                if on_session:
                    on_session(tally.read)
        if tally.kept and form != "minari":
            write_card(folder, form, tally)
    if on_session:
        on_session(tally.read)
    return tally


def _count(tally: ExportTally, session: AgentSession, added: int | str) -> None:
    if isinstance(added, str):
        tally.left[added] += 1
        return
    tally.kept += 1
    tally.written += added
    tally.splits[session.split] += added
    tally.domains[session.spec.source] += 1


def _output(form: Format, folder: Path) -> _Output:
    match form:
        case "minari":
            return _Played(folder)
        case "parquet":
            return _Lines(Tables(folder), _chat)
        case "chat":
            return _Lines(JsonLines(folder), _chat)
        case "tools":
            return _Lines(JsonLines(folder), _tools)
        case "prompt-completion":
            return _Lines(JsonLines(folder), _turns)
        case "preference":
            return _Preferences(JsonLines(folder))


class _Lines:
    """Lines that are made of a session alone."""

    def __init__(
        self, files: JsonLines | Tables, lines: Callable[[AgentSession], Iterator[dict[str, Any]] | str]
    ) -> None:
        self._files, self._lines = files, lines

    def add(self, session: AgentSession) -> int | str:
        lines = self._lines(session)
        if isinstance(lines, str):
            return lines
        count = 0
        for line in lines:
            self._files.write(session.split, line)
            count += 1
        return count or "no action that could be read"

    def close(self) -> None:
        self._files.close()


def _chat(session: AgentSession) -> Iterator[dict[str, Any]]:
    yield {"messages": chat(session), **session.labels()}


def _tools(session: AgentSession) -> Iterator[dict[str, Any]] | str:
    made = tool_chat(session)
    return made if isinstance(made, str) else iter([{**made._asdict(), **session.labels()}])


def _turns(session: AgentSession) -> Iterator[dict[str, Any]]:
    messages = chat(session)
    plain = [{"role": message["role"], "content": message["content"]} for message in messages]
    for place, message in enumerate(messages):
        if message["train"]:
            turn = {"prompt": plain[:place], "completion": plain[place : place + 1], "turn": place // 2}
            yield {**turn, **session.labels()}


class _Preferences:
    """Pairs, which grounded worlds prove."""

    def __init__(self, files: JsonLines) -> None:
        self._files, self._pairs = files, Pairs()

    def add(self, session: AgentSession) -> int | str:
        pairs = self._pairs.of(session)
        if isinstance(pairs, str):
            return pairs
        for pair in pairs:
            self._files.write(session.split, pair)
        return len(pairs)

    def close(self) -> None:
        self._files.close()
        self._pairs.close()


class _Played:
    """Episodes of Minari, which grounded worlds play."""

    def __init__(self, folder: Path) -> None:
        self._datasets = MinariDatasets(folder)

    def add(self, session: AgentSession) -> int | str:
        return self._datasets.add(session) or 1

    def close(self) -> None:
        self._datasets.close()
