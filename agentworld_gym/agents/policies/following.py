"""Playing one episode by a scripted policy, which decides each action by what the actions before it showed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, SupportsFloat

from agentworld_gym.core.screens.sight import ActionStream, on_screen
from agentworld_gym.core.tasks.control_cases import Solver
from agentworld_gym.envs.episodes.episode import Episode
from agentworld_gym.envs.episodes.runner import EpisodeRunner
from agentworld_gym.envs.episodes.step import Transition

if TYPE_CHECKING:
    from gymnasium import Env


def play(runner: EpisodeRunner, solver: Solver, seed: int, options: Mapping[str, Any]) -> tuple[bool, list[str]]:
    """Play one episode with a solver; return whether it succeeded, and what its actions showed.

    Args:
        runner: The runner of the domain.
        solver: The solver.
        seed: The seed of the episode.
        options: The options of its reset.
    """
    ((episode, _, _),) = runner.start([seed], options)
    try:
        end = walk(runner, episode, solver(episode.task))
        return end is not None and bool(end.info.get("success", False)), episode.observations[1:]
    finally:
        episode.session.close()


def walk(runner: EpisodeRunner, episode: Episode, actions: ActionStream) -> Transition | None:
    """Play an episode of a runner by a policy until it ends.

    Locators in its actions are resolved on what the episode showed last.

    Returns:
        The last step of the episode, or None if the policy ends first.
    """
    going = on_screen(actions, episode.task.domain, episode.observations[-1])
    action = next(going, None)
    while action is not None:
        (step,) = runner.advance([episode], [action])
        if step.terminated or step.truncated:
            return step
        try:
            action = going.send(episode.observations[-1])
        except StopIteration:
            return None
    return None


def follow(env: Env[str, str], actions: ActionStream) -> tuple[str, SupportsFloat, bool, bool, dict[str, Any]] | None:
    """Play an episode of an environment by a policy until it ends; the environment has to be reset before.

    Locators in its actions are resolved on what the environment showed last.

    Returns:
        What the last `step` returned, or None if the policy takes no step.

    >>> from agentworld_gym.envs.env import AgentWorldEnv
    >>> from agentworld_gym.agents.policies.scripted import expert_policy
    >>> env = AgentWorldEnv(spec="web", world="grounded")
    >>> observation, info = env.reset(seed=0)
    >>> observation, reward, terminated, truncated, info = follow(env, expert_policy(env.task))
    >>> info["success"]
    True
    >>> env.close()
    """
    bare: Any = env.unwrapped
    going = on_screen(actions, bare.task.domain, bare.episode.observations[-1])
    action, result = next(going, None), None
    while action is not None and not bare.episode.over:
        result = env.step(action)
        try:
            # A wrapper may have changed the observation that `step` returned.
            action = going.send(bare.episode.observations[-1])
        except StopIteration:
            break
    going.close()
    return result
