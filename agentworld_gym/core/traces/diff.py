"""The turns at which two traces of the same actions differ, such as those of one episode in two worlds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, Literal

from agentworld_gym.core.traces.log import TraceEpisode, TraceStep, read_trace

Part = Literal["observation", "action", "failure", "missing"]
"""What differs: what the agent saw, what it did, whether the world failed, or that one side has no such turn."""


@dataclass(frozen=True, slots=True)
class TraceTurn:
    """One turn as one side has it."""

    number: int
    """The number of the turn; 0 is the start."""

    action: str
    """What the agent did."""

    observation: str | None
    """What the world showed; None where the world was not asked, as on `finish`."""

    failure: str | None = None
    """The message of the world's failure."""

    step: TraceStep | None = None
    """The recorded step, on the side of a trace."""


@dataclass(frozen=True, slots=True)
class Departure:
    """One turn at which the sides differ."""

    part: Part
    """What differs."""

    left: TraceTurn | None
    """The turn on the left side; None where that side ended earlier."""

    right: TraceTurn | None
    """The turn on the right side; None where that side ended earlier."""

    @property
    def number(self) -> int:
        """The number of the turn."""
        side = self.left or self.right
        return side.number if side else 0

    def lines(self) -> list[str]:
        """Return the difference as the lines of a unified diff, without its header."""
        left, right = (_lines(side, self.part) for side in (self.left, self.right))
        return [
            line for line in unified_diff(left, right, lineterm="", n=2) if not line.startswith(("---", "+++", "@@"))
        ]


@dataclass(frozen=True, slots=True)
class EpisodeDiff:
    """One episode on two sides."""

    task_id: str
    """The id of the task."""

    seed: int | None
    """The seed of the episode."""

    left: str
    """The id of the episode on the left side; empty where that side has no such episode."""

    right: str | None
    """The id of the episode on the right side; None where that side has no such episode."""

    turns: int
    """How many turns the left side has after the start."""

    departures: tuple[Departure, ...]
    """The turns at which the sides differ."""

    agreed: int = 0
    """How many turns after the start are the same on both sides."""

    @property
    def same(self) -> bool:
        """Whether both sides have the episode, and all of its turns are the same."""
        return self.right is not None and not self.departures


def compare(left: Sequence[TraceTurn], right: Sequence[TraceTurn]) -> tuple[Departure, ...]:
    """Return every turn at which two sides differ.

    Nothing can be compared after different actions, so that such a turn is the last.

    >>> a = [TraceTurn(0, "", "$"), TraceTurn(1, "ls", "a")]
    >>> [d.part for d in compare(a, [TraceTurn(0, "", "$"), TraceTurn(1, "ls", "b")])]
    ['observation']
    """
    departures: list[Departure] = []
    for one, other in zip_longest(left, right):
        part = _part(one, other)
        if part is not None:
            departures.append(Departure(part, one, other))
        if part in ("action", "missing"):
            break
    return tuple(departures)


def agreeing(left: Sequence[TraceTurn], right: Sequence[TraceTurn]) -> int:
    """Count the turns after the start that are the same on both sides; those after different actions are not.

    >>> a = [TraceTurn(0, "", "$"), TraceTurn(1, "ls", "a"), TraceTurn(2, "pwd", "/")]
    >>> agreeing(a, a), agreeing(a, [TraceTurn(0, "", "$"), TraceTurn(1, "cd", ""), TraceTurn(2, "pwd", "/")])
    (2, 0)
    """
    count = 0
    for one, other in islice(zip(left, right, strict=False), 1, None):
        part = _part(one, other)
        if part == "action":
            break
        count += part is None
    return count


def diff_traces(left: Path, right: Path) -> Iterator[EpisodeDiff]:
    """Compare two traces episode by episode: those of the same task and seed, in the order in which they were played.

    Args:
        left: The folder or the file of one trace; see `read_trace`.
        right: The folder or the file of the other one.

    Raises:
        MissingFile: There is nothing.
        TraceError: It is no trace.
    """
    for one, twin in pairs(read_trace(left), read_trace(right)):
        if one is None:
            assert twin is not None
            yield EpisodeDiff(*_names(twin), "", twin.id, len(twin.steps), (Departure("missing", None, _start(twin)),))
            continue
        turns, others_turns = turns_of(one), turns_of(twin) if twin else []
        departures = compare(turns, others_turns) if twin else ()
        alike = agreeing(turns, others_turns)
        yield EpisodeDiff(*_names(one), one.id, twin.id if twin else None, len(turns) - 1, departures, agreed=alike)


def pairs(
    left: Iterable[TraceEpisode], right: Iterable[TraceEpisode]
) -> Iterator[tuple[TraceEpisode | None, TraceEpisode | None]]:
    """Pair the episodes of two traces by task, seed and controls, in the order in which they were played.

    Yields:
        Each episode of the left side with its twin, and then those of the right side that are left over; None stands
        for an episode that is not there.
    """
    others: dict[tuple[Any, ...], list[TraceEpisode]] = {}
    for episode in right:
        others.setdefault(_key(episode), []).append(episode)
    for episode in left:
        waiting = others.get(_key(episode))
        yield episode, waiting.pop(0) if waiting else None
    for waiting in others.values():
        for twin in waiting:
            yield None, twin


def turns_of(episode: TraceEpisode) -> list[TraceTurn]:
    """Return the turns of an episode, the start first; of a turn that was tried again only the last try counts."""
    turns = {step.turn: _turn(step) for step in episode.steps}
    return [_start(episode), *turns.values()]


def _start(episode: TraceEpisode) -> TraceTurn:
    return TraceTurn(0, "", str(episode.start.get("observation", "")))


def _turn(step: TraceStep) -> TraceTurn:
    world = step.world or {}
    failure = world.get("failure") or step.info.get("failure")
    return TraceTurn(step.turn, step.action, world.get("observation"), failure["message"] if failure else None, step)


def _part(one: TraceTurn | None, other: TraceTurn | None) -> Part | None:
    if one is None or other is None:
        return "missing"
    if one.action != other.action:
        return "action"
    if one.failure != other.failure:
        return "failure"
    return "observation" if one.observation != other.observation else None


def _lines(side: TraceTurn | None, part: Part) -> list[str]:
    if side is None:
        return ["(no such turn)"]
    if part == "failure" and side.failure is not None:
        return [f"the world failed: {side.failure}"]
    return ((side.action if part in ("action", "missing") else side.observation) or "").split("\n")


def _key(episode: TraceEpisode) -> tuple[Any, ...]:
    return *_names(episode), repr(episode.start.get("controls")), episode.start.get("control_seed")


def _names(episode: TraceEpisode) -> tuple[str, int | None]:
    return str(episode.start.get("task_id", "")), episode.start.get("seed")
