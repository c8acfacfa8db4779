"""One world of the playground, and a fork of its episode after each turn."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from agentworld_gym.core.contracts import Action
from agentworld_gym.core.screens import Place, is_graphical, screen_of
from agentworld_gym.core.screens.sight import Sight, shows
from agentworld_gym.core.traces.log import TraceLogs
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.episodes.step import Transition
from agentworld_gym.kit.rendering import RenderingUnavailable, latest

Row = Mapping[str, Any]
Rows = tuple[tuple[Row, ...], tuple[Row, ...]]
"""Rows of the world log, and rows of the agent log."""

EPISODE = "e0"
"""The name of the episode in a trace that is saved."""


class RowKeeper:
    """Logs that keep rows in memory until they are taken.

    >>> rows = RowKeeper()
    >>> rows.write([{"turn": 1}], [])
    >>> rows.taken()[0][0]["turn"], rows.taken()
    (1, ((), ()))
    """

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._world: list[Row] = []
        self._agent: list[Row] = []

    def write(self, world: Sequence[Row], agent: Sequence[Row]) -> None:
        """Keep rows, each with `at`: the seconds since the logs were opened."""
        at = round(time.monotonic() - self._began, 4)
        self._world += [{**row, "at": at} for row in world]
        self._agent += [{**row, "at": at} for row in agent]

    def taken(self) -> Rows:
        """Return the rows, which are then gone."""
        rows = tuple(self._world), tuple(self._agent)
        self._world, self._agent = [], []
        return rows

    def close(self) -> None:
        """Do nothing."""


@dataclass
class PlayedMoment:
    """An episode after one turn, or at its start. Its session stays as it is: each step is taken in a fork."""

    episode: Episode
    """The episode at this moment."""

    rows: Rows
    """What the logs hold of this turn."""

    by: str = ""
    """Who acted; empty at the start."""

    asked: str | Action = ""
    """What was done, as it was given."""

    step: Transition | None = None
    """What the agent got; None at the start."""

    @property
    def failure(self) -> Mapping[str, Any] | None:
        """The failure of the world in this turn."""
        return None if self.step is None else self.step.info.get("failure")

    @property
    def over(self) -> bool:
        """Whether no further action can be done in this world."""
        return self.episode.over or self.failure is not None

    @property
    def action(self) -> str:
        """What was done, as the logs have it."""
        agents = self.rows[1]
        return str(agents[-1]["action"]) if self.step is not None and agents else ""

    @property
    def seconds(self) -> float | None:
        """The seconds from the action to the world's answer; None where the world was not asked."""
        return self._world.get("wave_s")

    @property
    def probability(self) -> float | None:
        """The probability that the world model gives to its whole answer, by which a guard decides.

        None where nothing tells it. Where the model was asked again, the tokens of its unreadable answers count too, so
        that the figure is too low.
        """
        row = self._world
        if self.step is None or row.get("confidence") is None:
            return None
        return math.exp(min(0.0, row["confidence"]) * max(row["tokens"].get("completion", 0), 1))

    @property
    def written(self) -> Mapping[str, str]:
        """The prompt, the thinking and the completion of the world model; what there is none of is left out."""
        row = self._world
        texts = {"prompt": row.get("prompt"), "thinking": row.get("reasoning"), "completion": row.get("completion")}
        return {name: text for name, text in texts.items() if text}

    @property
    def shown(self) -> str:
        """What the world showed, without the instruction."""
        return self.episode.session.observation if self.step is None else self.step.observation

    @cached_property
    def screen(self) -> str | None:
        """The observation that a drawing of the screen is made of; None where there is none to draw."""
        domain = self.episode.task.domain
        if not is_graphical(domain):
            return None
        observation = latest(domain, self.episode.observations)
        return observation if shows(domain, observation) else None

    @cached_property
    def places(self) -> list[Place]:
        """Where the drawing shows what can be acted on."""
        screen = screen_of(self.episode.task.domain)
        if screen is None or self.screen is None:
            return []
        try:
            return screen.places(self.screen)
        except RenderingUnavailable:
            return []

    @property
    def _world(self) -> Row:
        return self.rows[0][-1] if self.rows[0] else {}

    def resolved(self, action: str) -> str | None:
        """Return an action whose locators are resolved on the screen; None where an element is not on it.

        Raises:
            ValueError: A locator is broken.
        """
        return Sight(self.episode.task.domain, self.episode.observations).resolve(action)


@dataclass
class PlayedSide:
    """One world and its episode, with a way back to each turn.

    Args:
        world: The handle of the world.
        runner: Who plays the episode; the side takes its logs, and closes it.
    """

    world: str
    runner: EpisodeRunner
    line: list[PlayedMoment] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._rows = RowKeeper()
        self.runner.traces = self._rows

    @property
    def now(self) -> PlayedMoment:
        """The last moment."""
        return self.line[-1]

    def start(self, seed: int, options: Mapping[str, Any]) -> PlayedMoment:
        """Return the start of a further episode, which `begin` takes.

        Raises:
            AgentWorldError: A task does not fit, or the world cannot begin.
        """
        self._rows.taken()
        [(episode, _, _)] = self.runner.start([seed], options)
        return PlayedMoment(episode, self._rows.taken())

    def begin(self, moment: PlayedMoment) -> None:
        """Begin the episode of a moment, and drop the one before."""
        self.back(-1)
        self.line = [moment]

    def next(self, action: str | Action, by: str) -> PlayedMoment:
        """Return the moment after an action, which is not yet one of the line.

        Args:
            action: What was done.
            by: Who did it.
        """
        fork = self.runner.fork(self.now.episode)
        self._rows.taken()
        try:
            [step] = self.runner.advance([fork], [action])
        except BaseException:
            fork.session.close()
            raise
        return PlayedMoment(fork, self._rows.taken(), by, action, step)

    def again(self) -> PlayedMoment:
        """Return the last moment after its action was tried again in the same session, which draws anew."""
        failed = self.now
        [step] = self.runner.advance([failed.episode], [failed.asked])
        world, agent = self._rows.taken()
        rows = (*failed.rows[0], *world), (*failed.rows[1], *agent)
        return PlayedMoment(failed.episode, rows, failed.by, failed.asked, step)

    def back(self, turn: int) -> None:
        """Drop everything after a turn; the fork that was kept of it is exactly as it was."""
        while len(self.line) > turn + 1:
            self.line.pop().episode.session.close()

    def save(self, folder: Path) -> None:
        """Write the episode up to now as a trace.

        Raises:
            TraceError: A file cannot be written.
        """
        logs = TraceLogs(folder, self.runner.spec.env_id, self.runner.world.fingerprint)
        try:
            for moment in self.line:
                world, agent = ([{**row, "episode": EPISODE} for row in rows] for rows in moment.rows)
                logs.world.write(world)
                logs.agent.write(agent)
        finally:
            logs.close()

    def close(self) -> None:
        """Drop the episode, and close the world."""
        self.back(-1)
        self.runner.close()
