"""An agent that plays on in an episode that others have begun."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agentworld_gym.agents.policies.playing import Policy, ScriptedPolicy, WaitingPolicy
from agentworld_gym.core.contracts import Action, Failure
from agentworld_gym.core.flow import in_one_wave
from agentworld_gym.core.screens.sight import last_screen
from agentworld_gym.envs.episodes.episode import Episode

FINISH = "finish"


class AgentPlayer:
    """Asks a policy for the next action, wherever the episode is.

    A policy keeps something of an episode while it plays. It goes on with that as long as nobody acts in between, and
    begins anew where somebody did, or where steps were taken back. A script, such as that of the expert, goes on behind
    the last actions that are its own.

    Args:
        policy: The policy.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._kept: Any = None
        self._after: Episode | None = None

    def choose(self, episode: Episode) -> str | Action | Failure:
        """Return the next action of an episode; or a failure of whoever runs the agent."""
        policy = self.policy
        if isinstance(policy, ScriptedPolicy):
            return _scripted(policy, episode)
        if self._after is not episode:
            self._kept = policy.begin(episode)
        self._after = None  # What fails has half begun, and begins anew.
        if isinstance(policy, WaitingPolicy):
            [answer] = in_one_wave([policy.acting(episode, self._kept)])
            return answer
        [action] = policy.act([episode], [self._kept])
        return action

    def played(self, episode: Episode) -> None:
        """Take notice of the episode that the last choice led to."""
        self._after = episode

    def close(self) -> None:
        """Free what the policy holds."""
        getattr(self.policy, "close", lambda: None)()


def _scripted(policy: ScriptedPolicy, episode: Episode) -> str:
    """Return the action of a script that began as early as all actions since then are its own.

    >>> from agentworld_gym.agents.policies.registry import open_policy
    >>> from agentworld_gym.envs.options import EnvOptions
    >>> runner = EnvOptions(spec="terminal", world="scripted", task="rotate-log").runner()
    >>> ((episode, _, _),) = runner.start([0], {})
    >>> expert, actions = open_policy("expert", runner.spec), episode.task.expert
    >>> steps = [runner.advance([episode], [action]) for action in ("pwd", actions[0])]
    >>> _scripted(expert, episode) == actions[1]
    True
    >>> runner.close()
    """
    for begun in range(len(episode.actions) + 1):
        script = policy.begin(_beginning(episode, begun))
        action = next(script, FINISH)
        for taken, observation in zip(episode.actions[begun:], episode.observations[begun + 1 :], strict=True):
            if taken != action or action == FINISH:
                break
            try:
                action = script.send(observation)
            except StopIteration:
                action = FINISH
        else:
            return action
    return FINISH


def _beginning(episode: Episode, turn: int) -> Episode:
    """Return an episode as if it began after some turns, with what was on the screen then; its session is the present
    one."""
    seen = last_screen(episode.task.domain, episode.observations[: turn + 1])
    return replace(episode, actions=[], taken=[], observations=[seen], shown=[seen])
