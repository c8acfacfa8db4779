"""RLlib on one of the environments; it runs where the extra `ray` is installed."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

import agentworld_gym  # noqa: F401

pytest.importorskip("ray")

WIDTH, ENTRIES = 64, 12


class MenuByNumber(gym.Wrapper):
    """Which letters stand in the observation, and the entries of the task's menu by number; no entry is `finish`."""

    def __init__(self, env):
        super().__init__(env)
        self.observation_space = gym.spaces.Box(0, 1, (WIDTH,), np.float32)
        self.action_space = gym.spaces.Discrete(ENTRIES)

    def reset(self, *, seed=None, options=None):
        text, _ = self.env.reset(seed=seed, options=options)
        return self.seen(text), {}

    def step(self, action):
        entries = dict(enumerate(self.env.unwrapped.menu))
        text, reward, terminated, truncated, _ = self.env.step(entries.get(int(action)) or "finish")
        return self.seen(text), reward, terminated, truncated, {}

    def seen(self, text):
        vector = np.zeros(WIDTH, np.float32)
        vector[[ord(letter) % WIDTH for letter in text]] = 1
        return vector


def test_ppo_of_rllib_makes_an_iteration_on_the_terminal():
    import ray
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.tune.registry import register_env

    register_env("terminal", lambda config: MenuByNumber(gym.make("AgentWorld/Terminal-v0", max_steps=10)))
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        config = PPOConfig().environment("terminal").env_runners(num_env_runners=0)
        algorithm = config.training(train_batch_size=200, minibatch_size=64, num_epochs=1).build_algo()
        played = algorithm.train()["env_runners"]
        algorithm.stop()
    finally:
        ray.shutdown()
    assert played["num_env_steps_sampled"] == 200
    assert -0.2 < played["episode_return_mean"] < 1
