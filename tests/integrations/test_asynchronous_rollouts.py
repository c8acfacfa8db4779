"""Stable-Baselines3 with rollouts in which no member waits for another."""

from __future__ import annotations

import random
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from latencies import held_world, register_held, steady

from agentworld_gym.base.errors import SpecError, UnderWayError

pytest.importorskip("sb3_contrib")

import torch
from sb3_contrib import MaskablePPO, RecurrentPPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv

from agentworld_gym.agents.policies.menu_policy import MenuPolicy
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.integrations.sb3.asynchronous_rollouts import asynchronous
from agentworld_gym.integrations.sb3.ppo import train_ppo
from agentworld_gym.integrations.sb3.vec_env import AgentWorldVecEnv, make_sb3_env

TERMINAL = "AgentWorld/Terminal-v0"
torch.set_num_threads(1)


@pytest.mark.parametrize("algorithm", [PPO, A2C, MaskablePPO], ids=lambda algorithm: algorithm.__name__)
def test_where_all_answers_come_at_once_training_is_that_in_waves_to_the_bit(algorithm):
    def weights(kind: Any) -> dict[str, torch.Tensor]:
        env = make_sb3_env(TERMINAL, num_envs=3, seed=0, world="grounded", max_steps=4)
        model = kind(MenuPolicy, env, seed=0, device="cpu", n_steps=4).learn(24)
        env.close()
        return model.policy.state_dict()

    in_waves, as_they_come = weights(algorithm), weights(asynchronous(algorithm))
    assert all(torch.equal(in_waves[name], as_they_come[name]) for name in in_waves)


class Watching(BaseCallback):
    """Keeps who was ready at every call, and a copy of the last rollout; may end it."""

    def __init__(self, calls: int | None = None) -> None:
        super().__init__()
        self.ready: list[list[int]] = []
        self.calls = calls

    def _on_step(self) -> bool:
        self.ready.append(self.locals["members"].tolist())
        return self.calls is None or self.n_calls < self.calls

    def _on_rollout_end(self) -> None:
        buffer = self.locals["rollout_buffer"]
        self.columns = {name: getattr(buffer, name).copy() for name in ("observations", "episode_starts", "rewards")}


@pytest.mark.parametrize("seed", range(3))
def test_each_member_fills_its_own_column_whatever_the_order_of_answers(seed):
    with held_world(random.Random(seed), 4) as (envs, _):
        env = AgentWorldVecEnv(envs.runner, 4, seed=0)
        watching = Watching()
        model = asynchronous(MaskablePPO)("MlpPolicy", env, seed=0, device="cpu", n_steps=5)
        model.learn(20, callback=watching)
        assert sorted(member for ready in watching.ready for member in ready) == sorted([0, 1, 2, 3] * 5)
        assert len(watching.ready) > 5, "some member went on without the others"
        observations = watching.columns["observations"]
        for member in range(4):
            steps = [row for row in range(1, 5) if not watching.columns["episode_starts"][row, member]]
            assert all((observations[row, member] != observations[row - 1, member]).any() for row in steps)
        assert np.array_equal(model._last_obs, env._vectors) and env.under_way == 0


def test_a_replay_of_a_recorded_world_hands_out_members_in_the_recorded_order(tmp_path):
    path = tmp_path / "world.jsonl"

    def handed_out(world: str) -> list[list[int]]:
        register_held(random.Random(1), steady)
        env = AgentWorldVecEnv(EnvOptions(spec="terminal", world=world).runner(), 4, seed=0)
        env.reset()
        env.send(np.zeros(4, int), np.arange(4))
        order = []
        for _ in range(8):
            members, *_ = env.recv()
            order.append(members.tolist())
            env.send(np.zeros(len(members), int), members)
        env.close()
        return order

    assert handed_out(f"record:{path}+held") == handed_out(f"recorded:{path}") != [[0, 1, 2, 3]] * 8


def test_a_callback_that_ends_a_rollout_leaves_nothing_under_way():
    with held_world(random.Random(0), 3) as (envs, _):
        env = AgentWorldVecEnv(envs.runner, 3, seed=0)
        model = asynchronous(A2C)("MlpPolicy", env, device="cpu", n_steps=4).learn(100, callback=Watching(calls=2))
        assert model.num_timesteps < 12 and env.under_way == 0
        env.step(np.zeros(3, int))


def test_what_a_time_limit_cuts_off_is_worth_what_the_policy_expects():
    env = make_sb3_env(TERMINAL, num_envs=1, seed=0, world="scripted", max_steps=1)
    watching = Watching()
    model = asynchronous(A2C)("MlpPolicy", env, device="cpu", n_steps=1, gamma=0.5, learning_rate=0.0)
    model.learn(1, callback=watching)
    info = watching.locals["infos"][0]
    assert info["TimeLimit.truncated"]
    with torch.no_grad():
        value = model.policy.predict_values(torch.as_tensor(info["terminal_observation"])[None]).item()
    assert watching.columns["rewards"][0, 0] == pytest.approx(info["episode"]["r"] + 0.5 * value)
    env.close()


@pytest.mark.parametrize("seed", range(3))
def test_training_goes_on_after_an_interrupt_from_where_every_member_is(seed):
    class Interrupting(BaseCallback):
        def _on_step(self) -> bool:
            raise KeyboardInterrupt

    with held_world(random.Random(seed), 4) as (envs, _):
        env = AgentWorldVecEnv(envs.runner, 4, seed=0)
        model = asynchronous(MaskablePPO)("MlpPolicy", env, seed=0, device="cpu", n_steps=3)
        with pytest.raises(KeyboardInterrupt):
            model.learn(12, callback=Interrupting())
        assert env.under_way
        vectors = {}
        watching = Watching()
        watching._on_rollout_start = lambda: vectors.update(now=env._vectors.copy())
        model.learn(12, callback=watching, reset_num_timesteps=False)
        assert np.array_equal(watching.columns["observations"][0], vectors["now"])


def test_train_ppo_takes_it():
    env = make_sb3_env(TERMINAL, num_envs=2, seed=0, world="scripted", max_steps=4)
    training = train_ppo(env, 32, algorithm=asynchronous(MaskablePPO), n_steps=8, batch_size=16)
    assert [point.steps for point in training.curve] == [16, 32]
    env.close()


def test_misuse_is_refused():
    with pytest.raises(SpecError, match="on-policy"):
        asynchronous(DQN)
    with pytest.raises(SpecError, match="not recurrent"):
        asynchronous(RecurrentPPO)
    env = make_sb3_env(TERMINAL, num_envs=2, seed=0, world="scripted")
    env.reset()
    with pytest.raises(UnderWayError, match="nothing"):
        env.recv()
    env.send(np.zeros(1, int), np.array([1]))
    with pytest.raises(UnderWayError):
        env.send(np.zeros(1, int), np.array([1]))
    with pytest.raises(UnderWayError, match="before step"):
        env.step(np.zeros(2, int))
    env.reset()
    assert env.under_way == 0
    env.close()
    others = DummyVecEnv([lambda: gym.make("AgentWorld/TerminalMenu-v0", world="scripted")])
    with pytest.raises(SpecError, match="make_sb3_env"):
        asynchronous(A2C)("MlpPolicy", others, device="cpu").learn(5)
