"""Rollouts of Stable-Baselines3 in which no member waits for another.

Answers of a language world that thinks differ tenfold in length, and a rollout in waves waits for the longest answer of
every wave. Here a member takes its next step as soon as its own answer has come.

This needs the extra `sb3`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentworld_gym.base.errors import SpecError, install
from agentworld_gym.integrations.sb3.vec_env import AgentWorldVecEnv

try:
    import torch
    from sb3_contrib import RecurrentPPO
    from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer
    from stable_baselines3.common.buffers import RolloutBuffer
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm
    from stable_baselines3.common.vec_env import VecEnv
except ImportError as error:
    raise ImportError(f"this needs Stable-Baselines3: {install('sb3')}") from error


def asynchronous(algorithm: type[Any]) -> type[Any]:
    """Return an on-policy algorithm whose rollouts go on in every member as its own answer comes.

    A rollout has as many steps of each member as before, all of them taken by the policy as it is, so that what is
    learned from means the same. The order in which the policy draws its choices follows the answers, so that a seed
    alone no longer repeats a training run. Callbacks are called once for each batch of members that are ready.

    Args:
        algorithm: `PPO`, `A2C`, `MaskablePPO`, or another algorithm that fills a `RolloutBuffer`.

    >>> from stable_baselines3 import A2C
    >>> from agentworld_gym.integrations.sb3 import make_sb3_env
    >>> env = make_sb3_env("AgentWorld/Terminal-v0", num_envs=2, seed=0, world="scripted")
    >>> model = asynchronous(A2C)("MlpPolicy", env, device="cpu").learn(10)
    >>> model.num_timesteps, type(model).__name__
    (10, 'AsynchronousA2C')
    >>> env.close()

    Raises:
        SpecError: The algorithm is not an on-policy one, or its policy is recurrent.
    """
    if not issubclass(algorithm, OnPolicyAlgorithm) or issubclass(algorithm, RecurrentPPO):
        expected = "an on-policy algorithm such as MaskablePPO, whose policy is not recurrent"
        raise SpecError("asynchronous", "algorithm", algorithm.__name__, expected)
    return type(f"Asynchronous{algorithm.__name__}", (_AsynchronousRollouts, algorithm), {})


class _AsynchronousRollouts(OnPolicyAlgorithm):
    """The rollouts of `asynchronous`, to be mixed into an algorithm."""

    def collect_rollouts(
        self,
        env: VecEnv,
        callback: BaseCallback,
        rollout_buffer: RolloutBuffer,
        n_rollout_steps: int,
        use_masking: bool = True,
    ) -> bool:
        """Fill the buffer with `n_rollout_steps` steps of every member.

        Steps that an interrupted rollout has left under way are received first, and enter no buffer.

        Returns:
            Whether the buffer is full; a callback may end a rollout before. No step is under way then.

        Raises:
            SpecError: The environment is not one that `make_sb3_env` made.
        """
        if not isinstance(env, AgentWorldVecEnv):
            raise SpecError("asynchronous", "env", type(env).__name__, "an AgentWorldVecEnv, which make_sb3_env makes")
        masked = use_masking and isinstance(rollout_buffer, MaskableRolloutBuffer)
        vectors, starts = self._vectors_and_starts()
        while env.under_way:
            members, reached, _, dones, _ = env.recv()
            vectors[members], starts[members] = reached, dones
        self.policy.set_training_mode(False)
        rollout_buffer.reset()
        callback.on_rollout_start()
        filled = np.zeros(env.num_envs, int)
        ready = np.arange(env.num_envs)
        going_on = True
        while ready.size or env.under_way:
            if ready.size:
                self._act(env, rollout_buffer, filled[ready], ready, masked)
            members, reached, rewards, dones, infos = env.recv()
            # A callback may raise, as Ctrl-C does; training can go on from here then.
            vectors[members], starts[members] = reached, dones
            self.num_timesteps += len(members)
            callback.update_locals(locals())
            going_on = going_on and callback.on_step()
            self._update_info_buffer(infos, dones)
            rollout_buffer.rewards[filled[members], members] = rewards + self._values_beyond(infos)
            filled[members] += 1
            ready = np.sort(members[filled[members] < n_rollout_steps]) if going_on else members[:0]
        if not going_on:
            return False
        rollout_buffer.pos, rollout_buffer.full = n_rollout_steps, True
        with torch.no_grad():
            values = self.policy.predict_values(self.policy.obs_to_tensor(vectors)[0])
        rollout_buffer.compute_returns_and_advantage(last_values=values, dones=starts)
        callback.update_locals(locals())
        callback.on_rollout_end()
        return True

    def _act(
        self,
        env: AgentWorldVecEnv,
        buffer: Any,
        rows: NDArray[np.int64],
        members: NDArray[np.int64],
        masked: bool,
    ) -> None:
        """Choose an action for each of some members, enter it into their rows of the buffer, and send it."""
        every_vector, starts = self._vectors_and_starts()
        vectors = every_vector[members]
        choice: dict[str, Any] = {}
        if masked:
            masks = np.stack(env.env_method("action_masks", indices=members.tolist()))
            choice["action_masks"] = buffer.action_masks[rows, members] = masks
        with torch.no_grad():
            actions, values, log_probs = self.policy(self.policy.obs_to_tensor(vectors)[0], **choice)
        chosen = actions.cpu().numpy()
        buffer.observations[rows, members] = vectors
        buffer.actions[rows, members] = chosen.reshape(len(members), -1)
        buffer.episode_starts[rows, members] = starts[members]
        buffer.values[rows, members] = values.cpu().numpy().reshape(-1)
        buffer.log_probs[rows, members] = log_probs.cpu().numpy()
        env.send(chosen, members)

    def _vectors_and_starts(self) -> tuple[Any, Any]:
        """Return the arrays in which the algorithm keeps every member's last vector, and whether an episode begins."""
        return self._last_obs, self._last_episode_starts

    def _values_beyond(self, infos: list[dict[str, Any]]) -> NDArray[np.float32]:
        """Return the discounted value of what a time limit cut off, for each of some steps; 0 for all others."""
        beyond = np.zeros(len(infos), np.float32)
        for row, info in enumerate(infos):
            if info["TimeLimit.truncated"]:
                last = self.policy.obs_to_tensor(info["terminal_observation"])[0]
                with torch.no_grad():
                    beyond[row] = (self.gamma * self.policy.predict_values(last)).item()
        return beyond
