"""The order in which steps that never wait for each other are handed out: recorded, and given again in a replay."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from typing import Any, Protocol

from agentworld_gym.core.contracts import World
from agentworld_gym.worlds.recordings.format import HandedOut, RecordedBatch
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

    def handed_out(self, steps: Sequence[HandedOut], under_way: int) -> None:
        """Take notice of the steps that are handed out together.

        Args:
            steps: The steps, in their order.
            under_way: How many steps were under way before, these included.
        """
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

    def handed_out(self, steps: Sequence[HandedOut], under_way: int) -> None:
        """Write a line of the recording.

        Raises:
            TraceError: The file cannot be written.
        """
        self._world.record_order(steps, under_way)


class RecordedOrder:
    """Hands out steps in the batches and in the order of a recording, however long the answers take.

    A recording may hold several runs. The replay follows the last one that had begun the same episodes before its first
    step was handed out. Where there is none, and where the replay later does something else than that run, it leaves
    the order, and a line of the log says why. From there on steps are handed out as they end.

    Args:
        world: The recorded world.
    """

    def __init__(self, world: RecordedWorld) -> None:
        self._world, self._place = world, 0
        self._batches: Sequence[RecordedBatch] | None = None  # None until the first batch is due.

    def due(self, under_way: Collection[str], least: int) -> list[str] | None:
        """Return the episodes of the next batch; equal calls return the same one until it was handed out."""
        if self._batches is None:
            self._batches = self._world.orders.get(tuple(self._world.begun), ())
            if not self._batches:
                self._leave("no run in it that took steps as they came began with the same episodes")
        elif self._batches and self._place == len(self._batches):
            self._leave("it ends here")
        if not self._batches:
            return None
        batch = self._batches[self._place]
        names = [name for name, _ in batch.steps]
        if missing := [name for name in names if name not in under_way]:
            self._leave(f"{missing[0]} has no step under way in the replay")
        elif len(under_way) != batch.under_way:
            self._leave(f"{len(under_way)} steps are under way in the replay, and {batch.under_way} were in the run")
        elif len(names) < min(least, len(under_way)):
            self._leave(f"the replay waits for {least} steps")
        else:
            return names
        return None

    def handed_out(self, steps: Sequence[HandedOut], under_way: int) -> None:
        """Go on to the next batch."""
        if not self._batches:
            return
        replayed, recorded = dict(steps), self._batches[self._place].steps
        self._place += 1
        if wrong := next(((name, number) for name, number in recorded if replayed.get(name) != number), None):
            name, number = wrong
            self._leave(f"step {number} of {name} is step {replayed.get(name)} in the replay")

    def _leave(self, why: str) -> None:
        where = f"{self._world.path}: the replay leaves the recorded order at batch {self._place + 1}"
        log.warning("%s: %s; steps are handed out as they end", where, why)
        self._batches = ()


def order_of(world: World[Any]) -> EventOrder | None:
    """Return what records the order of steps in a world, or gives a recorded one again; None leaves it to time.

    >>> from agentworld_gym.worlds.scripted import ScriptedWorld
    >>> order_of(ScriptedWorld()) is None
    True
    """
    if isinstance(world, RecordingWorld):
        return OrderRecording(world)
    if isinstance(world, RecordedWorld) and world.orders:
        return RecordedOrder(world)
    return None
