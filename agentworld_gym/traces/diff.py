"""Where two recordings of the same actions part: the same episode in two worlds, turn by turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, Literal

from agentworld_gym.traces.log import TraceEpisode, TraceStep, read_trace

Part = Literal["observation", "action", "failure", "missing"]
"""What differs: what was seen, what was done, whether the world failed, or that one side has no such turn."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn as one side has it; turn 0 is the start.

    `observation` is None where the world was not asked (`finish`). A `failure` is what the world said of itself.
    """

    number: int
    action: str
    observation: str | None
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Departure:
    """One turn at which the sides differ. A side that ended earlier is None."""

    part: Part
    left: Turn | None
    right: Turn | None

    @property
    def number(self) -> int:
        """The turn's number."""
        side = self.left or self.right
        return side.number if side else 0

    def lines(self) -> list[str]:
        """The difference as a unified diff, without its header."""
        left, right = (_shown(side, self.part) for side in (self.left, self.right))
        return [
            line for line in unified_diff(left, right, lineterm="", n=2) if not line.startswith(("---", "+++", "@@"))
        ]


@dataclass(frozen=True, slots=True)
class EpisodeDiff:
    """One episode on two sides. `right` is None where the other recording has no such episode.

    `turns` counts what was done on the left side, `agreed` those of them that are the same on both.
    """

    task_id: str
    seed: int | None
    left: str
    right: str | None
    turns: int
    departures: tuple[Departure, ...]
    agreed: int = 0

    @property
    def same(self) -> bool:
        """Whether both sides have the episode, turn by turn the same."""
        return self.right is not None and not self.departures


def compare(left: Sequence[Turn], right: Sequence[Turn]) -> tuple[Departure, ...]:
    """Every turn at which two sides differ. After different actions nothing can be compared: that turn is the last.

    >>> a = [Turn(0, "", "$"), Turn(1, "ls", "a")]
    >>> [d.part for d in compare(a, [Turn(0, "", "$"), Turn(1, "ls", "b")])]
    ['observation']
    """
    found: list[Departure] = []
    for one, other in zip_longest(left, right):
        part = _part(one, other)
        if part is not None:
            found.append(Departure(part, one, other))
        if part in ("action", "missing"):
            break
    return tuple(found)


def agreeing(left: Sequence[Turn], right: Sequence[Turn]) -> int:
    """How many turns after the start are the same on both sides; those after different actions are not.

    >>> a = [Turn(0, "", "$"), Turn(1, "ls", "a"), Turn(2, "pwd", "/")]
    >>> agreeing(a, a), agreeing(a, [Turn(0, "", "$"), Turn(1, "cd", ""), Turn(2, "pwd", "/")])
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
    """Compare two traces episode by episode: those of the same task and seed, in the order they were played.

    Raises:
        TraceError: nothing there, or not a trace.
    """
    others: dict[tuple[Any, ...], list[TraceEpisode]] = {}
    for episode in read_trace(right):
        others.setdefault(_key(episode), []).append(episode)
    for episode in read_trace(left):
        waiting = others.get(_key(episode))
        twin = waiting.pop(0) if waiting else None
        turns, seen = turns_of(episode), turns_of(twin) if twin else []
        departures = compare(turns, seen) if twin else ()
        alike = agreeing(turns, seen)
        yield EpisodeDiff(
            *_names(episode), episode.id, twin.id if twin else None, len(turns) - 1, departures, agreed=alike
        )
    for waiting in others.values():
        for twin in waiting:
            yield EpisodeDiff(*_names(twin), "", twin.id, len(twin.steps), (Departure("missing", None, _start(twin)),))


def turns_of(episode: TraceEpisode) -> list[Turn]:
    """An episode's turns, the start first. Of a turn that failed and was tried again only the last try counts."""
    turns = {step.turn: _turn(step) for step in episode.steps}
    return [_start(episode), *turns.values()]


def _start(episode: TraceEpisode) -> Turn:
    return Turn(0, "", str(episode.start.get("observation", "")))


def _turn(step: TraceStep) -> Turn:
    world = step.world or {}
    failure = world.get("failure") or step.info.get("failure")
    return Turn(step.turn, step.action, world.get("observation"), failure["message"] if failure else None)


def _part(one: Turn | None, other: Turn | None) -> Part | None:
    if one is None or other is None:
        return "missing"
    if one.action != other.action:
        return "action"
    if one.failure != other.failure:
        return "failure"
    return "observation" if one.observation != other.observation else None


def _shown(side: Turn | None, part: Part) -> list[str]:
    if side is None:
        return ["(no such turn)"]
    if part == "failure" and side.failure is not None:
        return [f"the world failed: {side.failure}"]
    return ((side.action if part in ("action", "missing") else side.observation) or "").split("\n")


def _key(episode: TraceEpisode) -> tuple[Any, ...]:
    return *_names(episode), repr(episode.start.get("controls")), episode.start.get("control_seed")


def _names(episode: TraceEpisode) -> tuple[str, int | None]:
    return str(episode.start.get("task_id", "")), episode.start.get("seed")
