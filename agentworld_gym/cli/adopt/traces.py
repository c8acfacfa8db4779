"""Recordings alone as what is adopted: their sessions are split, and written as a small model reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from agentworld_gym.base.documents.atomic_files import write_atomically
from agentworld_gym.base.documents.json_lines import JsonlWriter
from agentworld_gym.base.errors import MissingFile, SpecError
from agentworld_gym.core.actions.parser import ActionParser
from agentworld_gym.core.actions.syntaxes import calls_tools
from agentworld_gym.core.domain.spec import DomainSpec, Form, load_spec
from agentworld_gym.core.domain.task import FREE_PLAY, Split, Task
from agentworld_gym.core.registration import find_domain
from agentworld_gym.kit.live.environments import ENVIRONMENT_SPEC
from agentworld_gym.llm.prompting.prompt import Prompts
from agentworld_gym.llm.prompting.prompt_options import PromptOptions
from agentworld_gym.llm.rows.pools import BENCHMARK, draw, group_of, split_of_row
from agentworld_gym.llm.rows.rerendering import rerendered, spec_source, task_of
from agentworld_gym.llm.rows.row import Row, content_digest
from agentworld_gym.llm.rows.row_reading import row_lines, row_of_line
from agentworld_gym.recipe.importers.conversation import ImportedCall
from agentworld_gym.recipe.importers.turns import inferred_tools
from agentworld_gym.worlds.recorded_tasks import RecordedTasks

LEAST = 20
"""The fewest different sessions that can be adopted, and the fewest groups by which they are split."""

SPLITS: tuple[Split, ...] = ("train", "validation", "test")

CHARACTERS = 3.8
"""How many characters a token of a small model has, as measured on sessions of a tool server."""

HELD_OUT_SHARE = 10
"""One of so many sessions is held out to measure on, and another one to watch the training by."""


def trace_files(paths: Sequence[Path]) -> list[Path]:
    """Return the files of rows that some paths name: files, and all `*.jsonl` in folders.

    Raises:
        SpecError: There is no such file.
    """
    files: list[Path] = []
    for path in paths:
        found = sorted(file for file in path.rglob("*.jsonl") if file.is_file()) if path.is_dir() else [path]
        if not found or not found[0].is_file():
            raise MissingFile(path, "a file of rows, or a folder with *.jsonl files that hold them", "traces")
        files += found
    return files


def spec_of_traces(paths: Sequence[Path]) -> str:
    """Return the spec that the first session names: a domain, or that of text environments.

    Raises:
        SpecError: It names none that this package ships, or there is no session.
    """
    for file, number, row in _rows(trace_files(paths)):
        if row.domain == load_spec(ENVIRONMENT_SPEC).id:
            return ENVIRONMENT_SPEC
        if find_domain(row.domain) is None:
            expected = "a domain that this package ships; or pass --domain, as in --domain my.yaml"
            raise SpecError(file, f"line {number}: task", row.task, expected)
        return spec_source(row)
    raise SpecError(", ".join(map(str, paths)), "sessions", 0, f"at least {LEAST}")


def _rows(files: Iterable[Path]) -> Iterator[tuple[Path, int, Row]]:
    """Yield the rows of files, each with its file and line.

    Raises:
        SpecError: A line is no row.
    """
    for file in files:
        for number, line in row_lines(file):
            try:
                row = row_of_line(line, file, number)
            except SpecError as error:
                expected = (
                    f"{error.expected}: rows are what `agentworld collect` and `agentworld import` write; "
                    f"`agentworld import {file} --out rows.jsonl` reads other formats"
                )
                raise SpecError(error.file, error.key, error.value, expected) from error
            yield file, number, row


@dataclass(frozen=True)
class TakenSessions:
    """How the sessions of some files were split."""

    sessions: dict[Split, int]
    """How many sessions each split has."""

    actions: int
    """How many actions the sessions have."""

    unread: int
    """How many of these the domain cannot read, so that the world answers them with an error of its own."""

    characters: int
    """How many characters their messages have."""

    by: str
    """By what they are split: `task`, or `session`."""

    left: dict[str, int]
    """How many sessions were left out, by reason."""

    @property
    def told(self) -> str:
        """What was taken, in words."""
        train, validation, test = (self.sessions.get(split, 0) for split in SPLITS)
        said = f"{train:,} sessions to learn from, {validation} to watch the training by, {test} to measure on, "
        said += f"split by {self.by}: {self.actions:,} actions, {tokens_of(self.characters)}"
        said += f"; {self.unread:,} of the actions cannot be read" if self.unread else ""
        return said + "".join(f"; left out: {count:,} {why}" for why, count in sorted(self.left.items()))


Place = tuple[Path, int]
"""The file of a session, and its line."""


@dataclass(frozen=True)
class _Found:
    """A session that can be taken."""

    group: str
    stated: Split | None


def take(
    paths: Sequence[Path], spec: DomainSpec, folder: Path, tasks: Path, most: int, held_out: int, chosen: bool
) -> TakenSessions:
    """Split the sessions of some files, and write those of each split and their tasks.

    Splits that the sessions state are kept. Else a tenth is drawn to measure on, and another to watch the training by:
    whole tasks where there are enough of them, single sessions elsewhere. A session that repeats another one is left
    out, so that none is learned from and measured on.

    Args:
        paths: Files of rows, and folders of them.
        spec: The domain.
        folder: Where `train.jsonl`, `validation.jsonl` and `test.jsonl` are written.
        tasks: The file of the tasks.
        most: The most sessions to learn from.
        held_out: The most sessions to measure on, and the most to watch the training by.
        chosen: Whether the user chose the domain, so that sessions of others are left out.

    Raises:
        SpecError: A line is no row, sessions are of several domains, there are too few, or they lie in the folder.
    """
    files, left = trace_files(paths), Counter[str]()
    for file in files:
        if file.resolve().is_relative_to(folder.resolve()):
            raise SpecError("command line", "--out", str(folder.parent), f"another folder: {file} would be replaced")
    seen, found = set[str](), dict[Place, _Found]()
    called = dict[str, ImportedCall]()
    for file, number, row in _rows(files):
        other = (row.domain, row.dialect) != (spec.id, spec.dialect)
        if other and not chosen:
            expected = f"{spec.source}, as in the first session; --domain takes the sessions of one domain"
            raise SpecError(file, f"line {number}: task", f"{row.domain}:{row.dialect}".rstrip(":"), expected)
        digest = content_digest(f"{row.instruction}\0{row.first_observation}", row.actions, row.observations)
        why = "of another domain" if other else _unfit(row) or ("repeats another one" if digest in seen else None)
        if why is not None:
            left[why] += 1
            continue
        seen.add(digest)
        stated = split_of_row(row) if row.seed is not None or row.split is not None else None
        found[file, number] = _Found(group_of(row), stated)
        called |= {f"{call.name} {call.arguments}": call for call in filter(None, map(_call, row.actions))}
    if len(found) < LEAST:
        why = "".join(f"; {count} left out: {reason}" for reason, count in sorted(left.items()))
        raise SpecError(", ".join(map(str, paths)), "sessions", len(found), f"at least {LEAST} different ones{why}")
    splits, by = _split(found, most, held_out)
    if missing := [split for split in SPLITS if split not in splits.values()]:
        expected = f"some for {' and '.join(missing)}, beside those whose split the recordings state"
        raise SpecError(", ".join(map(str, paths)), "sessions", len(found), expected)
    own = ActionParser(spec).tool_names()
    foreign = (call for call in called.values() if call.name not in own)
    tools = inferred_tools(foreign) if calls_tools(spec.action.syntax) else ()
    return TakenSessions(by=by, left=dict(left), **_write(files, splits, spec, tools, folder, tasks))


def _unfit(row: Row) -> str | None:
    """Return why a session cannot be taken; None where it can."""
    if row.provenance.source == BENCHMARK:
        return "of AgentWorldBench, which is for testing alone"
    return None if row.actions and row.observations else "without plain actions"


def _call(action: str) -> ImportedCall | None:
    """Return the call of a tool that an action is, without the values of its arguments; None where it is none."""
    try:
        call: Any = orjson.loads(action)
        given = call["arguments"]
        arguments = orjson.loads(given) if isinstance(given, str) else given
        return ImportedCall("", str(call["name"]), orjson.dumps(dict.fromkeys(arguments)).decode())
    except (orjson.JSONDecodeError, TypeError, LookupError):
        return None


def _split(found: Mapping[Place, _Found], most: int, held_out: int) -> tuple[dict[Place, Split], str]:
    """Return the split of each session that is taken, and by what they are split."""
    by_task = LEAST <= len({one.group for one in found.values()}) < len(found)
    lots: dict[str, list[Place]] = {}
    for place, one in found.items():
        lots.setdefault(one.group if by_task else f"{place[0]}:{place[1]}", []).append(place)
    order = sorted(lots, key=lambda lot: draw(f"adopt/{lot}"))
    free = [lot for lot in order if all(found[place].stated in ("train", None) for place in lots[lot])]
    share = len(found) // HELD_OUT_SHARE
    splits: dict[Place, Split] = {}
    held: tuple[Split, ...] = ("test", "validation")
    for split in held:
        stated = [place for lot in order for place in lots[lot] if found[place].stated == split]
        missing = 0 if stated else min(held_out, share)
        for lot in [lot for lot in free if len(lots[lot]) <= share]:  # A task of most sessions is learned from.
            if missing <= 0:
                break
            free.remove(lot)
            stated += lots[lot]
            missing -= len(lots[lot])
        splits |= dict.fromkeys(stated[:held_out], split)
    learned = [place for lot in free for place in lots[lot]]
    return splits | dict.fromkeys(learned[:most], "train"), "task" if by_task else "session"


def _write(
    files: Sequence[Path],
    splits: Mapping[Place, Split],
    spec: DomainSpec,
    tools: tuple[dict[str, Any], ...],
    folder: Path,
    tasks: Path,
) -> dict[str, Any]:
    """Write the sessions and the tasks; return how many there are."""
    form: Form = "change" if spec.turn.restates else "full"
    prompts = Prompts(spec, PromptOptions("compact", form).for_domain(spec.id))
    folder.mkdir(parents=True, exist_ok=True)
    paths = {split: folder / f"{split}.jsonl" for split in SPLITS}
    for path in paths.values():
        path.unlink(missing_ok=True)
    writers = {split: JsonlWriter(path) for split, path in paths.items()}
    told, parser = dict[str, Task](), ActionParser(spec)
    ids, count = Counter[str](), Counter[str]()
    try:
        for file, number, row in _rows(files):
            split = splits.get((file, number))
            if split is None:
                continue
            ids[row.id] += 1
            name = row.id if ids[row.id] == 1 else f"{row.id}#{ids[row.id]}"
            task = _task_of(row, name, split)
            whole = task.model_copy(update={"tools": (*task.tools, *tools)})
            own = {"id": name, "task_id": name, "family": FREE_PLAY, "level": None, "seed": None, "split": split}
            first = prompts.first_observation(whole)
            written = rerendered(row.model_copy(update={**own, "first_observation": first}), prompts, whole)
            writers[split].write([written.model_dump(mode="json")])
            alike = task.model_dump_json(exclude={"id"})
            if split != "train" or alike not in told:
                told[alike if split == "train" else name] = task
            count["actions"] += len(row.actions)
            count["unread"] += sum(parser.parse(action, whole.tools).error is not None for action in row.actions)
            count["characters"] += characters_of(written)
    finally:
        for writer in writers.values():
            writer.close()
    recorded = RecordedTasks(domain=spec.id, tools=tools, tasks=tuple(told.values()))
    write_atomically(tasks, recorded.model_dump_json() + "\n")
    return {"sessions": dict(Counter(splits.values())), **count}


def characters_of(row: Row) -> int:
    """Return how many characters the messages of a session have."""
    return sum(len(message["content"]) for message in row.messages())


def tokens_of(characters: float) -> str:
    """Say about how many tokens of a small model some characters are.

    >>> tokens_of(3_852_074)
    'about 1,014,000 tokens a pass'
    """
    return f"about {round(characters / CHARACTERS, -3):,.0f} tokens a pass"


def _task_of(row: Row, name: str, split: Split) -> Task:
    """Return the task of a session: as its family makes it, or else as the recording tells it, which tests nothing."""
    made = task_of(row)
    if made is not None:
        return made.model_copy(update={"id": name, "split": split})
    return Task(
        id=name,
        domain=row.domain,
        instruction=row.instruction or "(not recorded)",
        first_observation=row.first_observation,
        family=FREE_PLAY,
        success=(),
        split=split,
    )
