"""The explorer of a domain as a policy, for tasks that have no expert, such as free play."""

from __future__ import annotations

import random
from collections.abc import Sequence

from agentworld_gym.agents.policies.exploring.base import SESSION
from agentworld_gym.agents.policies.exploring.explorers import explore
from agentworld_gym.agents.policies.exploring.offered import OfferedExplorer
from agentworld_gym.agents.policies.playing import ScriptedPolicy, next_action
from agentworld_gym.agents.policies.scripted import menu_policy
from agentworld_gym.core.actions.finish import VERB
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.registration import find_domain, resolved
from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.envs.episodes.episode import Episode


class ExplorerPolicy:
    """Tries what can be done in an episode, for some actions, and finishes.

    Where the world tells which actions can be done, it takes some of them; elsewhere the explorer of the domain acts,
    and where that has none, random choices from the menu. A domain that is a spec alone has its menu explored.

    Args:
        draw: The number of the draw; another one gives other actions.
    """

    name = "explore"

    def __init__(self, draw: int = 0) -> None:
        self._scripted = ScriptedPolicy(self.name, exploring, draw)

    def begin(self, episode: Episode) -> ActionStream | OfferedExplorer:
        """Begin to explore an episode."""
        if episode.offers is None and find_domain(episode.task.domain) is not None:
            return self._scripted.begin(episode)
        rng = self._scripted.random_numbers(episode)
        return OfferedExplorer(rng, rng.randint(*SESSION), episode.task.menu)

    def act(self, episodes: Sequence[Episode], kept: Sequence[ActionStream | OfferedExplorer]) -> list[str]:
        """Choose the next action of each episode; `finish` where there were enough, or there is none.

        Raises:
            SpecError: The world of a domain that is a spec alone tells none, and there is no menu.
        """
        return [
            one.choose(episode.observation, episode.offers) or VERB
            if isinstance(one, OfferedExplorer)
            else next_action(episode, one)
            for episode, one in zip(episodes, kept, strict=True)
        ]


def exploring(task: Task, rng: random.Random) -> ActionStream:
    """Return the actions of the explorer of a task's domain; random choices from the menu where it has none."""
    found = find_domain(task.domain)
    if found is not None and "explore" in found.policies:
        own: ActionStream = resolved(found.policies["explore"])(task, rng, 0.0)
        return own
    if found is None or found.explorer is None:
        return menu_policy(task, rng)
    return explore(task, rng, rng.randint(*SESSION))
