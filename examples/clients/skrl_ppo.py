"""skrl: PPO over a vector environment of menus; the mask stands in the observation, beside the vector.

python examples/clients/skrl_ppo.py
"""

from __future__ import annotations

import torch
from skrl.agents.torch.ppo import PPO, PPO_CFG
from skrl.memories.torch import RandomMemory
from skrl.models.torch import CategoricalMixin, DeterministicMixin, Model
from skrl.trainers.torch import SequentialTrainer
from skrl.utils.spaces.torch import unflatten_tensorized_space
from torch import nn


class Policy(CategoricalMixin, Model):
    """A policy that scores the choices; choices that are masked are never drawn."""

    def __init__(self, observation_space, action_space, device):
        Model.__init__(self, observation_space=observation_space, action_space=action_space, device=device)
        CategoricalMixin.__init__(self)
        size = observation_space["observation"].shape[0]
        self.layers = nn.Sequential(nn.Linear(size, 64), nn.Tanh(), nn.Linear(64, self.num_actions))

    def compute(self, inputs, role=""):
        """Return the masked scores."""
        seen = unflatten_tensorized_space(self.observation_space, inputs["observations"])
        return self.layers(seen["observation"]).masked_fill(seen["action_mask"] == 0, -1e8), {}


class Value(DeterministicMixin, Model):
    """A network for the value of an observation."""

    def __init__(self, observation_space, action_space, device):
        Model.__init__(self, observation_space=observation_space, action_space=action_space, device=device)
        DeterministicMixin.__init__(self)
        self.layers = nn.Sequential(nn.Linear(self.num_observations, 64), nn.Tanh(), nn.Linear(64, 1))

    def compute(self, inputs, role=""):
        """Return the value."""
        return self.layers(inputs["observations"]), {}


def main(steps: int = 4096, members: int = 8) -> int:
    # plug in
    import gymnasium as gym
    from skrl.envs.wrappers.torch import wrap_env

    import agentworld_gym  # noqa: F401

    options = {"dict_keys": ["observation", "action_mask"]}
    env = wrap_env(gym.make_vec("AgentWorld/TerminalMenu-v0", num_envs=members, **options))
    # end
    spaces = env.observation_space, env.action_space, env.device
    torch.manual_seed(0)
    turns = max(16, steps // members)
    agent = PPO(
        models={"policy": Policy(*spaces), "value": Value(*spaces)},
        memory=RandomMemory(memory_size=16, num_envs=members, device=env.device),
        observation_space=env.observation_space,
        action_space=env.action_space,
        device=env.device,
        cfg=PPO_CFG(rollouts=16, entropy_loss_scale=0.02),
    )
    agent.cfg.experiment.write_interval = agent.cfg.experiment.checkpoint_interval = 0
    settings = {"timesteps": turns, "headless": True, "disable_progressbar": True}
    SequentialTrainer(cfg=settings, env=env, agents=agent).train()
    env.close()
    print(f"trained on {turns * members} steps")
    return turns * members


if __name__ == "__main__":
    main()
