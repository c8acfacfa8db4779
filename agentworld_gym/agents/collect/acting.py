"""Who acts in a session that is recorded: a script, or a policy such as a language model."""

from __future__ import annotations

import logging
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from agentworld_gym.agents.policies.exploring import OfferedExplorer
from agentworld_gym.agents.policies.language_agent import AgentLost, Dialogue, LanguageAgent
from agentworld_gym.agents.policies.playing import Policy
from agentworld_gym.core.contracts import Action, ActionKind, Failure
from agentworld_gym.core.flow import Work
from agentworld_gym.core.screens.sight import ActionStream, on_screen
from agentworld_gym.envs.episodes.episode import Episode

logger = logging.getLogger(__name__)

MOST_REFUSED = 3
"""How many answers of a model in a row may hold no action before a session ends."""


class Acting(Protocol):
    """Who acts in one session."""

    def act(self, episode: Episode) -> Work[str | None]:
        """Choose the next action of the session's episode, as a piece of work; None stops."""
        ...


class Script:
    """Acts as a script says, and asks nobody.

    Args:
        actions: The script, whose locators are resolved on what the world shows.
    """

    def __init__(self, actions: ActionStream) -> None:
        self._actions = actions
        self._resolved: ActionStream | None = None

    def act(self, episode: Episode) -> Work[str | None]:
        """Go one step further in the script."""
        yield from ()
        try:
            if self._resolved is not None:
                return self._resolved.send(episode.observations[-1])
            self._resolved = on_screen(self._actions, episode.task.domain, episode.observations[-1])
            return next(self._resolved)
        except StopIteration:
            return None


class Explored:
    """Acts as an explorer of the actions that a world tells to be possible, or of a menu, for some actions.

    Args:
        rng: The source of all random draws.
        turns: How many actions it takes.
        menu: Actions that are tried even where they are not offered.
    """

    def __init__(self, rng: random.Random, turns: int, menu: Sequence[str]) -> None:
        self._explorer = OfferedExplorer(rng, turns, menu)

    def act(self, episode: Episode) -> Work[str | None]:
        """Choose the next action; None where there is none, or enough were taken.

        Raises:
            SpecError: The world tells none, and there is no menu.
        """
        yield from ()
        return self._explorer.choose(episode.observation, episode.offers)


class Player:
    """Acts as a policy does. What a language model writes is recorded as the exact parser reads it.

    Args:
        policy: The policy.
        seed: The seed of a language model's first request; those of later requests count up.
    """

    def __init__(self, policy: Policy, seed: int) -> None:
        self._policy, self._seed = policy, seed
        self._kept: Any = None
        self._last = Action("")

    def act(self, episode: Episode) -> Work[str | None]:
        """Ask the policy for the next action; after a `finish` there is none.

        Raises:
            AgentLost: A model cannot be asked, by no fault of its own.
        """
        if not isinstance(self._policy, LanguageAgent):
            if self._kept is None:
                self._kept = (self._policy.begin(episode),)
            return self._policy.act([episode], self._kept)[0]
        if self._kept is None:
            self._kept = self._policy.begin(episode, self._seed)
        return (yield from self._asked(self._policy, self._kept, episode))

    def _asked(self, agent: LanguageAgent, dialogue: Dialogue, episode: Episode) -> Work[str | None]:
        """Ask a model. A sentence, which the exact parser would type into a shell, is answered with the domain's error
        here, and no turn of the world; after several in a row there is no action."""
        if self._last.kind is ActionKind.FINISH:
            return None
        shown, confirming = episode.observation, self._last.kind is ActionKind.CONFIRM
        for _ in range(MOST_REFUSED):
            action = yield from dialogue.act(shown, episode.session.observation)
            if isinstance(action, Failure):
                raise AgentLost(f"the agent gave no action: {action.message}")
            if action is None:
                return None
            again = confirming and action.kind is ActionKind.CONFIRM
            self._last = replace(action, kind=ActionKind.FINISH) if again else action
            if action.error is None or agent.exact.parse(action.raw, episode.task.tools).error is not None:
                return action.raw
            shown = action.error
        logger.info("%s: the model gave no action in %d answers", episode.task.id, MOST_REFUSED)
        return None
