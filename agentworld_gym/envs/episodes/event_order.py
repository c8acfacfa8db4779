"""The order in which steps that never wait for each other are handed out: recorded, and given again in a replay."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Protocol

from agentworld_gym.core.contracts import World
from agentworld_gym.worlds.recordings.format import HandedOut
from agentworld_gym.worlds.recordings.recorded_world import RecordedWorld
from agentworld_gym.worlds.recordings.recording_world import RecordingWorld

log = logging.getLogger(__name__)


class EventOrder(Protocol):
    """Who follows, or decides, which steps are handed out together and in which order."""

    def due(self, under_way: Collection[str], least: int) -> Sequence[str] | None:
        """Return the episodes whose steps are to be handed out next, of those under way; None leaves it to time.

        Args:
            under_way: The names of the episodes that have a step under way.
            least: How many steps the caller waits for at least.
        """
        ...

    def handed_out(self, steps: Sequence[HandedOut]) -> None:
        """Take notice of the steps that are handed out together, in their order."""
        ...


class OrderRecording:
    """Writes the order of the steps into the recording of their world.

    Args:
        world: The world that is recorded.
    """

    def __init__(self, world: RecordingWorld) -> None:
        self._world = world

    def due(self, under_way: Collection[str], least: int) -> None:
        """Leave the order to time."""

    def handed_out(self, steps: Sequence[HandedOut]) -> None:
        """Write a line of the recording.

        Raises:
            TraceError: The file cannot be written.
        """
        self._world.record_order(steps)


class RecordedOrder:
    """Hands out steps in the batches and in the order of a recording, however long the answers take.

    A replay that sends something else than the recorded run leaves the order, and a line of the log says where. From
    there on steps are handed out as they end.

    Args:
        path: The file of the recording, for the log.
        batches: The steps that were handed out together, batch by batch.

    >>> order = RecordedOrder(Path("run.jsonl"), [[("e1", 1)], [("e0", 1), ("e1", 2)]])
    >>> order.due(["e0", "e1"], 1)
    ['e1']
    """

    def __init__(self, path: Path, batches: Sequence[Sequence[HandedOut]]) -> None:
        self._path, self._batches, self._place = path, batches, 0

    def due(self, under_way: Collection[str], least: int) -> list[str] | None:
        """Return the episodes of the next batch; equal calls return the same one until it was handed out."""
        if self._place >= len(self._batches):
            return None
        names = [name for name, _ in self._batches[self._place]]
        if missing := [name for name in names if name not in under_way]:
            self._leave(f"{missing[0]} has no step under way in the replay")
        elif len(names) < min(least, len(under_way)):
            self._leave(f"the replay waits for {least} steps")
        else:
            return names
        return None

    def handed_out(self, steps: Sequence[HandedOut]) -> None:
        """Go on to the next batch."""
        if self._place >= len(self._batches):
            return
        pairs = zip(self._batches[self._place], steps, strict=True)
        self._place += 1
        if wrong := next(((*one, other[1]) for one, other in pairs if one != other), None):
            self._leave("step {1} of {0} is step {2} in the replay".format(*wrong))

    def _leave(self, why: str) -> None:
        log.warning("%s: the replay leaves the recorded order at batch %d: %s", self._path, self._place + 1, why)
        self._batches = ()


def order_of(world: World[Any]) -> EventOrder | None:
    """Return what records the order of steps in a world, or gives a recorded one again; None leaves it to time."""
    if isinstance(world, RecordingWorld):
        return OrderRecording(world)
    if isinstance(world, RecordedWorld) and world.order:
        return RecordedOrder(world.path, world.order)
    return None
