"""The environments behind a server of OpenEnv, and its client."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

pytest.importorskip("openenv.core")

import uvicorn
from openenv.core.generic_client import GenericEnvClient
from websockets.exceptions import ConnectionClosed
from worlds import dream

import agentworld_gym.envs.env
from agentworld_gym import Failure, FailureKind, SpecError
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.tasks.source import TaskSource
from agentworld_gym.integrations.openenv import AgentWorldAction, AgentWorldClient, create_app

TASK = "copy_move-1-5"


@contextmanager
def served(spec: str = "terminal", **options: object) -> Iterator[str]:
    """The address of a server in a thread."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(create_app(spec, **options), log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def act(client, text: str):
    return client.step(AgentWorldAction(text=text))


def test_the_expert_of_a_task_succeeds_over_the_wire():
    with served() as url, AgentWorldClient(url).sync() as env:
        first = env.reset(seed=0, task=TASK, episode_id="mine")
        assert first.reward is None and not first.done and first.observation.system.endswith("finish: ANSWER")
        for action in TaskSource(load_spec("terminal"), task=TASK).pick(0, {}).expert:
            result = act(env, action)
        assert result.done and result.observation.success and result.reward > 0.5
        state = env.state()
        assert (state.episode_id, state.task_id) == ("mine", TASK) and state.step_count == result.observation.info[
            "steps"
        ]


def test_clients_have_sessions_of_their_own_and_equal_seeds_give_equal_episodes():
    with served() as url, AgentWorldClient(url).sync() as one, AgentWorldClient(url).sync() as other:
        assert one.reset(seed=3).observation == other.reset(seed=3).observation
        act(one, "echo kept > /tmp/mine")
        assert "No such file" in act(other, "cat /tmp/mine").observation.text
        assert "kept" in act(one, "cat /tmp/mine").observation.text


def test_a_failed_world_has_no_reward_and_says_why():
    world = dream("gone", lambda request: Failure(FailureKind.SERVER, "the server is gone", retryable=True))
    with served(world=world) as url, AgentWorldClient(url).sync() as env:
        env.reset(seed=0)
        result = act(env, "ls")
        assert result.done and result.reward is None and result.observation.truncated
        assert result.observation.failure["kind"] == "server" and result.observation.success is None


def test_tools_reach_a_client_that_knows_no_types():
    with served("mcp") as url, GenericEnvClient(url).sync() as env:
        shown = env.reset(seed=0).observation
        assert {"name", "description", "parameters"} <= set(shown["info"]["tools"][0])
        assert all(tool["name"] in shown["system"] for tool in shown["info"]["tools"])


def test_misuse_is_told_and_leaves_the_session_as_it_was():
    with served(world="scripted", max_sessions=1) as url, AgentWorldClient(url).sync() as env:
        env.reset(seed=0)
        with pytest.raises(RuntimeError, match="family"):
            env.reset(seed=0, family="no_such_family")
        with pytest.raises((RuntimeError, ConnectionClosed)), AgentWorldClient(url).sync() as second:
            second.reset(seed=0)
        assert act(env, "ls").observation.text == "[1] ls"
        act(env, "finish")
        with pytest.raises(RuntimeError, match="reset"):
            act(env, "ls")
    with pytest.raises(SpecError, match="options: worlds"):
        create_app("terminal", worlds="grounded")
    with pytest.raises(SpecError, match="max_sessions"):
        create_app("terminal", max_sessions=0)


def test_every_session_is_closed_with_its_client_and_the_world_with_the_server(monkeypatch):
    closed: list[object] = []
    close = agentworld_gym.envs.env.AgentWorldEnv.close
    monkeypatch.setattr(agentworld_gym.envs.env.AgentWorldEnv, "close", lambda env: (closed.append(env), close(env))[1])
    with served(world="scripted") as url:
        with AgentWorldClient(url).sync() as env:
            env.reset(seed=0)
        limit = time.monotonic() + 5
        while not closed and time.monotonic() < limit:
            time.sleep(0.01)
        assert len(closed) == 1
    assert len(set(map(id, closed))) == 2
