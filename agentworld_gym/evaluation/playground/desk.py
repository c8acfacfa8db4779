"""The desk: what the page asks for, done one request after the other in one thread."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from io import BytesIO
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from agentworld_gym.base.errors import ClosedError, SpecError
from agentworld_gym.evaluation.playground.game import GameChoice, PlayedGame, Stale
from agentworld_gym.evaluation.playground.records import choices, picture_name, record

logger = logging.getLogger(__name__)

QUALITY = 80
"""The quality of WebP, in which a drawing takes 20 to 100 kB."""

PICTURES = 200
"""How many screens are kept, so that their drawings can be asked for."""

NOTICE_S = 0.2
"""How long an interrupt may take to be noticed while nothing is done."""

Answer = dict[str, Any]
Job = tuple[str, Mapping[str, Any], Future[Answer]]


class Playground:
    """Does what the page asks for. The thread that calls `run` does all of it; any thread may ask.

    Requests that change the game name the version of it that the page shows, so that of two that come at once the
    second one is refused and does nothing.

    Args:
        game: The game.
        folder: The folder in which episodes are saved.
        first: What the page offers at first.

    >>> from agentworld_gym.envs.options import EnvOptions
    >>> game = PlayedGame(lambda domain, world, split: EnvOptions(spec=domain, world=world, split=split).runner())
    >>> desk = Playground(game, Path("saved"), GameChoice("terminal", ("scripted",)))
    >>> thread = threading.Thread(target=desk.run)
    >>> thread.start()
    >>> desk.ask("begin", {"version": 0, "domain": "terminal", "worlds": ["scripted"], "seed": 3})["game"]["turn"]
    0
    >>> desk.ask("act", {"version": 1, "action": "ls"})["game"]["sides"][0]["turns"][1]["shown"]
    '[1] ls'
    >>> desk.end()
    >>> thread.join()
    """

    def __init__(self, game: PlayedGame, folder: Path, first: GameChoice) -> None:
        self._game, self._folder, self._first = game, folder, first
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._closing = threading.Lock()
        self.closed = False
        """Whether nothing is done any more."""
        self._screens: OrderedDict[str, tuple[str, str]] = OrderedDict()
        self.version = 0
        """A number that grows with each change of the game."""
        self.busy: str | None = None
        """What is being done at this moment."""

    def ask(self, name: str, request: Mapping[str, Any]) -> Answer:
        """Have something done, and wait for it.

        Args:
            name: What: one of the methods of this class that begin with `do_`.
            request: What the page says of it.

        Raises:
            ClosedError: The desk has closed.
            Stale: The game is another one than the page shows.
            AgentWorldError: It cannot be done.
        """
        done: Future[Answer] = Future()
        with self._closing:
            if self.closed:
                raise ClosedError("the playground has ended")
            self._jobs.put((name, request, done))
        return done.result()

    def run(self) -> None:
        """Do what is asked for until `end`, or until an interrupt, and close the game."""
        current: Future[Answer] | None = None
        try:
            while (job := self._next()) is not None:
                name, request, current = job
                self.busy = name
                try:
                    current.set_result(self._do(name, request))
                except Exception as error:
                    current.set_exception(error)
                self.busy, current = None, None
        finally:
            with self._closing:
                self.closed = True
            waiting = [] if current is None or current.done() else [current]
            while not self._jobs.empty():
                left = self._jobs.get()
                waiting += [] if left is None else [left[2]]
            for one in waiting:
                one.set_exception(ClosedError("the playground has ended"))
            self._game.close()

    def _next(self) -> Job | None:
        """Wait for the next request; an interrupt that reached another thread is noticed within a moment."""
        while True:
            try:
                return self._jobs.get(timeout=NOTICE_S)
            except Empty:
                continue

    def end(self) -> None:
        """End `run` after what is being done."""
        self._jobs.put(None)

    def _do(self, name: str, request: Mapping[str, Any]) -> Answer:
        method: Callable[[Mapping[str, Any]], Answer | None] | None = getattr(self, f"do_{name}", None)
        if method is None:
            raise SpecError("page", "request", name, "something that the playground does")
        choice = self._game.choice
        try:
            answer = method(request)
        except Exception:
            if self._game.choice is not choice:  # The game before was closed, and no other began.
                self.version += 1
            raise
        if answer is not None:
            return answer
        self.version += 1
        return self._state()

    def _state(self) -> Answer:
        state = record(self._game, self.version)
        for side in self._game.sides:
            for moment in side.line:
                if (name := picture_name(moment)) is not None and moment.screen is not None:
                    self._screens[name] = moment.episode.task.domain, moment.screen
                    self._screens.move_to_end(name)
        while len(self._screens) > PICTURES:
            self._screens.popitem(last=False)
        return state

    def _fresh(self, request: Mapping[str, Any]) -> None:
        if request.get("version") != self.version:
            raise Stale("the game has gone on since this page was drawn; nothing was done")

    def do_state(self, request: Mapping[str, Any]) -> Answer:
        """Return the game."""
        return self._state()

    def do_choices(self, request: Mapping[str, Any]) -> Answer:
        """Return what can be chosen in a domain, or at first."""
        first = self._first
        shown = choices(_text(request, "domain", first.domain))
        return {**shown, "first": {name: getattr(first, name) for name in GameChoice.__dataclass_fields__}}

    def do_begin(self, request: Mapping[str, Any]) -> None:
        """Begin an episode."""
        self._fresh(request)
        worlds = request.get("worlds")
        if not isinstance(worlds, list) or not all(isinstance(world, str) and world for world in worlds):
            raise SpecError("page", "worlds", worlds, "the handles of one world or of two")
        family, task = _text(request, "family", "") or None, _text(request, "task", "") or None
        level = None if request.get("level") is None else _number(request, "level")
        seed, split = _number(request, "seed"), _text(request, "split", "train")
        if seed < 0:
            raise SpecError("page", "seed", seed, "a number of at least 0")
        self._game.begin(
            GameChoice(_text(request, "domain"), tuple(worlds), task, family, level, seed=seed, split=split)
        )

    def do_act(self, request: Mapping[str, Any]) -> None:
        """Do an action."""
        self._fresh(request)
        self._game.act(_text(request, "action"))

    def do_point(self, request: Mapping[str, Any]) -> None:
        """Do a gesture at a point of a picture."""
        self._fresh(request)
        x, y = _number(request, "x"), _number(request, "y")
        self._game.point(self._side(request), _text(request, "gesture"), x, y)

    def do_write(self, request: Mapping[str, Any]) -> None:
        """Write a text at a place of a picture."""
        self._fresh(request)
        place = None if request.get("place") is None else _number(request, "place")
        self._game.write(self._side(request), place, _text(request, "text"))

    def do_agent(self, request: Mapping[str, Any]) -> None:
        """Let an agent act once."""
        self._fresh(request)
        self._game.agent(_text(request, "agent"))

    def do_again(self, request: Mapping[str, Any]) -> None:
        """Try the last turn again where a world failed."""
        self._fresh(request)
        self._game.again()

    def do_back(self, request: Mapping[str, Any]) -> None:
        """Go back to a turn."""
        self._fresh(request)
        self._game.back(_number(request, "turn"))

    def do_save(self, request: Mapping[str, Any]) -> None:
        """Save the episode."""
        self._fresh(request)
        if self._game.choice is None:
            raise SpecError("page", "save", None, "an episode")
        self._game.save(self._folder)

    def _side(self, request: Mapping[str, Any]) -> int:
        side = _number(request, "side")
        if not 0 <= side < len(self._game.sides):
            raise SpecError("page", "side", side, "the number of a world")
        return side

    def picture(self, name: str) -> bytes | None:
        """Return the drawing of a screen as WebP, for any thread; None where no screen has that name.

        Raises:
            RenderingUnavailable: Pillow is not installed.
        """
        found = self._screens.get(name)
        return None if found is None else drawn(*found)

    @property
    def saved(self) -> Path | None:
        """The page of what was saved last."""
        return self._game.saved


def drawn(domain: str, observation: str) -> bytes:
    """Return the drawing of a screen as WebP.

    Raises:
        RenderingUnavailable: Pillow is not installed.
    """
    from agentworld_gym.kit.rendering import picture

    pixels = picture(domain, observation)
    from PIL import Image

    image = Image.fromarray(pixels)
    buffer = BytesIO()
    image.save(buffer, "WEBP", quality=QUALITY)
    return buffer.getvalue()


def _text(request: Mapping[str, Any], key: str, default: str | None = None) -> str:
    value = request.get(key)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        raise SpecError("page", key, value, "a text")
    return value


def _number(request: Mapping[str, Any], key: str) -> int:
    value = request.get(key)
    if isinstance(value, bool) or not isinstance(value, int):
        raise SpecError("page", key, value, "an integer")
    return value
