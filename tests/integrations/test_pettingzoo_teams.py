"""Roles share one world: who may do what, who reads what, and who is paid for what."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
import yaml

pytest.importorskip("pettingzoo")
import pettingzoo
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test
from pettingzoo.test.render_test import render_test
from pettingzoo.utils import OrderEnforcingWrapper

from agentworld_gym import SpecError, agent_prompt
from agentworld_gym.agents.teams.shipped import shipped_names
from agentworld_gym.agents.teams.team import load_team
from agentworld_gym.base.errors import ClosedError
from agentworld_gym.core.contracts import Failure, FailureKind
from agentworld_gym.core.traces import read_trace
from agentworld_gym.envs.episodes.replay import replay
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.integrations.pettingzoo import AgentWorldAECEnv, AgentWorldParallelEnv, register_envs

TASK = {"instruction": "Share a file.", "success": [{"probe": "cat a.txt", "expect": {"equals": "hello"}}]}
PAIR = {
    "domain": "terminal",
    "channel": {"max_chars": 40},
    "roles": {
        "writer": {"finishes": False},
        "reader": {"instruction": "Read what the writer wrote.", "actions": ["cat [a-z.]+", "ls"]},
    },
}
SHIPPED = [load_team(name).env_id for name in shipped_names("team")]


def pair(tmp_path, **changes):
    path = tmp_path / "pair.yaml"
    path.write_text(yaml.safe_dump({**PAIR, **changes}, sort_keys=False), encoding="utf-8")
    return str(path)


@pytest.fixture
def env(tmp_path):
    env = AgentWorldParallelEnv(team=pair(tmp_path), world="grounded")
    env.reset(seed=1, options={"task": TASK})
    yield env
    env.close()


def rounds(env, *pairs):
    for writer, reader in pairs:
        result = env.step({"writer": writer, "reader": reader})
    return result


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("env_id", ["AgentWorld/Terminal-v0", *SHIPPED])
def test_pettingzoos_own_tests_accept_every_registered_team(env_id):
    register_envs()
    register_envs()

    def aec(**options):
        return pettingzoo.make("aec", env_id, **options)

    def parallel(**options):
        return pettingzoo.make("parallel", env_id, **options)

    api_test(aec(), num_cycles=40)
    seed_test(aec, num_cycles=8)
    parallel_api_test(parallel(), num_cycles=40)
    parallel_seed_test(parallel, num_cycles=8)
    render_test(aec)


def test_who_waits_does_nothing_and_pays_for_no_message(tmp_path):
    roles = {"writer": {"reward": {"message_cost": 0.25}}, "reader": {}}
    env = AgentWorldParallelEnv(team=pair(tmp_path, roles=roles), world="grounded")
    first, _ = env.reset(seed=1, options={"task": TASK})
    observations, rewards, _, _, infos = env.step({"writer": "wait", "reader": "wait"})
    assert observations == first and rewards["writer"] == rewards["reader"]
    assert infos["writer"]["steps"] == 1 and "messages" not in infos["reader"]
    env.close()


def test_each_role_is_told_its_own_instruction(env):
    observations, infos = env.reset(seed=1, options={"task": TASK})
    assert observations["writer"].startswith("Share a file.\n\n")
    assert observations["reader"].startswith("Read what the writer wrote.\n\n")
    assert infos["reader"]["instruction"] == "Read what the writer wrote."


def test_a_message_is_in_the_next_observation_of_the_other_and_takes_the_turn(env):
    observations, _, _, _, infos = rounds(env, ("message: Look at a.txt.", "ls"))
    assert observations["reader"] == "[writer] Look at a.txt.\n\ndev@box:~$ ls\ndev@box:~$"
    assert infos["reader"]["messages"] == [{"from": "writer", "text": "Look at a.txt."}]
    assert "messages" not in infos["writer"]
    observations, *_ = rounds(env, ("message reader: Now.\n[reader] I agree.", "ls"))
    assert observations["reader"].startswith("[writer] Now.\n  [reader] I agree.\n\n"), "nobody speaks for another"
    observations, *_ = rounds(env, ("ls", "ls"))
    assert "[writer]" not in observations["reader"], "a message is read once"


@pytest.mark.parametrize(
    "text, said",
    [
        ("message:   ", "the message is empty"),
        ("message: " + "x" * 41, "41 characters, at most 40"),
        ("message boss: Hello.", "you can write to reader, not to boss"),
        ("finish", "only reader can end the work"),
        ("[]", "only reader can end the work"),
    ],
)
def test_what_a_role_may_not_do_is_an_error_that_it_sees(env, text, said):
    observations, _, terminations, _, infos = rounds(env, (text, "ls"))
    assert said in observations["writer"] and said in infos["writer"]["action_error"]
    assert not any(terminations.values())
    assert "messages" not in infos["reader"]


def test_a_role_acts_within_its_actions_only(env):
    observations, *_ = rounds(env, ("echo hello > a.txt", "cat a.txt; rm a.txt"), ("ls", "cat a.txt"))
    assert "hello" in observations["reader"] and "a.txt" in observations["writer"]


def test_a_role_calls_and_is_told_its_own_tools_only():
    env = AgentWorldAECEnv(team="author-and-reviewer", world="grounded")
    env.reset(seed=0)
    author, reviewer = ({tool["name"] for tool in env.infos[name]["tools"]} for name in ("author", "reviewer"))
    assert "run_shell_command" in reviewer - author and "edit" in author - reviewer
    assert '"name": "edit"' in env.prompt("author") and "finish" not in env.prompt("author")
    assert "You work with author." in env.prompt("reviewer") and "finish: ANSWER" in env.prompt("reviewer")
    wrapped = OrderEnforcingWrapper(env)
    assert [agent_prompt(wrapped, name) for name in env.agents] == [env.prompt(name) for name in env.agents]
    for wrong in ("tester", 0):
        with pytest.raises(SpecError, match=r"agent_prompt: agent: got .*, expected one of author, reviewer"):
            agent_prompt(env, wrong)
    remove = json.dumps({"name": "run_shell_command", "arguments": {"command": "rm -r tests"}})
    env.step(remove)
    assert "Unknown tool: run_shell_command" in env.observe("author")["text"]
    env.step(remove)
    assert "this value of command is not allowed in your role" in env.observe("reviewer")["text"]
    env.close()


def test_in_turns_a_message_is_read_before_the_very_next_action(tmp_path):
    env = AgentWorldAECEnv(team=pair(tmp_path), world="grounded")
    env.reset(seed=1, options={"task": TASK})
    env.step("message: Look.")
    assert (env.agent_selection, env.last()[0]["text"].splitlines()[0]) == ("reader", "[writer] Look.")
    assert env.last()[4]["messages"] == [{"from": "writer", "text": "Look."}]
    with pytest.raises(SpecError, match="the action of reader: got 7"):
        env.step(7)
    env.step("ls")
    assert env.last(observe=False)[1] == pytest.approx(-env.domain.reward.step_cost), "the writer is paid both turns"
    env.step("echo hello > a.txt")
    env.step("finish")
    assert all(env.terminations.values()) and env.infos["reader"]["success"] is True
    for _ in env.possible_agents:
        env.step(None)
    assert env.agents == []
    with pytest.raises(ClosedError):
        env.step("ls")
    env.close()


def test_pay_is_data(tmp_path):
    found = {"probe": "cat b.txt", "expect": {"equals": "mine"}}
    roles = {
        "writer": {"reward": {"shared": 1.0, "message_cost": 0.25}},
        "saboteur": {"reward": {"shared": -1.0, "own": 2.0, "action_cost": 0.5}, "success": [found]},
    }
    env = AgentWorldParallelEnv(team=pair(tmp_path, roles=roles), world="grounded")
    env.reset(seed=1, options={"task": TASK})
    cost = env.domain.reward.step_cost
    _, rewards, *_ = env.step({"writer": "message: Hi.", "saboteur": "echo mine > b.txt"})
    assert rewards == {"writer": pytest.approx(-cost - 0.25), "saboteur": pytest.approx(cost - 0.5)}
    _, rewards, *_ = env.step({"writer": "echo hello > a.txt", "saboteur": "ls"})
    _, rewards, _, _, infos = env.step({"writer": "finish", "saboteur": "ls"})
    assert rewards == {"writer": pytest.approx(1.0 - cost / 2), "saboteur": pytest.approx(2.0 - 1.0 + cost / 2)}
    assert infos["writer"]["own_scores"] == {"saboteur": 1.0} and infos["writer"]["success"] is True
    env.close()


def test_checks_of_actions_look_at_what_was_carried_out_not_at_messages_and_refusals(env):
    task = {"instruction": "Name it.", "success": [{"action": {"contains": "rm a.txt"}}]}
    env.reset(seed=1, options={"task": task})
    rounds(env, ("message: rm a.txt", "rm a.txt"))
    *_, infos = rounds(env, ("pwd", "finish"))
    assert infos["reader"]["success"] is False


def test_a_shared_screen_shows_what_any_role_did_last(tmp_path):
    roles = {"writer": {}, "watcher": {"sees": "world"}}
    env = AgentWorldParallelEnv(team=pair(tmp_path, roles=roles), world="grounded")
    env.reset(seed=1, options={"task": TASK})
    observations, *_ = env.step({"writer": "echo hello > a.txt", "watcher": "message: Go on."})
    assert "echo hello" in observations["watcher"]
    env.close()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("env_id", ["MCP-v0", "Search-v0", "SWE-v0", "Web-v0", "Desktop-v0", "Android-v0"])
def test_every_domain_is_shared(env_id):
    register_envs()
    api_test(pettingzoo.make("aec", f"AgentWorld/{env_id}"), num_cycles=10)
    parallel_api_test(pettingzoo.make("parallel", f"AgentWorld/{env_id}"), num_cycles=10)


def test_a_failure_of_the_world_truncates_for_all_and_pays_nobody(env):
    world = env.runner.world
    failure = Failure(FailureKind.TIMEOUT, "no answer within 30 s", retryable=True)
    env.runner.world = SimpleNamespace(step=lambda sessions, actions: [failure], close=world.close)
    _, rewards, _, truncations, infos = rounds(env, ("ls", "ls"))
    assert all(truncations.values()) and rewards == {"writer": 0.0, "reader": 0.0}
    assert infos["writer"]["failure"]["kind"] == "timeout"


@pytest.mark.parametrize("made", [AgentWorldParallelEnv, AgentWorldAECEnv])
def test_a_fork_goes_its_own_way_with_the_letters_that_were_under_way(made, tmp_path):
    def act(env, writer, reader):
        if isinstance(env, AgentWorldParallelEnv):
            return env.step({"writer": writer, "reader": reader})[0]["reader"]
        env.step(writer)
        env.step(reader)
        return env.observe("reader")["text"]

    env = made(team=pair(tmp_path), world="grounded")
    env.reset(seed=1, options={"task": TASK})
    act(env, "message: First.", "ls")
    twin = env.fork()
    assert act(env, "echo one > a.txt", "cat a.txt") != act(twin, "echo two > a.txt", "cat a.txt")
    assert twin.task is env.task
    env.close()
    assert "two" in act(twin, "pwd", "cat a.txt"), "the world is there until the last fork is closed"
    twin.close()


def test_the_trace_says_who_acted_and_is_played_again(tmp_path):
    env = AgentWorldParallelEnv(team=pair(tmp_path), world="grounded", traces=str(tmp_path / "logs"))
    env.reset(seed=1, options={"task": TASK})
    rounds(env, ("message: Hi.", "rm a.txt"), ("echo hello > a.txt", "cat a.txt"), ("ls", "finish"))
    env.close()
    [episode] = read_trace(tmp_path / "logs")
    assert [(step.agent, step.kind) for step in episode.steps[:2]] == [("writer", "message"), ("reader", "act")]
    runner = EnvOptions(spec="terminal", task=None).runner()
    [again] = replay(tmp_path / "logs", runner)
    assert (again.turns, again.agreed, again.departures) == (6, 6, ())
    runner.close()


@pytest.mark.parametrize(
    "options, said",
    [
        ({"team": "author-and-reviewer", "num_agents": 2}, "num_agents: .*has its own roles"),
        ({"team": "author-and-reviewer", "spec": "terminal"}, "spec: .*swe, the domain of team"),
        ({"num_agents": 2}, "spec: .*or a `team`"),
        ({"spec": "terminal", "render_mode": "rgb_array"}, "render_mode: .*ansi, human or None"),
    ],
)
def test_wrong_use_names_itself(options, said):
    with pytest.raises(SpecError, match=said):
        AgentWorldAECEnv(**options)
