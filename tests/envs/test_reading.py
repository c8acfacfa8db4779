"""The option `reading` of environments: what language models write is read as it is meant, and replays are exact."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import gymnasium as gym
import pytest

import agentworld_gym
from agentworld_gym import SpecError
from agentworld_gym.core.traces.log import read_trace
from agentworld_gym.envs.episodes.replay import replay
from agentworld_gym.envs.options import EnvOptions

SENTENCE = "I will now list the files."
WRITTEN = ["<think>Look.</think>\n```bash\nls -la\n```", SENTENCE, "pwd", "Done.\nFinish: 16.34"]


def test_what_needed_tolerance_is_visible_and_counted():
    env = gym.make("AgentWorld/Terminal-v0", world="grounded")
    env.reset(seed=0)
    shown, *_, first = env.step(WRITTEN[0])
    assert "$ ls -la" in shown and (first["written"], first["tolerated"]) == (WRITTEN[0], 1)
    shown, *_, second = env.step(SENTENCE)
    assert "a sentence and no command" in shown == second["action_error"] and "tolerated" in second
    *_, third = env.step("pwd")
    assert "written" not in third and third["tolerated"] == 1
    *_, ended, _, last = env.step(WRITTEN[3])
    assert ended and last["tolerated"] == 2
    assert env.unwrapped.episode.actions == ["ls -la", SENTENCE, "pwd", "finish: 16.34"]
    env.close()


def test_an_exact_environment_takes_texts_as_they_are():
    env = gym.make("AgentWorld/Terminal-v0", world="scripted", reading="exact")
    env.reset(seed=0)
    for text in WRITTEN:
        *_, ended, _, info = env.step(text)
        assert not ended and "written" not in info and "action_error" not in info
    assert env.unwrapped.episode.actions == WRITTEN
    env.close()
    with pytest.raises(SpecError, match="reading: got 'loose', expected tolerant or exact"):
        gym.make("AgentWorld/Terminal-v0", reading="loose")


@pytest.mark.parametrize("reading", ["tolerant", "exact"])
def test_a_log_of_tolerant_reading_replays_to_the_same(tmp_path: Path, reading: str):
    env = gym.make("AgentWorld/Terminal-v0", world="grounded", traces=str(tmp_path))
    env.reset(seed=0)
    for text in WRITTEN:
        env.step(text)
    env.close()
    with closing(EnvOptions(spec="terminal", world="grounded", reading=reading).runner()) as runner:
        (found,) = replay(tmp_path, runner)
    assert found.same and found.agreed == found.turns == len(WRITTEN)
    (episode,) = read_trace(tmp_path)
    assert [step.action for step in episode.steps] == ["ls -la", SENTENCE, "pwd", "finish: 16.34"]
    assert episode.steps[0].info["written"] == WRITTEN[0]


def test_a_log_of_sentences_that_were_typed_replays_so(tmp_path: Path):
    env = gym.make("AgentWorld/Terminal-v0", world="grounded", traces=str(tmp_path), reading="exact")
    env.reset(seed=0)
    for text in WRITTEN:
        env.step(text)
    env.close()
    with closing(EnvOptions(spec="terminal", world="grounded").runner()) as runner:
        (found,) = replay(tmp_path, runner)
    assert found.same and found.agreed == found.turns == len(WRITTEN)


def test_members_of_a_vector_read_the_same():
    envs = gym.make_vec("AgentWorld/Terminal-v0", num_envs=2, world="scripted")
    envs.reset(seed=0)
    shown, *_, infos = envs.step(["```\nls\n```", "ls"])
    assert shown == ("[1] ls", "[1] ls") and infos["_written"].tolist() == [True, False]
    envs.close()


def test_the_prompt_lists_finish_among_the_tools_where_it_can_be_called():
    for env_id, reading, listed in (
        ("AgentWorld/MCP-v0", "tolerant", True),
        ("AgentWorld/MCP-v0", "exact", False),
        ("AgentWorld/Terminal-v0", "tolerant", False),
    ):
        env = gym.make(env_id, reading=reading)
        env.reset(seed=0)
        assert ('{"name": "finish"' in agentworld_gym.agent_prompt(env)) == listed
        env.close()


def test_a_call_of_finish_ends_the_episode_as_the_prompt_says():
    env = gym.make("AgentWorld/MCP-v0")
    env.reset(seed=0)
    tools = [json.loads(line) for line in agentworld_gym.agent_prompt(env).splitlines() if line.startswith('{"name"')]
    (finish,) = [tool for tool in tools if tool["name"] == "finish"]
    assert list(finish["parameters"]["properties"]) == ["answer"]
    env.step(json.dumps({"name": "finish", "arguments": {"answer": "16.34"}}))
    assert env.unwrapped.episode.taken[-1].answer == "16.34" and env.unwrapped.episode.over
    env.close()
