"""The engine: one running game, played by the interpreter of TextWorld."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import textworld
from textworld import EnvInfos

from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.engines import Controls, Engine, EngineError, Scalar, Span
from agentworld_textworld.games import SIZES, story_of

OVER = "The game is over."
_STATUS = re.compile(r"\n*>[^\n]*\Z")
_BLANK = re.compile(r"\n{2,}")


class GameMachine:
    """A game in progress. A text is `pre-existing` where the player sees it for the first time."""

    def __init__(self, env: Any, facts: Sequence[Any], observation: str, seen: frozenset[str], over: bool) -> None:
        self._env, self._facts, self._seen, self._over = env, facts, seen, over
        self.observation = observation
        self.spans: Sequence[Span] = ()

    @classmethod
    def start(
        cls,
        state: Mapping[str, Any],
        seed: int,
        controls: Controls | None = None,
        hidden: Mapping[str, Any] | None = None,
    ) -> GameMachine:
        """Start the game of a state: `game`, its seed, and `level`.

        Raises:
            SpecError: The state names no game.
        """
        game, level = state.get("game"), state.get("level")
        if not isinstance(game, int) or level not in SIZES:
            raise SpecError("state", "game", state, f"an integer, and a `level` of {', '.join(map(str, SIZES))}")
        env = textworld.start(str(story_of(game, level)), EnvInfos(facts=True, description=True))
        start = env.reset()
        shown = _clean(start.description)
        return cls(env, start.facts, shown, frozenset(shown.split("\n")), False)

    def act(self, action: str) -> str:
        """Type one command."""
        if self._over:
            shown = OVER
        else:
            after, _, self._over = self._env.step(action)
            if after.feedback is None:
                raise EngineError("the interpreter of the game ended")
            self._facts, shown = after.facts, _clean(after.feedback)
        self.observation, self.spans = shown, self._new(action, shown)
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

    def fork(self) -> GameMachine:
        """Return an exact copy."""
        copy = GameMachine(self._env.copy(), self._facts, self.observation, self._seen, self._over)
        copy.spans = self.spans
        return copy

    def close(self) -> None:
        """End the interpreter."""
        self._env.close()


def open_engine(variant: str) -> Engine:
    """Return the engine of the domain."""
    return GameMachine


def _clean(text: str) -> str:
    """Return what the game says, without its prompt and status line."""
    return _BLANK.sub("\n", _STATUS.sub("", text.rstrip())).strip()
