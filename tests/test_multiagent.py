"""Several agents in one world."""

from __future__ import annotations

import pytest

pytest.importorskip("pettingzoo")
from pettingzoo.test import parallel_api_test, parallel_seed_test

from agentworld_gym import SpecError
from agentworld_gym.multiagent import AgentWorldParallelEnv

TASK = {"instruction": "Share a file.", "success": [{"probe": "cat a.txt", "expect": {"equals": "hello"}}]}


def make(**options):
    return AgentWorldParallelEnv(2, **{"spec": "terminal", "world": "grounded", **options})


def test_pettingzoos_own_checks_accept_it():
    parallel_api_test(make(), num_cycles=60)
    parallel_seed_test(make, num_cycles=5)


def test_agents_share_one_world_and_one_reward():
    env = make()
    env.reset(seed=1, options={"task": TASK})
    observations, *_ = env.step({"agent_0": "echo hello > a.txt", "agent_1": "cat a.txt"})
    assert observations["agent_1"] == "cat a.txt\nhello\ndev@box:~$"
    _, rewards, terminations, truncations, infos = env.step({"agent_0": "finish", "agent_1": "rm a.txt"})
    assert rewards["agent_0"] == rewards["agent_1"] > 0.9
    assert all(terminations.values())
    assert not any(truncations.values())
    assert infos["agent_0"]["success"] is True
    assert env.agents == []


def test_wrong_use_names_itself():
    with pytest.raises(SpecError, match="num_agents"):
        AgentWorldParallelEnv(0, spec="terminal", world="scripted")
