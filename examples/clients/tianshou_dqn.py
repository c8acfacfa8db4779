"""Tianshou: DQN with action masks, which it finds under `mask` beside `obs`.

python examples/clients/tianshou_dqn.py
"""

from __future__ import annotations

from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import MLP
from torch import nn


class Network(nn.Module):
    """A network over the vectors; Tianshou passes the whole observation, whose `obs` is the vector."""

    def __init__(self, size: int, choices: int) -> None:
        super().__init__()
        self.layers = MLP(input_dim=size, output_dim=choices, hidden_sizes=[64])

    def forward(self, seen, state=None, info=None):
        """Return the values of all choices, which Tianshou masks."""
        return self.layers(seen.obs if hasattr(seen, "obs") else seen), state


def keep_numbers(_action, step) -> None:
    """Keep only the numbers of `info`: Tianshou fails if a value is missing, and texts come at some steps only."""
    step.info = Batch(steps=step.info.steps)


def main(steps: int = 4096) -> float:
    # plug in
    import gymnasium as gym
    from tianshou.env import DummyVectorEnv

    import agentworld_gym  # noqa: F401

    make = lambda: gym.make("AgentWorld/TerminalMenu-v0", dict_keys=["obs", "mask"])  # noqa: E731
    envs, one = DummyVectorEnv([make for _ in range(8)]), make()
    # end
    envs.seed(0)
    network = Network(one.observation_space["obs"].shape[0], int(one.action_space.n))
    policy = DiscreteQLearningPolicy(model=network, action_space=one.action_space, eps_training=0.2)
    algorithm = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), gamma=0.98, target_update_freq=200)
    buffer = VectorReplayBuffer(10_000, 8)
    training = Collector(algorithm, envs, buffer, exploration_noise=True, on_step_hook=keep_numbers)
    training.reset()
    training.collect(n_step=64)
    result = algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=training,
            max_epochs=1,
            epoch_num_steps=steps,
            collection_step_num_env_steps=32,
            update_step_num_gradient_steps_per_sample=0.2,
            show_progress=False,
            verbose=False,
        )
    )
    envs.close()
    one.close()
    print(f"trained on {result.train_step} steps, {result.train_episode} episodes")
    return float(result.train_step)


if __name__ == "__main__":
    main()
