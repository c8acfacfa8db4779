"""The engine: one running game, played by the interpreter of TextWorld."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Self

import textworld
from textworld import EnvInfos

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.engines import NO_CONTROLS, NOTHING, BaseMachine, Controls, Engine, EngineError, Scalar, Span
from agentworld_textworld.games import SIZES, story_of

OVER = "The game is over."
_STATUS = re.compile(r"\n*>[^\n]*\Z")
_BLANK = re.compile(r"\n{2,}")
_NO_KEYS = re.compile(r"[^ -\[\]-~]+")
LONGEST = 200
"""The characters of the longest command. Games have shorter ones, and the interpreter stops at some that are longer."""


class GameMachine(BaseMachine[Any]):
    """A game in progress. A text is `pre-existing` where the player sees it for the first time."""

    noun = "game"

    def __init__(self, env: Any, facts: Sequence[Any], observation: str) -> None:
        super().__init__(env, observation)
        self._facts, self._seen, self._over = facts, frozenset(observation.split("\n")), False

    @classmethod
    def start(
        cls, state: Mapping[str, Any], seed: int, controls: Controls = NO_CONTROLS, hidden: Mapping[str, Any] = NOTHING
    ) -> Self:
        """Start the game of a state: `game`, its seed, and `level`.

        Raises:
            SpecError: The state names no game.
        """
        game, level = state.get("game"), state.get("level")
        if not isinstance(game, int) or level not in SIZES:
            raise SpecError("state", "game", state, f"an integer, and a `level` of {', '.join(map(str, SIZES))}")
        env = textworld.start(str(story_of(game, level)), EnvInfos(facts=True, description=True))
        start = env.reset()
        return cls(env, start.facts, _clean(start.description))

    def act(self, action: str) -> str:
        """Type one command."""
        if self._over:
            shown = OVER
        else:
            # At a zero byte the interpreter waits for ever, and a backslash begins a command to itself.
            typed = _NO_KEYS.sub(" ", action)[:LONGEST].strip() or "wait"
            after, _, self._over = self._open().step(typed)
            if after.feedback is None:
                raise EngineError("the interpreter of the game ended")
            self._facts, shown = after.facts, _clean(after.feedback)
        self._observation, self._spans = shown, tuple(self._new(action, shown))
        self._seen |= frozenset(shown.split("\n"))
        return shown

    def _new(self, action: str, shown: str) -> list[Span]:
        """Return the lines that only looking can tell."""
        spans, start = [], 0
        looking = action.split()[:1] in (["look"], ["examine"], ["go"], ["open"], ["l"], ["x"])
        for line in shown.split("\n"):
            if looking and line and line not in self._seen:
                spans.append(Span(start, start + len(line), "pre-existing"))
            start += len(line) + 1
        return spans

    def state(self) -> Mapping[str, Scalar]:
        """Return the facts of the game."""
        return {f"facts/{fact}": True for fact in self._facts}

    def _part_from(self, system: Any) -> None:
        self._system = system.copy()

    def _free(self, system: Any) -> None:
        system.close()


def open_engine(variant: str) -> Engine:
    """Return the engine of the domain."""
    return GameMachine


def _clean(text: str) -> str:
    """Return what the game says, without its prompt and status line."""
    return _BLANK.sub("\n", _STATUS.sub("", text.rstrip())).strip()
