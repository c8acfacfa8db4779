"""Minari: sessions of texts are recorded, and read again."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest

import agentworld_gym  # noqa: F401

minari = pytest.importorskip("minari")
pytest.importorskip("h5py")
pytest.importorskip("jax", reason="collectors of Minari need jax, which is too large for every test environment")


@pytest.mark.filterwarnings("ignore")
def test_a_session_of_texts_is_recorded_and_read_again(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    env: Any = minari.DataCollector(gym.make("AgentWorld/Terminal-v0"))
    actions = ["echo 'héllo ☃' > a.txt", "cat a.txt", "finish"]
    seen = [env.reset(seed=1)[0], *(env.step(action)[0] for action in actions)]
    dataset_id = env.create_dataset("agentworld/terminal-v0").id
    dataset = minari.load_dataset(dataset_id)
    [episode] = dataset.iterate_episodes()
    assert (episode.observations, episode.actions) == (seen, actions)
    again = dataset.recover_environment()
    assert again.observation_space == env.observation_space and seen[-1] in again.observation_space
    env.close()
