"""The environments as a taskset of verifiers (its v1 API), for `vf-eval` and prime-rl.

verifiers finds a taskset by the name of a top-level module, so give it one, such as `my_worlds.py`:

    from agentworld_gym.integrations.verifiers import *
    from agentworld_gym.integrations.verifiers import __all__

`vf-eval my_worlds --env.taskset.spec terminal` then plays it. This needs the extra `verifiers`.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pydantic import Field

from agentworld_gym.base.errors import install
from agentworld_gym.base.text.escaping import escape, unescape
from agentworld_gym.envs.env import AgentWorldEnv
from agentworld_gym.llm.prompting.agent_prompt import agent_prompt
from agentworld_gym.llm.prompting.parsing import strip_thinking

try:
    import httpx
    import verifiers.v1 as vf
    from verifiers.v1.dialects.chat import message_to_wire
except ImportError as error:
    raise ImportError(f"this needs verifiers: {install('verifiers')}") from error

__all__ = ["AgentWorldHarness", "AgentWorldTaskset", "AgentWorldVerifiersEnv"]


class WorldFailure(vf.EnvError):  # type: ignore[misc,unused-ignore]
    """The world did not answer: an error of the rollout, which has no reward; `--env.retries` may name it."""


class AgentWorldHarness(vf.Harness[vf.HarnessConfig]):  # type: ignore[misc,unused-ignore]
    """The plainest harness: this process asks for one completion a turn, with no tools and no prompt of its own."""

    APPENDS_SYSTEM_PROMPT = SUPPORTS_RESUME = True
    EXECUTES_CODE = NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Ask the model for the next message of the conversation."""
        system, prompt = self.resolve_prompt(data)
        told = [vf.SystemMessage(content=system)] if system else []
        told += [vf.UserMessage(content=prompt)] if isinstance(prompt, str) else prompt or []
        body = {"model": ctx.model, "messages": [message_to_wire(message) for message in told]}
        headers = {"Authorization": f"Bearer {secret}"}
        async with httpx.AsyncClient(timeout=None, trust_env=False, headers=headers) as client:
            reply = await client.post(f"{endpoint}/chat/completions", json=body)
        return vf.ProgramResult(exit_code=int(reply.is_error), stdout="", stderr=reply.text if reply.is_error else "")


class AgentWorldConfig(vf.TasksetConfig):  # type: ignore[misc,unused-ignore]
    """Which tasks there are."""

    spec: str = "AgentWorld/Terminal-v0"
    """The domain: its name, the id of its environment, or the path of a YAML spec."""

    first_seed: int = 0
    """The seed of the first task; the others count up."""

    tasks: int | None = None
    """The number of tasks; None makes tasks without end."""

    options: dict[str, Any] = Field(default_factory=dict)
    """The other options of `gym.make`, such as `world`, `levels` and `split`."""


class AgentWorldData(vf.TaskData):  # type: ignore[misc,unused-ignore]
    """A task, whose prompt is what the agent sees first and whose system prompt is `agentworld_gym.agent_prompt`."""

    seed: int
    """The seed of the episode: rollouts of one task begin in the same state."""


class AgentWorldTask(vf.Task[AgentWorldData]):  # type: ignore[misc,unused-ignore]
    """A task; `AgentWorldVerifiersEnv` records its reward."""


class AgentWorldTaskset(vf.Taskset[AgentWorldTask, AgentWorldConfig]):  # type: ignore[misc,unused-ignore]
    """One task for each seed."""

    def __init__(self, config: AgentWorldConfig) -> None:
        super().__init__(config)
        self.INFINITE = config.tasks is None

    def load(self) -> Iterator[AgentWorldTask]:
        """Yield the tasks in the order of their seeds."""
        config = self.config
        with AgentWorldEnv(spec=config.spec, **config.options) as env:
            for seed in itertools.islice(itertools.count(config.first_seed), config.tasks):
                text, info = env.reset(seed=seed)
                told = {"prompt": escape(text), "system_prompt": agent_prompt(env)}
                yield AgentWorldTask(AgentWorldData(name=info["task_id"], seed=seed, **told), config.task)


class AgentWorldEnvConfig(vf.EnvConfig):  # type: ignore[misc,unused-ignore]
    """Who acts: one agent, whose program runs in this process."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime={"type": "subprocess"})


class AgentWorldVerifiersEnv(vf.Env[AgentWorldEnvConfig]):  # type: ignore[misc,unused-ignore]
    """One episode for each rollout: every message of the model is an action, and the world answers as the user."""

    async def run(self, task: AgentWorldTask, agents: vf.Agents) -> None:
        """Play the episode; the trace gets its return as the reward `agentworld` and the metric `success`.

        Raises:
            WorldFailure: The world failed; verifiers records it, and the rollout has no reward.
        """
        total, over, info, loop = 0.0, False, dict[str, Any](), asyncio.get_running_loop()
        thread = ThreadPoolExecutor(1)  # Some engines want to be used by the thread that made them.
        made = thread.submit(lambda: AgentWorldEnv(spec=self.taskset.config.spec, **self.taskset.config.options))
        try:
            env = await asyncio.wrap_future(made)
            await loop.run_in_executor(thread, lambda: env.reset(seed=task.data.seed))
            async with agents.agent.interaction(task) as interaction:
                segment = await interaction.turn()
                while not segment.terminated and not over:
                    action = unescape(strip_thinking(segment.last_reply).strip())
                    text, reward, *ends, info = await loop.run_in_executor(thread, env.step, action)
                    if failure := info.get("failure"):
                        raise WorldFailure(f"{failure['kind']}: {failure['message']}")
                    total, over = total + reward, any(ends)
                    segment = segment if over else await interaction.turn(escape(text))
        finally:  # The thread closes what it made, even where this coroutine was cancelled before it got it.
            closed = thread.submit(lambda: made.result().close())
            thread.shutdown(wait=False)
            await asyncio.shield(asyncio.wrap_future(closed))
        if interaction.trace.ok:
            interaction.trace.record_reward("agentworld", total)
            metrics = {"steps": info.get("steps", 0), "success": info.get("success") if over else False}
            interaction.trace.record_metrics({name: value for name, value in metrics.items() if value is not None})
