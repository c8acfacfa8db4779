"""A policy of a user, in Python: its errors name it, so that they say where to look."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from reprlib import repr as short
from typing import Any

from agentworld_gym.agents.policies.playing import Policy
from agentworld_gym.base.errors import AgentWorldError
from agentworld_gym.core.contracts import Action
from agentworld_gym.envs.episodes.episode import Episode


class PolicyError(AgentWorldError):
    """The code of a user's policy raised an exception, which is the cause, or returned no action."""


class UsersPolicy:
    """A policy whose code belongs to a user.

    Args:
        handle: The handle of the policy, for errors.
        policy: The policy.
    """

    def __init__(self, handle: str, policy: Policy) -> None:
        self._handle, self._policy = handle, policy

    @property
    def name(self) -> str:
        """The name of the policy in results."""
        return self._policy.name

    def begin(self, episode: Episode) -> Any:
        """Begin an episode.

        Raises:
            PolicyError: The policy raised an exception.
        """
        with self._named():
            return self._policy.begin(episode)

    def act(self, episodes: Sequence[Episode], kept: Sequence[Any]) -> list[str]:
        """Return the next action of each episode.

        Raises:
            PolicyError: The policy raised an exception, or returned something else.
        """
        with self._named():
            actions: Any = self._policy.act(episodes, kept)
        if not isinstance(actions, list | tuple) or len(actions) != len(episodes):
            expected = f"a list with the action of each of {len(episodes)} episodes"
            raise PolicyError(f"{self._handle}: returned {short(actions)}, expected {expected}")
        for action in actions:
            if not isinstance(action, str | Action):
                raise PolicyError(f"{self._handle}: returned {short(action)}, expected an action as a text")
        return list(actions)

    def close(self) -> None:
        """Free what the policy holds."""
        getattr(self._policy, "close", lambda: None)()

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except AgentWorldError:
            raise
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            raised = f"{type(error).__name__}: {error}".removesuffix(": ")
            raise PolicyError(
                f"{self._handle}: raised {raised} ({place.filename}, line {place.lineno}), expected an action as a text"
            ) from error
