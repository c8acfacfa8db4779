"""Several agents in one world."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("pettingzoo")
from pettingzoo.test import parallel_api_test, parallel_seed_test

from agentworld_gym import SpecError, agent_prompt
from agentworld_gym.core.contracts import Failure, FailureKind
from agentworld_gym.core.traces import read_trace
from agentworld_gym.envs.episodes.replay import replay
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.integrations.pettingzoo import AgentWorldParallelEnv

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
    assert observations["agent_1"] == "dev@box:~$ cat a.txt\nhello\ndev@box:~$"
    _, rewards, terminations, truncations, infos = env.step({"agent_0": "finish", "agent_1": "rm a.txt"})
    assert rewards["agent_0"] == rewards["agent_1"] > 0.9
    assert all(terminations.values())
    assert not any(truncations.values())
    assert infos["agent_0"]["success"] is True
    assert env.agents == []


def test_wrong_use_names_itself():
    for number in (0, True, "2"):
        with pytest.raises(SpecError, match="num_agents"):
            AgentWorldParallelEnv(number, spec="terminal", world="scripted")


def test_each_agent_sees_the_output_of_its_own_action_only():
    env = make()
    first, _ = env.reset(seed=1, options={"task": TASK})
    observations, *_ = env.step({"agent_0": "echo mine > b.txt", "agent_1": "ls"})
    assert observations["agent_1"] == "dev@box:~$ ls\nb.txt\ndev@box:~$"
    seen = observations["agent_0"]
    observations, _, terminations, _, infos = env.step({"agent_0": "finish", "agent_1": "cat b.txt"})
    # agent_1 did not act any more.
    assert observations == {"agent_0": seen, "agent_1": "dev@box:~$ ls\nb.txt\ndev@box:~$"}
    assert all(terminations.values())
    assert infos["agent_1"] == {}
    env.reset(seed=1, options={"task": TASK})
    observations, *_ = env.step({"agent_0": "finish", "agent_1": "ls"})
    assert observations["agent_0"] == observations["agent_1"] == first["agent_0"]


def test_an_agent_confirms_its_own_wish_to_finish_only():
    env = make()
    env.reset(seed=1, options={"task": TASK})
    _, _, terminations, _, _ = env.step({"agent_0": "[]", "agent_1": "[]"})
    assert not any(terminations.values())
    _, _, terminations, _, _ = env.step({"agent_0": "ls", "agent_1": "[]"})
    assert all(terminations.values())


def test_a_failed_action_shows_what_its_agent_saw_last():
    env = make()
    env.reset(seed=1, options={"task": TASK})
    observations, *_ = env.step({"agent_0": "pwd", "agent_1": "ls"})
    world = env.runner.world
    failure = Failure(FailureKind.TIMEOUT, "no answer within 30 s", retryable=True)
    env.runner.world = SimpleNamespace(step=lambda sessions, actions: [failure], close=world.close)
    after, rewards, _, truncations, infos = env.step({"agent_0": "ls", "agent_1": "ls"})
    assert after == observations
    assert all(truncations.values())
    assert rewards == {"agent_0": 0.0, "agent_1": 0.0}
    assert infos["agent_0"]["failure"]["kind"] == "timeout"


def test_a_step_is_a_round_of_all_agents():
    env = make(max_steps=3)
    env.reset(seed=1, options={"task": TASK})
    for number in (1, 2, 3):
        _, rewards, _, truncations, infos = env.step({"agent_0": "pwd", "agent_1": "pwd"})
        assert [infos[agent]["steps"] for agent in env.possible_agents] == [number, number]
        assert all(truncations.values()) is (number == 3)
        cost = env.runner.spec.reward.step_cost
        assert rewards["agent_0"] == rewards["agent_1"] == pytest.approx(-cost)


def test_the_trace_of_a_round_numbers_every_action(tmp_path):
    env = make(traces=str(tmp_path), max_steps=2)
    env.reset(seed=1, options={"task": TASK})
    for _ in range(2):
        env.step({"agent_0": "pwd", "agent_1": "ls"})
    env.close()
    [episode] = read_trace(tmp_path)
    assert [(step.turn, step.action) for step in episode.steps] == [
        (1, "pwd"),
        (2, "ls"),
        (3, "pwd"),
        (4, "ls"),
    ]
    runner = EnvOptions(spec="terminal", max_steps=2).runner()
    [replayed] = replay(tmp_path, runner)
    assert (replayed.turns, replayed.agreed, replayed.departures) == (4, 4, ())
    runner.close()


def test_a_replay_knows_whose_wish_to_finish_was_confirmed(tmp_path):
    env = make(traces=str(tmp_path))
    env.reset(seed=1, options={"task": TASK})
    env.step({"agent_0": "[]", "agent_1": "[]"})
    env.step({"agent_0": "ls", "agent_1": "[]"})
    env.close()
    runner = EnvOptions(spec="terminal").runner()
    [replayed] = replay(tmp_path, runner)
    assert (replayed.turns, replayed.agreed, replayed.departures) == (4, 4, ())
    runner.close()


@pytest.mark.parametrize("spec", ["AgentWorld/Terminal-v0", "agentworld_gym:AgentWorld/Terminal-v0"])
def test_the_id_of_an_environment_names_its_spec(spec):
    env = make(spec=spec)
    assert env.runner.spec.id == "terminal"
    env.close()


@pytest.mark.parametrize(
    "actions, said",
    [
        ({"agent_0": "ls"}, "actions.agent_1: got None, expected a string"),
        ({"agent_0": "ls", "agent_1": 7}, "actions.agent_1: got 7, expected a string"),
        ({"agent_0": "ls", "agent_1": "ls", "agent_2": "ls"}, "actions.agent_2: .* expected one of agent_0, agent_1"),
        (["ls", "ls"], "actions: got .*, expected a string for each of agent_0, agent_1"),
    ],
)
def test_what_is_no_action_names_the_agent_and_changes_nothing(actions, said):
    env = make()
    env.reset(seed=1, options={"task": TASK})
    with pytest.raises(SpecError, match=said):
        env.step(actions)
    observations, *_ = env.step({"agent_0": "ls", "agent_1": "ls"})
    assert observations["agent_0"] == "dev@box:~$ ls\ndev@box:~$"


def test_agents_are_told_their_tools_and_draw_actions_that_make_sense():
    env = AgentWorldParallelEnv(2, spec="mcp", world="grounded")
    _, infos = env.reset(seed=2)
    told = agent_prompt(env)
    for agent in env.agents:
        assert agent_prompt(env, agent) == told
        assert infos[agent]["tools"] and all(f'"name": "{tool["name"]}"' in told for tool in infos[agent]["tools"])
        assert all(env.action_space(agent).sample() in env.task.menu for _ in range(10))
    infos["agent_0"]["tools"].clear()
    assert infos["agent_1"]["tools"], "each agent has a copy of its own"
    with pytest.raises(
        TypeError, match=r"AgentWorldParallelEnv.__init__\(\) got an unexpected keyword argument 'wrld'"
    ):
        make(wrld="tiny")
    env.close()
