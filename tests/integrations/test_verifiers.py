"""The environments as a taskset of verifiers: a stub server is the model that acts."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator

import pytest

pytest.importorskip("verifiers.v1")

import verifiers.v1 as vf
from aiohttp import web
from fault_server import FaultServer
from worlds import dream

from agentworld_gym import Failure, FailureKind
from agentworld_gym.core.domain.spec import load_spec
from agentworld_gym.core.tasks.source import TaskSource
from agentworld_gym.envs.env import AgentWorldEnv

TASK = "copy_move-1-5"
EXPERT = TaskSource(load_spec("terminal"), task=TASK).pick(0, {}).expert


@pytest.fixture(autouse=True)
def my_worlds(tmp_path, monkeypatch) -> Iterator[None]:
    source = "from agentworld_gym.integrations.verifiers import"
    (tmp_path / "my_worlds.py").write_text(f"{source} *\n{source} __all__\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("my_worlds", None)


async def expert(server, body, request):
    """A model that thinks, and takes the next step of the task's expert."""
    turn = sum(message["role"] == "assistant" for message in body["messages"])
    message = {"role": "assistant", "content": f"<think>Next.</think>\n{EXPERT[turn]}"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    kind = {"id": "1", "object": "chat.completion", "created": 0, "model": "stub"}
    return web.json_response({**kind, "choices": [choice], "usage": usage})


def rollouts(model, tasks: int = 1, **options) -> tuple[list[vf.Episode], FaultServer]:
    """The episodes of some tasks, each played once by a model, and the server that it is."""
    server = FaultServer(model)
    taskset = {"id": "my_worlds", "tasks": tasks, "options": options.pop("env", {}), **options.pop("taskset", {})}
    env = vf.load_environment(vf.resolve_env_config({"taskset": taskset, **options}))
    endpoint = vf.EvalClientConfig(base_url=server.url, api_key_var="NO_KEY")
    ctx = vf.ModelContext(model="stub", client=endpoint, sampling=vf.SamplingConfig())

    async def run() -> list[vf.Episode]:
        async with env.serving():
            slots = [slot for task in env.taskset for slot in env.slots(task)]
            return await asyncio.gather(*(env.run_slot(slot, ctx) for slot in slots))

    try:
        return asyncio.run(run()), server
    finally:
        server.stop()


def test_the_expert_of_a_task_succeeds_and_the_model_is_told_how_to_act():
    [episode], server = rollouts(expert, env={"task": TASK})
    [trace] = episode.traces
    assert episode.ok and trace.rewards["agentworld"].score > 0.5
    assert trace.metrics == {"success": 1.0, "steps": float(len(EXPERT))}
    system, first = server.bodies[0]["messages"]
    assert system["role"] == "system" and system["content"].endswith("finish: ANSWER")
    assert first["role"] == "user" and len(server.bodies) == len(EXPERT)


def test_each_task_has_its_seed_and_rollouts_side_by_side_have_worlds_of_their_own():
    episodes, _ = rollouts(expert, tasks=3, env={"task": TASK}, taskset={"first_seed": 4})
    assert [episode.task.data.seed for episode in episodes] == [4, 5, 6]
    assert all(episode.ok and episode.traces[0].metrics["success"] for episode in episodes)
    config = vf.taskset_config_type("my_worlds")(id="my_worlds")
    names = [[task.data.name for task in vf.load_taskset(config).take(3)] for _ in range(2)]
    assert names[0] == names[1] and len(set(names[0])) == 3


def test_a_failed_world_is_an_error_of_the_rollout_and_no_reward():
    world = dream("gone", lambda request: Failure(FailureKind.SERVER, "the server is gone", retryable=True))
    [episode], _ = rollouts(expert, env={"world": world})
    [error] = episode.errors
    assert not episode.ok and error.type == "WorldFailure" and error.message == "server: the server is gone"
    assert "agentworld" not in episode.traces[0].rewards and not episode.traces[0].ok


@pytest.mark.parametrize("during", ["make", "reset", "step"])
@pytest.mark.parametrize("times", [1, 2])
def test_an_episode_that_is_cancelled_closes_its_environment(my_worlds, monkeypatch, during, times):
    entered, held, closed = threading.Event(), threading.Event(), threading.Event()

    class Watched(AgentWorldEnv):
        def __init__(self, **options):
            super().__init__(**options)
            self.hold("make")

        def hold(self, place):
            if place == during:
                entered.set()
                held.wait(10)

        def reset(self, **given):
            self.hold("reset")
            return super().reset(**given)

        def step(self, action):
            self.hold("step")
            return super().step(action)

        def close(self):
            super().close()
            closed.set()

    async def cancelled() -> None:
        async with env.serving():
            [task] = list(env.taskset)
            [slot] = env.slots(task)
            monkeypatch.setattr("agentworld_gym.integrations.verifiers.AgentWorldEnv", Watched)
            running = asyncio.create_task(env.run_slot(slot, ctx))
            while not entered.is_set():
                await asyncio.sleep(0.01)
            for _ in range(times):
                running.cancel()
                await asyncio.sleep(0.05)
            held.set()
            with pytest.raises(asyncio.CancelledError):
                await running

    server = FaultServer(expert)
    taskset = {"id": "my_worlds", "tasks": 1, "options": {"task": TASK}}
    env = vf.load_environment(vf.resolve_env_config({"taskset": taskset}))
    endpoint = vf.EvalClientConfig(base_url=server.url, api_key_var="NO_KEY")
    ctx = vf.ModelContext(model="stub", client=endpoint, sampling=vf.SamplingConfig())
    try:
        asyncio.run(cancelled())
        assert closed.wait(5)
    finally:
        held.set()
        server.stop()


def test_a_failure_can_be_tried_again_by_its_name():
    calls: list[object] = []

    def once(request):
        calls.append(request)
        return Failure(FailureKind.SERVER, "busy", retryable=True) if len(calls) == 1 else "<predicted_observation>\n"

    retries = {"rules": [{"type": "WorldFailure", "max_retries": 1}]}
    rollouts(expert, env={"world": dream("busy_once", once)}, retries=retries)
    assert len(calls) > 1


def test_a_model_that_does_not_answer_is_an_error_too():
    async def refuses(server, body, request):
        return web.json_response({"error": {"message": "no such model"}}, status=404)

    [episode], _ = rollouts(refuses, env={"task": TASK})
    assert not episode.ok and not episode.traces[0].rewards.get("agentworld")


def test_an_agent_that_runs_out_of_turns_has_not_solved_the_task():
    [episode], _ = rollouts(expert, env={"task": TASK}, agent={"max_turns": 1})
    assert episode.ok and episode.traces[0].metrics == {"success": 0.0, "steps": 1.0}
