"""Tianshou: PPO over single environments of menus, and networks that score the entries of the menu.

python examples/clients/tianshou_ppo.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from tianshou.algorithm import PPO
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.trainer import OnPolicyTrainerParams
from torch import nn

from agentworld_gym.integrations.sb3 import MenuNetwork


class Actor(nn.Module):
    """An actor that scores the entries of the menu; Tianshou passes arrays, and wants a state back."""

    def __init__(self, size: int, menu: int) -> None:
        super().__init__()
        self.network = MenuNetwork(size, menu)

    def forward(self, seen: np.ndarray, state: Any = None, info: Any = None) -> tuple[torch.Tensor, Any]:
        """Return the scores."""
        return self.network.forward_actor(torch.as_tensor(seen)), state


class Critic(nn.Module):
    """A critic with a network of its own."""

    def __init__(self, size: int, menu: int) -> None:
        super().__init__()
        self.network, self.value = MenuNetwork(size, menu), nn.Linear(64, 1)

    def forward(self, seen: np.ndarray) -> torch.Tensor:
        """Return the value of each observation."""
        return self.value(self.network.forward_critic(torch.as_tensor(seen)))


def keep_numbers(_action: Any, step: Any) -> None:
    """Keep only the numbers of `info`: Tianshou fails if a value is missing, and texts come at some steps only."""
    step.info = Batch(steps=step.info.steps)


def main(steps: int = 8192, members: int = 16, batch: int = 512) -> float:
    # plug in
    import gymnasium as gym
    from tianshou.env import DummyVectorEnv

    from agentworld_gym.integrations.sb3 import evaluate_policy

    tasks = {"families": ["count_lines", "filter_lines"], "levels": [1], "max_steps": 12}
    made = [gym.make("AgentWorld/TerminalMenu-v0", **tasks) for _ in range(members)]
    envs = DummyVectorEnv([lambda env=env: env for env in made])
    size, menu = made[0].observation_space.shape[0], int(made[0].action_space.n)
    # end
    torch.manual_seed(0)
    np.random.seed(0)  # Tianshou draws the order of minibatches from it.
    envs.seed(0)
    actor, critic = Actor(size, menu), Critic(size, menu)
    policy = DiscreteActorPolicy(actor=actor, action_space=made[0].action_space)
    settings = {"gamma": 0.98, "gae_lambda": 0.95, "ent_coef": 0.02, "vf_coef": 0.5, "max_grad_norm": 0.5}
    algorithm = PPO(policy=policy, critic=critic, optim=AdamOptimizerFactory(lr=1e-3), **settings)
    unseen = range(min(100, steps // 16))
    before = evaluate_policy(actor.network, "AgentWorld/Terminal-v0", unseen, **tasks).success
    batch = min(steps, batch)
    training = Collector(algorithm, envs, VectorReplayBuffer(batch, members), on_step_hook=keep_numbers)
    algorithm.run_training(
        OnPolicyTrainerParams(
            training_collector=training,
            max_epochs=1,
            epoch_num_steps=steps,
            collection_step_num_env_steps=batch,
            update_step_num_repetitions=6,
            batch_size=128,
            show_progress=False,
            verbose=False,
        )
    )
    after = evaluate_policy(actor.network, "AgentWorld/Terminal-v0", unseen, **tasks).success
    print(f"success on unseen tasks {before:.2f} before, {after:.2f} after")
    envs.close()
    return after


if __name__ == "__main__":
    main()
