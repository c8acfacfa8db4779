"""verifiers: one rollout for each of a few tasks. This file is a taskset too: it exports what verifiers looks for.

python examples/clients/verifiers_rollout.py
vf-eval verifiers_rollout --env.taskset.tasks 4 --no-push -m MODEL --client.base-url http://localhost:8000/v1
"""

from __future__ import annotations

import asyncio

import verifiers.v1 as vf
from aiohttp import web

# plug in
from agentworld_gym.integrations.verifiers import *  # noqa: F403
from agentworld_gym.integrations.verifiers import __all__ as __all__

TASKSET = {"id": "verifiers_rollout", "spec": "terminal", "options": {"levels": [1]}}
# end


async def model(request: web.Request) -> web.Response:
    """Answer as a server of models does: look around, and give up. Yours is vLLM, or what prime-rl trains."""
    messages = (await request.json())["messages"]
    message = {"role": "assistant", "content": "ls" if len(messages) == 2 else "finish"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return web.json_response(
        {"id": "1", "object": "chat.completion", "created": 0, "model": "stub", "choices": [choice]}
    )


async def played(tasks: int) -> list[vf.Episode]:
    """Return the episodes of some tasks."""
    app = web.Application()
    app.router.add_post("/v1/chat/completions", model)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    env = vf.load_environment(vf.resolve_env_config({"taskset": {**TASKSET, "tasks": tasks}}))
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    ctx = vf.ModelContext("stub", vf.EvalClientConfig(base_url=url, api_key_var="NO_KEY"), vf.SamplingConfig())
    async with env.serving():
        slots = [slot for task in env.taskset for slot in env.slots(task)]
        episodes = await asyncio.gather(*(env.run_slot(slot, ctx) for slot in slots))
    await runner.cleanup()
    return episodes


def main(steps: int = 8) -> float:
    episodes = asyncio.run(played(max(1, min(steps // 2, 4))))
    for episode in episodes:
        print(episode.task.data.name, episode.ok, episode.traces[0].rewards, episode.traces[0].metrics)
    return sum(episode.traces[0].rewards["agentworld"].score for episode in episodes if episode.ok)


if __name__ == "__main__":
    main()
