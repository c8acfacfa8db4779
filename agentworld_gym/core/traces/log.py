"""The two logs of every run, joined by ids: what the worlds did, and what the agents did.

The logs are apart because policy and world are both stochastic, so that one can be compared while the other is held
still. Each file is JSONL, and its first line is a header with the world's fingerprint. Rows are flushed once a wave.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from agentworld_gym.base.documents.json_lines import JsonlWriter, check_fields, read_jsonl
from agentworld_gym.base.errors import MissingFile, TraceError
from agentworld_gym.base.fingerprint import Fingerprint

FORMAT = "agentworld-trace-1"
WORKER = "worker-"
"""What the names of folders begin with in which the workers of one run keep their logs."""

THINK_END = "</think>"
"""What ends the thinking that a model wrote in front of its answer."""


class Logs(Protocol):
    """Where the rows of runs go."""

    def write(self, world: Sequence[Mapping[str, Any]], agent: Sequence[Mapping[str, Any]]) -> None:
        """Take the rows of one wave: those of the world log, and those of the agent log."""
        ...

    def close(self) -> None:
        """Take no more rows."""
        ...


class TraceLogs:
    """The world log and the agent log of one run, in `folder/<run>.world.jsonl` and `folder/<run>.agent.jsonl`.

    Args:
        folder: The folder of the logs.
        env_id: The id of the environment.
        fingerprint: The fingerprint of the world.
        lock: The digest of the lock that pins the world; None where nothing pins it.

    Raises:
        TraceError: A file cannot be written.
    """

    def __init__(self, folder: Path, env_id: str, fingerprint: Fingerprint, lock: str | None = None) -> None:
        self.run = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{os.getpid()}-{os.urandom(3).hex()}"
        header: dict[str, Any] = {"format": FORMAT, "run": self.run, "env": env_id}
        header["opened"] = round(time.time(), 3)
        header["fingerprint"] = fingerprint.as_dict()
        if lock is not None:
            header["lock"] = lock
        self._opened = time.monotonic()
        self.world = JsonlWriter(folder / f"{self.run}.world.jsonl")
        self.agent = JsonlWriter(folder / f"{self.run}.agent.jsonl")
        self.world.write([{**header, "log": "world"}])
        self.agent.write([{**header, "log": "agent"}])

    def write(self, world: Sequence[Mapping[str, Any]], agent: Sequence[Mapping[str, Any]]) -> None:
        """Append the rows of one wave, each with `at`: the seconds since the logs were opened."""
        at = round(time.monotonic() - self._opened, 4)
        self.world.write([{**row, "at": at} for row in world])
        self.agent.write([{**row, "at": at} for row in agent])

    def close(self) -> None:
        """Close both files."""
        self.world.close()
        self.agent.close()


@dataclass(frozen=True)
class TraceStep:
    """One step of an episode, from both logs."""

    turn: int
    """The number of the step, from 1 on."""

    action: str
    """What the agent did."""

    observation: str
    """What the agent saw."""

    reward: float
    """The reward of the step."""

    terminated: bool
    """Whether the episode terminated."""

    truncated: bool
    """Whether the episode was truncated."""

    info: Mapping[str, Any]
    """The `info` of the step."""

    world: Mapping[str, Any] | None
    """The row of the world log; None where the world was not asked."""

    agent: str | None = None
    """The name of the agent, where several shared the episode under names of their own."""

    kind: str = "act"
    """What the action was for, where several agents shared the episode: a value of `contracts.ActionKind`."""

    at: float | None = None
    """When the step was logged, in seconds since the run began; None in traces that do not tell."""

    checks_s: float = 0.0
    """The seconds that the checks after the step took."""

    @property
    def thought(self) -> tuple[str, str]:
        """The thinking of the world model, whether it came apart or in front of the answer, and the rest of its
        completion.

        >>> TraceStep(1, "", "", 0, False, False, {}, {"completion": "<think>hm</think>yes"}).thought
        ('hm', 'yes')
        """
        world = self.world or {}
        thinking, completion = world.get("reasoning") or "", world.get("completion") or ""
        if not thinking and THINK_END in completion:
            thinking, _, completion = completion.partition(THINK_END)
            thinking = thinking.removeprefix("<think>")
        return thinking.strip("\n"), completion.strip("\n")


@dataclass(frozen=True)
class TraceEpisode:
    """One episode, from both logs."""

    id: str
    """The id of the episode."""

    start: Mapping[str, Any]
    """The row of its start: the task, the seed and the first observation."""

    system: str
    """The system prompt of a language world; it is empty in any other world."""

    steps: tuple[TraceStep, ...]
    """The steps."""

    shown: str = ""
    """What the world showed at the start, without the instruction; empty where the world log does not tell."""


def read_trace(path: Path) -> Iterator[TraceEpisode]:
    """Yield the episodes of a run, or of all runs in a folder, in the order in which they began.

    Args:
        path: The folder, or either of the two files of a run; see `agent_logs`.

    Raises:
        MissingFile: There is nothing.
        TraceError: It is no trace, or a line is no row of one; the error names file and line.
    """
    for agent in agent_logs(path):
        yield from _episodes(agent)


def stream_trace(agent_log: Path) -> Iterator[TraceEpisode]:
    """Yield the episodes of a run as they end, and at last those that did not, without the rows of the world log.

    Memory holds the episodes that are under way, however long the log is. A step that was tried again after a failure
    is there once, as it went the last time.

    Raises:
        TraceError: It is no trace, or a line is no row of one; the error names file and line.
    """
    read_header(agent_log)
    starts: dict[str, dict[str, Any]] = {}
    steps: dict[str, list[TraceStep]] = {}
    for number, row in _rows(agent_log):
        _check(row, agent_log, number)
        episode = row["episode"]
        if row["turn"] == 0:
            starts[episode], steps[episode] = row, []
        elif episode in steps:
            step, taken = _step(row, None), steps[episode]
            if taken and taken[-1].turn == step.turn and "failure" in taken[-1].info:
                taken.pop()
            taken.append(step)
            if (step.terminated or step.truncated) and not step.info.get("failure", {}).get("retryable"):
                yield TraceEpisode(episode, starts.pop(episode), "", tuple(steps.pop(episode)))
    for episode, start in starts.items():
        yield TraceEpisode(episode, start, "", tuple(steps[episode]))


def agent_logs(path: Path) -> list[Path]:
    """Return the agent logs of all runs in a folder, in the order in which the runs began, or that of one run.

    Args:
        path: The folder, or either of the two files of a run. Where a run had several workers, each of which kept logs
            in a folder `worker-N` of its own, the folder above holds them all.

    Raises:
        MissingFile: There is nothing.
    """
    if path.is_dir():
        logs = [*path.glob("*.agent.jsonl"), *path.glob(f"{WORKER}*/*.agent.jsonl")]
        agents = sorted(logs, key=lambda log: (log.name, log.parent))
    else:
        agents = [path.with_name(path.name.replace(".world.jsonl", ".agent.jsonl"))]
    if not agents or not all(agent.is_file() for agent in agents):
        raise MissingFile(path, "a folder with files RUN.agent.jsonl and RUN.world.jsonl, or one of them", "trace")
    return agents


def read_header(path: Path) -> dict[str, Any]:
    """Return the first line of a log: format, run, environment and fingerprint.

    Raises:
        TraceError: The file is no trace.
    """
    header = next(read_jsonl(path), {})
    if header.get("format") != FORMAT:
        raise TraceError(f"{path}: not a trace (expected a first line with format {FORMAT!r})")
    return header


_START: Mapping[str, Any] = {"episode": str, "turn": int, "task_id": str, "seed": int, "observation": str}
_FORK: Mapping[str, Any] = {"parent": str, "parent_turn": int}
_STEP: Mapping[str, Any] = {"episode": str, "turn": int, "action": str, "observation": str, "reward": float | int}
_STEP = {**_STEP, "terminated": bool, "truncated": bool, "info": dict}
_WORLD: Mapping[str, Any] = {"episode": str, "turn": int}


def _episodes(agent_file: Path) -> Iterator[TraceEpisode]:
    read_header(agent_file)
    world_file = agent_file.with_name(agent_file.name.replace(".agent.jsonl", ".world.jsonl"))
    worlds: dict[tuple[str, int], dict[str, Any]] = {}
    if world_file.is_file():
        for number, row in _rows(world_file):
            check_fields(row, _WORLD, world_file, number)
            worlds[row["episode"], row["turn"]] = row
    starts: dict[str, dict[str, Any]] = {}
    steps: dict[str, list[TraceStep]] = {}
    for number, row in _rows(agent_file):
        _check(row, agent_file, number)
        episode = row["episode"]
        if row["turn"] == 0:
            starts[episode], steps[episode] = row, []
            continue
        if episode not in steps:
            raise TraceError(
                f"{agent_file}: line {number}: a step of episode {episode}, whose start is not in the trace"
            )
        steps[episode].append(_step(row, worlds.get((episode, row["turn"]))))
    for episode, start in starts.items():
        begun = worlds.get((episode, 0), {})
        yield TraceEpisode(episode, start, begun.get("system", ""), tuple(steps[episode]), begun.get("observation", ""))


def _check(row: Mapping[str, Any], file: Path, number: int) -> None:
    """Check that a row of an agent log has what it must have.

    Raises:
        TraceError: It has not: the error names file, line and field.
    """
    check_fields(row, _START if row.get("turn") == 0 else _STEP, file, number)
    if row["turn"] == 0 and "parent" in row:
        check_fields(row, _FORK, file, number)


def _step(row: Mapping[str, Any], world: Mapping[str, Any] | None) -> TraceStep:
    """Return the step of a row of the agent log, with its row of the world log."""
    return TraceStep(
        row["turn"],
        row["action"],
        row["observation"],
        row["reward"],
        row["terminated"],
        row["truncated"],
        row["info"],
        world,
        row.get("agent"),
        row.get("kind", "act"),
        row.get("at"),
        row.get("checks_s", 0.0),
    )


def _rows(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Return the rows of a log after its header, each with the number of its line."""
    rows = enumerate(read_jsonl(file), 1)
    next(rows, None)
    return rows
