"""The explorer of a domain as a policy, for tasks that have no expert, such as free play."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from agentworld_gym.agents.policies.exploring.base import SESSION
from agentworld_gym.agents.policies.exploring.explorers import explore
from agentworld_gym.agents.policies.exploring.offered import OfferedExplorer
from agentworld_gym.agents.policies.scripted import menu_policy
from agentworld_gym.core.actions.finish import VERB
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.registration import find_domain, resolved
from agentworld_gym.core.screens.sight import ActionStream, on_screen
from agentworld_gym.envs.episodes.episode import Episode


class _Exploring(Protocol):
    def act(self, episode: Episode) -> str | None: ...


@dataclass(frozen=True)
class ExplorerPolicy:
    """Tries what can be done in an episode, for some actions, and finishes.

    Where the world tells which actions can be done, it takes some of them; elsewhere the explorer of the domain acts,
    and where that has none, random choices from the menu.
    """

    draw: int = 0
    """The number of the draw; another one gives other actions."""

    @property
    def name(self) -> str:
        """The name of the policy in results."""
        return "explore"

    def begin(self, episode: Episode) -> _Exploring:
        """Begin to explore an episode."""
        rng = random.Random(f"{self.name}/{self.draw}/{episode.seed}")
        return _Scripted(episode, rng) if episode.offers is None else _Offered(rng)

    def act(self, episodes: Sequence[Episode], kept: Sequence[_Exploring]) -> list[str]:
        """Choose the next action of each episode."""
        return [one.act(episode) or VERB for episode, one in zip(episodes, kept, strict=True)]


class _Offered:
    def __init__(self, rng: random.Random) -> None:
        self._explorer, self._left = OfferedExplorer(rng), rng.randint(*SESSION)

    def act(self, episode: Episode) -> str | None:
        self._left -= 1
        return (
            self._explorer.choose(episode.observation, episode.offers) if self._left >= 0 and episode.offers else None
        )


class _Scripted:
    def __init__(self, episode: Episode, rng: random.Random) -> None:
        stream = exploring(episode.task, rng)
        self._stream = on_screen(stream, episode.task.domain, episode.observations[0])

    def act(self, episode: Episode) -> str | None:
        try:
            return self._stream.send(episode.observations[-1]) if episode.steps else next(self._stream)
        except StopIteration:
            return None


def exploring(task: Task, rng: random.Random) -> ActionStream:
    """Return the actions of the explorer of a task's domain; random choices from the menu where it has none."""
    found = find_domain(task.domain)
    if found is not None and "explore" in found.policies:
        own: ActionStream = resolved(found.policies["explore"])(task, rng, 0.0)
        return own
    if found is None or found.explorer is None:
        return menu_policy(task, rng)
    return explore(task, rng, rng.randint(*SESSION))
