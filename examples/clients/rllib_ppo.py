"""RLlib: PPO with a module that scores the entries of the menu and never draws one that is not on offer.

python examples/clients/rllib_ppo.py
"""

from __future__ import annotations

from typing import Any

import ray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule
from torch import nn

from agentworld_gym.integrations.sb3 import MenuNetwork


class MenuModule(TorchRLModule, ValueFunctionAPI):
    """An actor that scores the entries of the menu, and a critic of its own."""

    def setup(self) -> None:
        """Make the networks."""
        size, menu = self.observation_space.shape[0], int(self.action_space.n)
        self.actor, self.critic, self.value = MenuNetwork(size, menu), MenuNetwork(size, menu), nn.Linear(64, 1)

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        return {Columns.ACTION_DIST_INPUTS: self.actor.forward_actor(batch[Columns.OBS])}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> Any:
        """Return the value of each observation."""
        return self.value(self.critic.forward_critic(batch[Columns.OBS])).squeeze(-1)


def main(steps: int = 8192, batch: int = 512) -> float:
    ray.init(include_dashboard=False, num_cpus=1, ignore_reinit_error=True)
    # plug in
    import gymnasium as gym
    from ray.tune.registry import register_env

    from agentworld_gym.integrations.sb3 import evaluate_policy

    tasks = {"families": ["count_lines", "filter_lines"], "levels": [1], "max_steps": 12}
    register_env("menu", lambda config: gym.make("agentworld_gym:AgentWorld/TerminalMenu-v0", **config))
    config = PPOConfig().environment("menu", env_config=tasks).rl_module(rl_module_spec=RLModuleSpec(MenuModule))
    # end
    batch = min(steps, batch)
    config = config.env_runners(num_env_runners=0).learners(num_learners=0).debugging(seed=0)
    config = config.training(lr=1e-3, gamma=0.98, lambda_=0.95, entropy_coeff=0.02, grad_clip=0.5, clip_param=0.2)
    config = config.training(train_batch_size_per_learner=batch, minibatch_size=min(batch, 128), num_epochs=6)
    config = config.training(use_kl_loss=False, vf_loss_coeff=0.5)
    algorithm = config.build_algo()
    unseen = range(min(100, steps // 16))
    before = evaluate_policy(algorithm.get_module().actor, "AgentWorld/Terminal-v0", unseen, **tasks).success
    for _ in range(steps // batch):
        algorithm.train()
    after = evaluate_policy(algorithm.get_module().actor, "AgentWorld/Terminal-v0", unseen, **tasks).success
    algorithm.stop()
    ray.shutdown()
    print(f"success on unseen tasks {before:.2f} before, {after:.2f} after")
    return after


if __name__ == "__main__":
    main()
