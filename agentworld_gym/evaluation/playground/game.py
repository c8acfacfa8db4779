"""The game of the playground: one episode in one world or in two, played by a person and by agents."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentworld_gym.agents.policies.registry import open_policy
from agentworld_gym.base.errors import AgentWorldError, SpecError
from agentworld_gym.core.contracts import Action, Failure
from agentworld_gym.core.screens import place_at, screen_of
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.evaluation.playground.player import AgentPlayer
from agentworld_gym.evaluation.playground.side import PlayedMoment, PlayedSide
from agentworld_gym.evaluation.viewer import write_view

FIRST_LEVEL = 1
PERSON = "you"
SIDES = ("left", "right")
"""The folders of the two worlds in what is saved."""

PAGE = "episode.html"

OpenRunner = Callable[[str, str, str], EpisodeRunner]
"""A function that opens the runner of a domain, a world and a split."""


class AgentFailed(AgentWorldError):
    """Whoever runs an agent failed, as its server: nothing was done."""


class Stale(AgentWorldError):
    """Somebody acted since the page was drawn: nothing was done."""


@dataclass(frozen=True)
class GameChoice:
    """What to play, and where.

    >>> GameChoice("terminal", ("grounded",), level=2).options
    {'level': 2}
    """

    domain: str
    """The name of the domain, or the path of a spec."""

    worlds: tuple[str, ...]
    """The handles of one world or of two."""

    task: str | None = None
    """The id of a task, or the path of its file; None takes that of the seed."""

    family: str | None = None
    """The family of the task; None takes that of the seed."""

    level: int | None = None
    """The level of the task; None takes the first."""

    seed: int = 0
    """The seed of the task and of the episode."""

    split: str = "train"
    """The split of the task."""

    @property
    def options(self) -> dict[str, Any]:
        """The options of the episode. The first level is the default, so that worlds without levels take it too."""
        if self.task:
            return {"task": self.task}
        level = None if self.level == FIRST_LEVEL else self.level
        return {name: value for name, value in (("family", self.family), ("level", level)) if value is not None}


@dataclass
class PlayedGame:
    """One episode in one world or in two. All worlds get the same actions, and every step can be taken back.

    Args:
        open_runner: A function that opens the runner of a domain, a world and a split. A runner stays open while the
            next episode needs it.
        agent_options: The options of language models that play; see `agentworld_gym.agents.policies.registry`.

    >>> from agentworld_gym.envs.options import EnvOptions
    >>> game = PlayedGame(lambda domain, world, split: EnvOptions(spec=domain, world=world, split=split).runner())
    >>> game.begin(GameChoice("terminal", ("grounded", "scripted"), task="rotate-log"))
    >>> game.act("pwd")
    >>> [side.now.shown for side in game.sides][1], game.turn
    ('[1] pwd', 1)
    >>> game.back(0)
    >>> game.turn
    0
    >>> game.close()
    """

    open_runner: OpenRunner
    agent_options: Mapping[str, Any] | None = None
    choice: GameChoice | None = field(default=None, init=False)
    sides: list[PlayedSide] = field(default_factory=list, init=False)
    saved: Path | None = field(default=None, init=False)
    """The page of what was saved last."""

    def __post_init__(self) -> None:
        self._players: dict[str, AgentPlayer] = {}

    @property
    def turn(self) -> int:
        """The number of turns so far."""
        return max((len(side.line) for side in self.sides), default=1) - 1

    @property
    def over(self) -> bool:
        """Whether no world takes a further action."""
        return all(side.now.over for side in self.sides)

    def begin(self, choice: GameChoice) -> None:
        """Begin an episode. Where it cannot begin, the one before stays as it is, if its worlds are the same.

        Raises:
            SpecError: The choice does not fit.
            AgentWorldError: A world cannot begin.
        """
        if not 1 <= len(choice.worlds) <= len(SIDES):
            raise SpecError("page", "worlds", list(choice.worlds), "one world or two")
        if self.choice is None or _worlds(choice) != _worlds(self.choice):
            self._reopen(choice)
        begun: list[PlayedMoment] = []
        try:
            for side in self.sides:
                begun.append(side.start(choice.seed, choice.options))
        except BaseException:
            for moment in begun:
                moment.episode.session.close()
            if self.choice is None:
                self.close()
            raise
        for side, moment in zip(self.sides, begun, strict=True):
            side.begin(moment)
        self.choice, self.saved = choice, None

    def _reopen(self, choice: GameChoice) -> None:
        opened: list[PlayedSide] = []
        try:
            for world in choice.worlds:
                opened.append(PlayedSide(world, self.open_runner(choice.domain, world, choice.split)))
        except BaseException:
            for side in opened:
                side.close()
            raise
        self.close()
        self.sides = opened

    def act(self, action: str | Action, by: str = PERSON) -> None:
        """Do an action in every world that takes one.

        The name of an element is resolved on the screen of each world. A world that does not show the element gets the
        action as the other one read it.

        Args:
            action: What to do.
            by: Who does it.

        Raises:
            SpecError: The action names an element that is on no screen.
        """
        going = self._going()
        resolved = [action if isinstance(action, Action) else self._resolved(side, action) for side in going]
        known = next((one for one in resolved if one is not None), None)
        if known is None:
            raise SpecError("page", "action", action, "an element that is on the screen")
        moments: list[PlayedMoment] = []
        try:
            for side, own in zip(going, resolved, strict=True):
                moments.append(side.next(known if own is None else own, by))
        except BaseException:
            for moment in moments:
                moment.episode.session.close()
            raise
        for side, moment in zip(going, moments, strict=True):
            side.line.append(moment)

    def _going(self) -> list[PlayedSide]:
        going = [side for side in self.sides if not side.now.over]
        if not going:
            raise AgentWorldError("no world takes an action: step back, or begin another episode")
        return going

    @staticmethod
    def _resolved(side: PlayedSide, action: str) -> str | None:
        try:
            return side.now.resolved(action)
        except ValueError as error:
            raise SpecError("page", "action", action, str(error)) from error

    def point(self, side: int, gesture: str, x: int, y: int) -> None:
        """Do a gesture at a point of the drawing of a world.

        Args:
            side: The number of the world on whose drawing it is.
            gesture: One of the gestures of the domain's screen.
            x: The column, in pixels of the drawing at scale 1.
            y: The row.

        Raises:
            SpecError: There is nothing.
        """
        now = self.sides[side].now
        screen = screen_of(now.episode.task.domain)
        action = None
        if screen is not None and gesture in screen.gestures:
            action = screen.gesture(gesture, place_at(now.places, x, y), x, y)
        if action is None:
            raise SpecError("page", "point", [gesture, x, y], "something on the screen that can be acted on")
        self.act(action)

    def write(self, side: int, place: int | None, text: str) -> None:
        """Write or choose a text in a place of the drawing of a world.

        Args:
            side: The number of the world on whose drawing it is.
            place: The number of the place; None writes where the cursor is.
            text: The text.

        Raises:
            SpecError: Nothing can be written there.
        """
        now = self.sides[side].now
        screen, places = screen_of(now.episode.task.domain), now.places
        action = None
        if screen is not None and (place is None or 0 <= place < len(places)):
            action = screen.write(None if place is None else places[place], text)
        if action is None:
            raise SpecError("page", "place", place, "a place that a text can be written into")
        self.act(action)

    def agent(self, handle: str) -> None:
        """Let an agent of the registry do one action. It sees the first world that goes on.

        Raises:
            SpecError: The handle names no agent, or the task has nothing for it.
            AgentFailed: Whoever runs the agent failed.
            GeneratorError: The model of the agent is not there.
        """
        [eyes, *_] = self._going()
        player = self._player(handle, eyes)
        action = player.choose(eyes.now.episode)
        if isinstance(action, Failure):
            raise AgentFailed(f"the agent {handle} failed ({action.kind.value}): {action.message}")
        self.act(action, by=handle)
        player.played(eyes.now.episode)

    def _player(self, handle: str, eyes: PlayedSide) -> AgentPlayer:
        if handle not in self._players:
            self._players[handle] = AgentPlayer(open_policy(handle, eyes.runner.spec, 0, self._options(handle)))
        return self._players[handle]

    def _options(self, handle: str) -> Mapping[str, Any] | None:
        from agentworld_gym.agents.policies.registry import is_model

        return self.agent_options if is_model(handle) else None

    def again(self) -> None:
        """Try the last turn again in the worlds that failed in it and may answer later.

        Raises:
            AgentWorldError: No world failed so.
        """
        turn = self.turn
        failed = [
            side for side in self.sides if len(side.line) == turn + 1 and (side.now.failure or {}).get("retryable")
        ]
        if not failed:
            raise AgentWorldError("no world failed in a way that may pass")
        for side in failed:
            side.line[-1] = side.again()

    def back(self, turn: int) -> None:
        """Go back to a turn in every world; 0 is the start.

        Raises:
            SpecError: There is no such turn.
        """
        if not 0 <= turn <= self.turn:
            raise SpecError("page", "turn", turn, "a turn of the episode")
        for side in self.sides:
            side.back(turn)

    def save(self, folder: Path) -> Path:
        """Write the episode as one trace a world and a page of the viewer, and return the folder of its own.

        Args:
            folder: The folder in which that folder is made.

        Raises:
            OSError: Nothing can be written there.
            TraceError: A log cannot be written.
        """
        assert self.choice is not None
        name = f"{time.strftime('%Y%m%dT%H%M%S')}-{self.sides[0].now.episode.task.id}"
        target = _fresh(folder / "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name))
        sides = [target / name for name in SIDES[: len(self.sides)]]
        for side, place in zip(self.sides, sides, strict=True):
            side.save(place)
        write_view(sides[0], target / PAGE, sides[1] if len(sides) > 1 else None)
        self.saved = target / PAGE
        return target

    def close(self) -> None:
        """Close the worlds and the agents. A second call does nothing."""
        players, self._players = self._players, {}
        sides, self.sides = self.sides, []
        self.choice, self.saved = None, None
        for player in players.values():
            player.close()
        for side in sides:
            side.close()


def _worlds(choice: GameChoice) -> tuple[str, Sequence[str], str]:
    return choice.domain, choice.worlds, choice.split


def _fresh(folder: Path) -> Path:
    """Make a folder, under another name where there is one, and return its path."""
    for number in range(1, 1000):
        made = folder if number == 1 else folder.with_name(f"{folder.name}-{number}")
        try:
            made.mkdir(parents=True)
        except FileExistsError:
            continue
        return made
    raise FileExistsError(f"{folder}: there are a thousand of them")
