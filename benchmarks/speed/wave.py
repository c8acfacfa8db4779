"""How long a wave of environments takes against a server that answers after half a second.

    python benchmarks/speed/wave.py [--envs 1024] [--steps 5] [--latency 0.5]

A server process on loopback answers every request after the same time. Each step of the vector environment is
followed, in the same run, by a bare aiohttp client that sends the very same bodies (the server hands back what it
saw), and by the generator alone. Beside them, with as many environments as stated: one thread per environment, and
gymnasium's AsyncVectorEnv with a process per environment. The exit status tells whether the wave takes at most 1.25
times as long as the bare client.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import threading
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import aiohttp
import gymnasium as gym
import orjson
import stub

import agentworld_gym  # noqa: F401  (registers the ids)
from agentworld_gym.core.contracts import ChatRequest
from agentworld_gym.core.domain.sampling import Sampling
from agentworld_gym.llm.generators import ServerGenerator

ANSWER = "<predicted_observation>\nuser@host:~$ ls\nnotes.txt  report.txt\nuser@host:~$ \n</predicted_observation>"
ACTIONS = ("ls -la", "cat notes.txt", "wc -l < notes.txt", "mkdir -p out", "cp notes.txt out/", "pwd", "date")
ID = "AgentWorld/Terminal-v0"
TARGET = 1.25


class BareClient:
    """The least a client can do: one session, one task a body, each answer read and parsed."""

    def __init__(self, base: str, connections: int) -> None:
        self.url = f"{base}/v1/chat/completions"
        self.loop = asyncio.new_event_loop()
        self.session = self.loop.run_until_complete(self._open(connections))

    async def _open(self, connections: int) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=connections), timeout=aiohttp.ClientTimeout(total=None)
        )

    async def _post(self, body: bytes) -> Any:
        headers = {"Content-Type": "application/json"}
        async with self.session.post(self.url, data=body, headers=headers) as response:
            return orjson.loads(await response.read())

    async def _all(self, bodies: list[bytes]) -> list[Any]:
        return await asyncio.gather(*(self._post(body) for body in bodies))

    def send(self, bodies: list[bytes]) -> float:
        """Seconds for all bodies."""
        return timed(lambda: self.loop.run_until_complete(self._all(bodies)))

    def close(self) -> None:
        self.loop.run_until_complete(self.session.close())


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def request_of(body: bytes) -> ChatRequest:
    """The request that a generator turns into this body again."""
    data = orjson.loads(body)
    return ChatRequest(
        data["messages"],
        Sampling(
            data["temperature"],
            data.get("top_p"),
            data.get("top_k", 0),
            data["max_tokens"],
            data["chat_template_kwargs"]["enable_thinking"],
            tuple(data.get("stop", ())),
            data.get("seed"),
        ),
    )


def waves(base: str, count: int, steps: int) -> dict[str, list[float]]:
    """Seconds of each step: the vector environment, the bare client on its bodies, the generator on its requests."""
    rows: dict[str, list[float]] = {"environments": [], "bare": [], "generator": []}
    bare = BareClient(base, count)
    generator = ServerGenerator(f"{base}/v1", "stub", concurrency=count)
    envs = gym.make_vec(ID, num_envs=count, world=f"{base}/v1")
    envs.reset(seed=0)
    stub.taken(base)
    for step in range(steps + 1):
        action = (ACTIONS[step % len(ACTIONS)],) * count
        spent = {"environments": timed(lambda action=action: envs.step(action))}
        bodies = stub.taken(base)
        assert len(bodies) == count, f"{len(bodies)} requests for {count} environments"
        requests = [request_of(body) for body in bodies]
        spent["bare"] = bare.send(bodies)
        spent["generator"] = timed(lambda requests=requests: list(generator.submit(requests)))
        stub.taken(base)
        if step:  # the first step opens the connections of all three
            for name, seconds in spent.items():
                rows[name].append(seconds)
    size = sum(map(len, bodies)) / count
    print(f"{count} environments, {steps} steps after one to warm up, {size:,.0f} bytes a body at the end", flush=True)
    envs.close()
    generator.close()
    bare.close()
    return rows


def threads(base: str, count: int, steps: int) -> list[float]:
    """Seconds of each step when every environment has a thread of its own."""
    envs = [gym.make(ID, world=f"{base}/v1") for _ in range(count)]
    for index, env in enumerate(envs):
        env.reset(seed=index)
    barrier = threading.Barrier(count + 1)
    seconds = []

    def live(env: gym.Env[Any, Any]) -> None:
        for step in range(steps + 1):
            barrier.wait()
            env.step(ACTIONS[step % len(ACTIONS)])
            barrier.wait()

    workers = [threading.Thread(target=live, args=(env,), daemon=True) for env in envs]
    for worker in workers:
        worker.start()
    for step in range(steps + 1):
        barrier.wait()
        spent = timed(barrier.wait)
        if step:
            seconds.append(spent)
    for env in envs:
        env.close()
    return seconds


def processes(base: str, count: int, steps: int) -> list[float]:
    """Seconds of each step of gymnasium's AsyncVectorEnv. Its shared memory cannot carry text."""
    envs = gym.vector.AsyncVectorEnv(
        [lambda: gym.make(ID, world=f"{base}/v1")] * count, shared_memory=False, context="spawn"
    )
    envs.reset(seed=0)
    seconds = []
    for step in range(steps + 1):
        action = (ACTIONS[step % len(ACTIONS)],) * count
        spent = timed(lambda action=action: envs.step(action))
        if step:
            seconds.append(spent)
    envs.close()
    return seconds


def main() -> int:
    parser = argparse.ArgumentParser(description="A wave of environments against a slow server.")
    parser.add_argument("--envs", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--latency", type=float, default=0.5)
    parser.add_argument("--threads", type=int, default=1024, help="environments of the thread-per-environment row")
    parser.add_argument("--processes", type=int, default=16, help="environments of the AsyncVectorEnv row")
    options = parser.parse_args()
    stub.raise_open_files()
    with stub.server(options.latency, ANSWER) as base:
        rows = waves(base, options.envs, options.steps)
        beside = [
            ("one thread per environment", options.threads, threads),
            ("gymnasium AsyncVectorEnv", options.processes, processes),
        ]
        lines = [
            ("AgentWorldVectorEnv", options.envs, median(rows["environments"])),
            ("bare aiohttp, the same bodies", options.envs, median(rows["bare"])),
            ("ServerGenerator, the same requests", options.envs, median(rows["generator"])),
        ]
        lines += [(name, n, median(run(base, n, min(3, options.steps)))) for name, n, run in beside if n]
    print("\n| | environments | seconds a step (median) | steps/s |\n|---|---|---|---|")
    for name, count, seconds in lines:
        print(f"| {name} | {count} | {seconds:.3f} | {count / seconds:,.0f} |")
    ratio = median(e / b for e, b in zip(rows["environments"], rows["bare"], strict=True))
    alone = median(g / b for g, b in zip(rows["generator"], rows["bare"], strict=True))
    print(f"\nwave / bare client: {ratio:.3f} (target {TARGET}); generator alone: {alone:.3f}")
    return 0 if ratio <= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
