"""Reads sessions from files of rows and from traces, one at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from agentworld_gym.base.errors import MissingFile, SpecError
from agentworld_gym.core.domain.spec import DomainSpec, load_spec
from agentworld_gym.core.domain.task import Task, split_of
from agentworld_gym.core.registration import domain_of_env, find_domain
from agentworld_gym.core.screens import screen_of
from agentworld_gym.core.tasks import families
from agentworld_gym.core.tasks.source import TaskSource
from agentworld_gym.core.traces.log import TraceEpisode, read_header, stream_trace
from agentworld_gym.llm.prompting.agent_prompt import takes_calls
from agentworld_gym.llm.rows.pools import GROUNDED
from agentworld_gym.llm.rows.replayed_states import variant_of
from agentworld_gym.llm.rows.rerendering import spec_of, task_of
from agentworld_gym.llm.rows.row import Row
from agentworld_gym.llm.rows.row_reading import row_lines, row_of_line
from agentworld_gym.recipe.export.agent_session import AgentSession, Tools
from agentworld_gym.recipe.export.looks import with_looks
from agentworld_gym.recipe.export.session_prompt import TaskTools

_AGENT, _WORLD = ".agent.jsonl", ".world.jsonl"
_EXPECTED = "sessions that `agentworld collect` or `import` wrote, or traces"


def recordings(paths: Sequence[Path]) -> list[Path]:
    """Return the files of rows and the agent logs that paths name; of a folder those that it holds.

    Raises:
        SpecError: A path names none.
    """
    files: list[Path] = []
    for path in paths:
        if not path.exists():
            raise MissingFile(path, _EXPECTED)
        inside = [path.with_name(path.name.replace(_WORLD, _AGENT))] if path.is_file() else _inside(path)
        if not inside or not all(file.is_file() and _is_recording(file) for file in inside):
            raise SpecError("command line", "RUNS", str(path), _EXPECTED)
        files += inside
    return list(dict.fromkeys(files))


def session_count(file: Path) -> int:
    """Return how many sessions a file of rows or an agent log begins."""
    with file.open("rb") as lines:
        return sum(not file.name.endswith(_AGENT) or b'"turn":0,' in line for line in lines)


def _inside(folder: Path) -> list[Path]:
    found = [*folder.glob("*.jsonl"), *folder.glob(f"*/*{_AGENT}")]
    return sorted(file for file in found if not file.name.endswith(_WORLD) and _is_recording(file))


def _is_recording(file: Path) -> bool:
    """Whether a file begins as rows or as an agent log do."""
    if file.name.endswith(_AGENT):
        return True
    with file.open("rb") as data:
        try:
            first = json.loads(data.readline() or b"{}")
        except ValueError:
            return False
    return isinstance(first, dict) and "task" in first and "prompt" in first


class Recorded(NamedTuple):
    """One session as it lies in a file: what a process that reads it is sent."""

    file: Path
    """The file."""

    line: int
    """The number of its line in a file of rows; 0 in an agent log."""

    content: bytes | TraceEpisode
    """The line, or the episode of an agent log."""


def recorded(file: Path) -> Iterator[Recorded]:
    """Yield the sessions of a file of rows, or of an agent log, as they lie there.

    Raises:
        TraceError: A line is no row of a trace; the error names file, line and field.
    """
    if file.name.endswith(_AGENT):
        return (Recorded(file, 0, episode) for episode in stream_trace(file))
    return (Recorded(file, number, line) for number, line in row_lines(file))


class SessionReader:
    """Reads sessions one at a time, and says of those that are left out why they are.

    Args:
        only_success: Whether to leave out sessions that are not known to have solved their task.
    """

    def __init__(self, only_success: bool = True) -> None:
        self._only_success, self._tools = only_success, TaskTools()
        self._runs: dict[Path, tuple[DomainSpec | None, str]] = {}

    def read(self, one: Recorded) -> AgentSession | str:
        """Return a session, or why it is left out.

        Raises:
            SpecError: A line is no row; the error names file, line and key.
        """
        if isinstance(one.content, bytes):
            return self._of_row(row_of_line(one.content, one.file, one.line))
        if one.file not in self._runs:
            header = read_header(one.file)
            spec = _spec_of_run(str(header.get("env")), header.get("fingerprint") or {})
            self._runs[one.file] = spec, str(header.get("run"))
        return self._of_trace(one.content, *self._runs[one.file])

    def _of_row(self, row: Row) -> AgentSession | str:
        """Return the session of a row, or why it is left out."""
        if self._only_success and not row.success:
            return "no success"
        if find_domain(row.domain) is None:
            return f"the domain {row.domain} is not here"
        if not row.actions:
            return "no plain actions"
        if not row.instruction:
            return "no instruction"
        find_task = partial(task_of, row)
        spec = spec_of(row)
        tools = self._tools_of(spec, row.family, row.task_id, find_task)
        if tools is None:
            return "the tools of its task are not known"
        acted = row.turn_idx - row.probes
        first, actions, observations = row.first_observation, row.actions[:acted], row.observations[:acted]
        if row.provenance.source == GROUNDED and _folds(row.domain):
            task = find_task()
            lived = None if task is None else with_looks(row, task, spec)
            if lived is None:
                return "its world shows something else now"
            first, actions, observations = lived
        if not actions and row.finish is None:
            return "no action"
        return AgentSession(
            id=row.id,
            spec=spec,
            tools=tools,
            instruction=row.instruction,
            first=first,
            actions=actions if row.finish is None else (*actions, row.finish),
            observations=observations,
            success=row.success,
            score=row.score,
            task_id=row.task_id,
            family=row.family,
            level=row.level,
            seed=row.seed,
            split=row.split or "train",
            policy=row.policy,
            variant=variant_of(row),
            find_task=find_task,
        )

    def _tools_of(self, spec: DomainSpec, family: str, task_id: str, find_task: partial[Task | None]) -> Tools | None:
        # Hand-written tasks share a family, and nothing else.
        made = family if family in families(spec.id) else ""
        tools = self._tools.of(spec.id, made, task_id, find_task)
        if tools is None and not (takes_calls(spec) and not spec.action.tools):
            return ()  # The tools are those of the domain.
        return tools

    def _of_trace(self, episode: TraceEpisode, spec: DomainSpec | None, run: str) -> AgentSession | str:
        if not episode.steps or not (episode.steps[-1].terminated or episode.steps[-1].truncated):
            return "it did not end"
        start, last = episode.start, episode.steps[-1]
        success = last.info.get("success")
        if "failure" in last.info:
            return "the world failed"
        if self._only_success and not success:
            return "no success"
        if spec is None:
            return "a run with another spec than is here"
        if "parent" in start:
            return "a fork of another episode"
        if start.get("agents", 1) > 1:
            return "several agents shared it"
        # An agent that left, or whose context was full, did not write the `finish` that scored it.
        left = last.info.get("written") == ""
        steps = episode.steps[:-1] if left else episode.steps
        if not steps:
            return "its agent did nothing"
        find_task = partial(_task_of_trace, spec.source, start)
        family, level = start.get("family") or "", start.get("level")
        tools = self._tools_of(spec, family, start["task_id"], find_task)
        task = None if family in families(spec.id) else find_task()
        if tools is None:
            return "the tools of its task are not known"
        seed = _seed_of(start["task_id"], family, level)
        instruction, _, first = start["observation"].partition("\n\n")
        if task is not None:
            instruction = task.instruction
            first = start["observation"].removeprefix(instruction).removeprefix("\n\n")
        return AgentSession(
            id=f"{run}/{episode.id}",
            spec=spec,
            tools=tools,
            instruction=instruction,
            first=first,
            actions=tuple(step.action for step in steps),
            observations=tuple(step.observation for step in steps),
            success=success,
            score=last.info.get("score"),
            task_id=start["task_id"],
            family=family,
            level=level,
            seed=seed,
            split="train" if seed is None else split_of(seed),
            policy="",
            variant="",
            find_task=find_task,
            refused=_refused(episode),
            left=left,
        )


def _refused(episode: TraceEpisode) -> dict[int, str]:
    """Return the errors of the actions that were refused, by their places."""
    errors = (step.info.get("action_error") for step in episode.steps)
    return {place: error for place, error in enumerate(errors) if error is not None}


def _folds(domain: str) -> bool:
    """Whether rows of a domain leave out the looks at the screen."""
    screen = screen_of(domain)
    return screen is not None and screen.look_tool is not None


def _spec_of_run(env: str, fingerprint: Mapping[str, Mapping[str, Any]]) -> DomainSpec | None:
    """Return the spec of a run, in its dialect, which its digest tells; None where it is not here."""
    domain = domain_of_env(env)
    if domain is None:
        return None
    spec = load_spec(domain)
    if len(spec.dialects) < 2:
        return spec
    digest = fingerprint.get("spec", {}).get("value")
    return next((one for one in spec.in_every_dialect() if one.digest() == digest), None)


def _seed_of(task_id: str, family: str, level: int | None) -> int | None:
    """Return the seed in the id of a generated task; None for any other one."""
    rest = task_id.removeprefix(f"{family}-{level}-")
    return int(rest) if family and rest != task_id and rest.isdecimal() else None


def _task_of_trace(source: str, start: Mapping[str, Any]) -> Task | None:
    """Return the task of an episode of a trace; None where it cannot be made again."""
    named = start.get("task") or start["task_id"]
    options = {key: start[key] for key in ("controls", "control_seed") if start.get(key) is not None}
    try:
        return _source(source).pick(0, {"task": named, **options})
    except SpecError:
        return None


@lru_cache(maxsize=16)
def _source(source: str) -> TaskSource:
    return TaskSource(load_spec(source))
