"""A director chooses the controls, and solvers play under them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("pettingzoo")
import pettingzoo
from pettingzoo.test import api_test, seed_test
from pettingzoo.test.render_test import render_test

from agentworld_gym import SpecError, agent_prompt
from agentworld_gym.agents.teams.director import load_director
from agentworld_gym.agents.teams.shipped import shipped_names
from agentworld_gym.base.errors import ClosedError
from agentworld_gym.core.contracts import Failure, FailureKind
from agentworld_gym.integrations.pettingzoo import AgentWorldDirectorEnv, register_envs

TASK = {"instruction": "Make a file.", "success": [{"probe": "cat a.txt", "expect": {"equals": "hello"}}]}


@pytest.fixture
def env():
    env = AgentWorldDirectorEnv("regretted-shell")
    env.reset(seed=3, options={"task": TASK})
    yield env
    env.close()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", shipped_names("director"))
def test_pettingzoos_own_tests_accept_every_director(name):
    register_envs()

    def made(**options):
        return pettingzoo.make("aec", load_director(name).env_id, **options)

    api_test(made(), num_cycles=60)
    seed_test(made, num_cycles=20)
    render_test(made)


def test_the_controls_of_the_choice_are_in_force_for_every_solver(env):
    assert "Make a file." in env.last()[0]["text"] and "stale-data (1)" in env.last()[0]["text"]
    env.step('{"intermittent-errors": 0.6}')
    seen = []
    for solver in ("protagonist", "antagonist"):
        assert env.agent_selection == solver and env.task.controls == {"intermittent-errors": 0.6}
        assert env.last()[0]["text"].startswith("Make a file.")
        for _ in range(6):
            env.step("ls")
            seen.append(env.observe(solver)["text"])
        env.step("finish")
        if solver == "protagonist":
            env.step(None)
    assert seen[:6] == seen[6:], "both meet the same faults"
    assert len(set(seen)) > 1, "some commands fail"


def test_the_regret_pays_the_director(env):
    env.step("{}")
    director = 0.0
    for solver, work in (("protagonist", "ls"), ("antagonist", "echo hello > a.txt")):
        rewards = 0.0
        for action in (work, "finish"):
            env.step(action)
            director += env.rewards["director"]
            rewards += env.rewards[solver]
        assert rewards == pytest.approx((0.0 if solver == "protagonist" else 1.0) - 2 * env.domain.reward.step_cost)
        if solver == "protagonist":
            assert env.terminations == {"director": False, "protagonist": True, "antagonist": False}
            env.step(None)
    assert director == pytest.approx(1.0)
    assert all(env.terminations.values())


@pytest.mark.parametrize("choice", ['{"stale-data": 0.7}', '{"fog": 0.1}', "finish"])
def test_a_choice_that_breaks_the_rules_puts_nothing_in_force(env, choice):
    env.step(choice)
    assert env.infos["director"]["action_error"] and env.task.controls == {}
    assert env.agent_selection == "protagonist"


def test_a_failure_of_the_world_truncates_for_all_and_pays_nobody(env):
    env.step("{}")
    world = env.runner.world
    failure = Failure(FailureKind.TIMEOUT, "no answer within 30 s", retryable=True)
    env.runner.world = SimpleNamespace(step=lambda sessions, actions: [failure], close=world.close)
    env.step("ls")
    assert all(env.truncations.values()) and set(env.rewards.values()) == {0.0}
    assert env.infos["protagonist"]["failure"]["kind"] == "timeout"


def test_a_fork_goes_its_own_way(env):
    env.step("{}")
    env.step("echo hello > a.txt")
    twin = env.fork()
    env.step("rm a.txt")
    for one, success in ((env, False), (twin, True)):
        one.step("finish")
        assert one.infos["protagonist"]["success"] is success
    twin.close()


def test_wrong_use_names_itself(env):
    with pytest.raises(SpecError, match=r"controls: .*the director chooses"):
        AgentWorldDirectorEnv("faulty-shop", controls={"pagination": 0.1})
    with pytest.raises(SpecError, match=r"controls: .*the director chooses"):
        env.reset(options={"controls": {"stale-data": 0.1}})
    with pytest.raises(SpecError, match=r"spec: .*mcp, the domain of the director"):
        AgentWorldDirectorEnv("faulty-shop", spec="terminal")
    with pytest.raises(SpecError, match="the action of director: got None"):
        env.step(None)
    with pytest.raises(ClosedError):
        AgentWorldDirectorEnv("faulty-shop", world="scripted").step("{}")


def test_a_director_answers_with_one_action_and_its_solvers_are_told_the_domain(env):
    assert agent_prompt(env, "director") == "Answer every message with one action and nothing else."
    for solver in env.possible_agents[1:]:
        assert agent_prompt(env, solver) == agent_prompt(env)
