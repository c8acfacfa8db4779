"""skrl: PPO over a vector environment of menus, and networks that score the entries of the menu.

python examples/clients/skrl_ppo.py
"""

from __future__ import annotations

from typing import Any

import torch
from skrl.agents.torch.ppo import PPO, PPO_CFG
from skrl.memories.torch import RandomMemory
from skrl.models.torch import CategoricalMixin, DeterministicMixin, Model
from skrl.trainers.torch import SequentialTrainer
from torch import nn

from agentworld_gym.integrations.sb3 import MenuNetwork


class Policy(CategoricalMixin, Model):
    """An actor that scores the entries of the menu, and never draws one that is not on offer."""

    def __init__(self, **spaces: Any) -> None:
        Model.__init__(self, **spaces)
        CategoricalMixin.__init__(self)
        self.network = MenuNetwork(self.num_observations, self.num_actions)

    def compute(self, inputs: dict[str, Any], role: str = "") -> tuple[torch.Tensor, dict[str, Any]]:
        """Return the scores."""
        return self.network.forward_actor(inputs["observations"]), {}


class Value(DeterministicMixin, Model):
    """A critic with a network of its own."""

    def __init__(self, **spaces: Any) -> None:
        Model.__init__(self, **spaces)
        DeterministicMixin.__init__(self)
        self.network, self.value = MenuNetwork(self.num_observations, self.num_actions), nn.Linear(64, 1)

    def compute(self, inputs: dict[str, Any], role: str = "") -> tuple[torch.Tensor, dict[str, Any]]:
        """Return the value of each observation."""
        return self.value(self.network.forward_critic(inputs["observations"])), {}


def main(steps: int = 16_384, members: int = 16, length: int = 32) -> float:
    # plug in
    import gymnasium as gym
    from skrl.envs.wrappers.torch import wrap_env

    from agentworld_gym.integrations.sb3 import evaluate_policy

    tasks = {"families": ["count_lines", "filter_lines"], "levels": [1], "max_steps": 12}
    made = gym.make_vec("AgentWorld/TerminalMenu-v0", num_envs=members, autoreset_mode="SameStep", **tasks)
    env = wrap_env(made)
    # end
    torch.manual_seed(0)
    spaces = {"observation_space": env.observation_space, "action_space": env.action_space, "device": env.device}
    policy, turns = Policy(**spaces), max(1, steps // members)
    length = min(length, turns)
    settings = {"learning_epochs": 6, "mini_batches": 4, "discount_factor": 0.98, "gae_lambda": 0.95}
    losses = {"entropy_loss_scale": 0.02, "value_loss_scale": 0.5, "value_clip": 0.0, "time_limit_bootstrap": True}
    agent = PPO(
        models={"policy": policy, "value": Value(**spaces)},
        memory=RandomMemory(memory_size=length, num_envs=members, device=env.device),
        cfg=PPO_CFG(rollouts=length, **settings, **losses),
        **spaces,
    )
    agent.cfg.experiment.write_interval = agent.cfg.experiment.checkpoint_interval = 0
    unseen = range(min(100, steps // 16))
    before = evaluate_policy(policy.network, "AgentWorld/Terminal-v0", unseen, **tasks).success
    trainer = {"timesteps": turns, "headless": True, "disable_progressbar": True, "close_environment_at_exit": False}
    SequentialTrainer(cfg=trainer, env=env, agents=agent).train()
    after = evaluate_policy(policy.network, "AgentWorld/Terminal-v0", unseen, **tasks).success
    print(f"success on unseen tasks {before:.2f} before, {after:.2f} after")
    env.close()
    return after


if __name__ == "__main__":
    main()
