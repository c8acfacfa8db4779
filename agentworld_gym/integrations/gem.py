"""The environments as GEM (`gem-llm`) knows them, for trainers that take their environments from its registry.

    register_envs()
    env = gem.make("AgentWorld/Terminal-v0", levels=[1])
    envs = gem.make_vec(["AgentWorld/Terminal-v0"] * 8, async_mode=True, wrappers=get_wrapper_fns("episode_tracking"))

An agent of GEM reads everything in observations, so that the first one begins with the system message of
`agentworld_gym.agent_prompt`. This needs the extra `gem`.
"""

from __future__ import annotations

import copy
import math
from typing import Any

from agentworld_gym.base.errors import SpecError, install
from agentworld_gym.base.text.escaping import escape, unescape
from agentworld_gym.core.registration import all_domains
from agentworld_gym.envs.env import AgentWorldEnv
from agentworld_gym.llm.prompting.agent_prompt import agent_prompt
from agentworld_gym.llm.prompting.parsing import strip_thinking

try:
    import gem
except ImportError as error:
    raise ImportError(f"this needs GEM: {install('gem')}") from error


class AgentWorldGemEnv(gem.Env):  # type: ignore[misc,unused-ignore]
    """An environment of AgentWorld behind GEM's interface.

    GEM has no mask for episodes whose world failed. Their last reward is therefore NaN and never a number that could be
    learned from, `truncated` is set, and `info["failure"]` says why. A vector environment of GEM begins the next
    episode at once and drops the last `info` of the one before, so that the `info` of `reset` says how that ended:
    `prev_ep_success`, or `prev_ep_failure`.

    Args:
        seed: The seed of the first `reset` that is given none; `gem.make_vec` passes a different one to each member.
        options: The options of `gym.make`, with `spec` (a domain's name, the id of its environment, or a path).

    Raises:
        SpecError: A spec or an option is wrong.
        WorldNotConfigured: The domain has no such world.

    >>> env = AgentWorldGemEnv(spec="terminal", world="scripted")
    >>> observation, info = env.reset(seed=7)
    >>> env.step("<think>Look around.</think>ls")[:4]
    ('[1] ls', -0.01, False, False)
    >>> env.close()
    """

    def __init__(self, *, seed: int | None = None, **options: Any) -> None:
        super().__init__()
        self._options, self._first_seed = options, seed
        self._env = AgentWorldEnv(**options)
        self._ended: dict[str, Any] = {}

    def reset(self, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        """Begin an episode; the first observation tells how to act, the task, and what the world shows.

        Args:
            seed: The seed of the task, the initial state and the world's requests.

        Returns:
            The observation and `info`, with the outcome of the episode before.

        Raises:
            ClosedError: The environment is closed.
        """
        if seed is None:
            seed, self._first_seed = self._first_seed, None
        observation, info = self._env.reset(seed=seed)
        ended, self._ended = self._ended, {}
        return f"{agent_prompt(self._env)}\n\n{escape(observation)}", {**info, **ended}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Do what a model wrote, its thinking left out; `finish` or `finish: ANSWER` ends the episode.

        Args:
            action: The text that the model wrote.

        Returns:
            The observation, the reward (NaN where the world failed), whether the episode terminated, whether it was
            truncated, and `info`.
        """
        text = unescape(strip_thinking(action).strip())
        observation, reward, terminated, truncated, info = self._env.step(text)
        if terminated or truncated:
            self._ended = {f"prev_ep_{key}": info[key] for key in ("success", "failure") if key in info}
        return escape(observation), math.nan if "failure" in info else reward, terminated, truncated, info

    def sample_random_action(self) -> str:
        """Return an action that makes sense in the episode."""
        return str(self._env.action_space.sample())

    def spawn(self, same_state: bool = False, **kwargs: Any) -> AgentWorldGemEnv:
        """Return another environment with the same options, or a fork in the middle of the episode.

        Args:
            same_state: Whether to copy the episode under way; both then share the world.
            kwargs: The options that differ; a fork takes none.

        Raises:
            SpecError: A fork was asked for with other options.
            gymnasium.error.ResetNeeded: A fork was asked for before `reset`.
        """
        if not same_state:
            return type(self)(**{**self._options, **kwargs})
        for name, value in kwargs.items():
            raise SpecError("spawn", name, value, "no option beside same_state=True: a fork has those of the original")
        twin = copy.copy(self)
        twin._env, twin._ended = self._env.fork(), dict(self._ended)
        return twin

    def close(self) -> None:
        """Free the episode, and the world once no fork uses it. A second call does nothing."""
        self._env.close()


def register_envs() -> None:
    """Register all domains under their ids, for `gem.make` and `gem.make_vec`. A second call does nothing.

    >>> register_envs()
    >>> env = gem.make("AgentWorld/Terminal-v0", world="scripted", seed=7)
    >>> env.reset()[1]["task_id"] == env.spawn().reset(seed=7)[1]["task_id"]
    True
    >>> env.close()
    """
    from gem.envs.registration import ENV_REGISTRY

    for domain in all_domains().values():
        if domain.env_id not in ENV_REGISTRY:
            gem.register(domain.env_id, f"{__name__}:{AgentWorldGemEnv.__name__}", spec=domain.id)
