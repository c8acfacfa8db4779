"""Fidelity that several processes measure: each replays sessions, and searches plans, in worlds of its own."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, islice
from typing import Any

from agentworld_gym.base.process.elsewhere import Elsewhere
from agentworld_gym.core.contracts import Teachable
from agentworld_gym.core.flow import Flow, Work
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.evaluation.fidelity.cases import ReplayCase, cases_of
from agentworld_gym.evaluation.fidelity.consistency_ratio import Searched, searched
from agentworld_gym.evaluation.fidelity.replay import Replay, replaying
from agentworld_gym.llm.rows.row import Row


@dataclass
class ReplayedSession:
    """What the replay of one session gave."""

    case: ReplayCase | None
    """The session; None where the true world no longer repeats it."""

    taught: Replay | None = None
    """The steps with the true history; None where the world cannot be taught."""

    free: Replay | None = None
    """The steps with the world's own history; None where nobody asked for them."""


def replayed_elsewhere(
    options: EnvOptions, grounded: str, rows: Sequence[Row], free: bool, elsewhere: Elsewhere
) -> Generator[tuple[int, ReplayedSession], None, None]:
    """Replay sessions in other processes, and yield each with its place as it ends.

    Args:
        options: The world to judge.
        grounded: The handle of the world to be true to.
        rows: The sessions.
        free: Whether to ask with the world's own history too.
        elsewhere: What does it.
    """
    with closing(elsewhere(partial(_Replaying, options.keywords(), grounded, free), rows, None)) as replays:
        yield from replays


def searched_elsewhere(
    options: EnvOptions, grounded: str, seeds: Sequence[int], planner: str, elsewhere: Elsewhere
) -> Generator[tuple[int, Searched], None, None]:
    """Search plans in other processes, and yield those of each task with the place of its seed; see `consistency`.

    Args:
        options: The world to judge.
        grounded: The handle of the world to be true to.
        seeds: The seeds of the tasks.
        planner: The handle of the policy that draws the plans.
        elsewhere: What does it.
    """
    with closing(elsewhere(partial(_Searching, options.keywords(), grounded, planner), seeds, None)) as searches:
        yield from searches


class _Worlds:
    """The world to judge and the true one, in one process."""

    def __init__(self, options: dict[str, Any], grounded: str, width: int) -> None:
        opened, self._width = EnvOptions(**options), width
        with ExitStack() as stack:
            self._runner = stack.enter_context(closing(opened.runner()))
            self._truth = stack.enter_context(closing(opened.runner_of_truth(grounded, self._runner)))
            self._opened = stack.pop_all()

    def close(self) -> None:
        """Close both."""
        self._opened.close()


class _Replaying(_Worlds):
    """Replays sessions, some at a time."""

    def __init__(self, options: dict[str, Any], grounded: str, free: bool, name: str, width: int) -> None:
        super().__init__(options, grounded, width)
        self._free = free

    def work(self, items: Iterator[Row]) -> Iterator[tuple[int, ReplayedSession]]:
        """Replay each session with the true history, and with the world's own."""
        places = count()
        with closing(Flow[ReplayedSession]()) as flow:
            while True:
                for row in islice(items, self._width - flow.under_way):
                    (case,) = cases_of([row], self._truth)
                    flow.send([(next(places), self._replayed(case))])
                if not flow.under_way:
                    return
                yield from flow.recv()

    def _replayed(self, case: ReplayCase | None) -> Work[ReplayedSession]:
        done = ReplayedSession(case)
        if case is None:
            return done
        if isinstance(self._runner.world, Teachable):
            done.taught = Replay()
        if self._free or done.taught is None:
            done.free = Replay()
        kinds = [(True, done.taught), (False, done.free)]
        yield [replaying(self._runner, case, taught, into) for taught, into in kinds if into is not None]
        return done


class _Searching(_Worlds):
    """Searches plans for tasks, some at a time."""

    def __init__(self, options: dict[str, Any], grounded: str, planner: str, name: str, width: int) -> None:
        super().__init__(options, grounded, width)
        self._planner = planner

    def work(self, items: Iterator[int]) -> Iterator[tuple[int, Searched]]:
        """Search the plans of each task."""
        place = 0
        while seeds := list(islice(items, self._width)):
            found = searched(self._runner, self._truth, seeds, policy=self._planner, wave=self._width)
            for seed in seeds:
                yield place, found[seed]
                place += 1


def merged(into: Replay, of: Replay, case: int) -> None:
    """Add what the replay of one session gave to that of others, under the number of its case."""
    into.steps += [replace(step, case=case) for step in of.steps]
    for found in of.probed.values():
        into.probed[case] = found
    into.wrong |= {(case, turn): text for (_, turn), text in of.wrong.items()}
    into.usage += of.usage
    into.lost += of.lost
    into.answered += of.answered
    into.exact += of.exact
    into.failures.update(of.failures)
