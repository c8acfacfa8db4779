"""Answers a second of 1, 4 and 16 replicas, asked by rollouts on a Ray cluster of four nodes on this machine.

    python benchmarks/speed/ray_rollouts.py [--latency 2] [--capacity 4] [--seconds 60]

A replica is a server that sleeps for `latency` seconds and answers at most `capacity` requests at a time, as vLLM does
with `--max-num-seqs`; all of them together are asked for as much at a time as they can answer. Answers are counted for
`seconds`, from when every node has handed out an episode. The share of linear is the rate of a replica beside that of
the only one. The exit status tells whether it is at least 0.95 at 4 and at 16 replicas.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import multiprocessing
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import orjson
import ray
import stub
from aiohttp import web
from ray.cluster_utils import Cluster

from agentworld_gym.agents.policies.playing import FunctionPolicy
from agentworld_gym.envs.options import EnvOptions
from agentworld_gym.integrations.ray import play_on_ray

ANSWER = "<predicted_observation>\nuser@host:~$ ls\nnotes.txt  report.txt\nuser@host:~$ \n</predicted_observation>"
NODES = 4
TARGET = 0.95


def serve(pipe: Any, count: int, capacity: int, latency: float) -> None:
    """Run some replicas in this process; /served of each tells how many requests all of them have answered."""
    choice = {"index": 0, "message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}
    said, served = orjson.dumps({"choices": [choice]}), [0] * count

    def replica(place: int) -> web.Application:
        free = asyncio.Semaphore(capacity)

        async def chat(request: web.Request) -> web.Response:
            await request.read()
            async with free:
                await asyncio.sleep(latency)
            served[place] += 1
            return web.Response(body=said, content_type="application/json")

        async def models(request: web.Request) -> web.Response:
            return web.json_response({"data": [{"id": "stub"}]})

        async def counts(request: web.Request) -> web.Response:
            return web.json_response(served)

        app = web.Application(client_max_size=1 << 30)
        app.router.add_post("/v1/chat/completions", chat)
        app.router.add_get("/v1/models", models)
        app.router.add_get("/served", counts)
        return app

    async def main() -> None:
        ports = []
        for place in range(count):
            runner = web.AppRunner(replica(place), access_log=None)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
            ports.append(runner.addresses[0][1])
        pipe.send(ports)
        await asyncio.Event().wait()

    asyncio.run(main())


@contextlib.contextmanager
def replicas(count: int, capacity: int, latency: float) -> Iterator[list[str]]:
    """The addresses of some replicas, which run in one process."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, count, capacity, latency), daemon=True)
    process.start()
    yield [f"http://127.0.0.1:{port}" for port in ours.recv()]
    process.terminate()


def served(base: str) -> tuple[float, list[int]]:
    """When it was asked, and how many requests each replica has answered since its start."""
    with urllib.request.urlopen(f"{base}/served") as answer:
        return time.perf_counter(), orjson.loads(answer.read())


def rate(bases: list[str], capacity: int, seconds: float) -> tuple[float, int, int]:
    """Answers a second of all replicas together, and the fewest and the most of any one in that time."""
    world = ",".join(f"{base}/v1" for base in bases)
    options = EnvOptions(spec="terminal", world=world, task="copy_move-1-5", max_steps=4)
    wave = max(1, len(bases) * capacity // NODES)
    workers, start = set(), None
    with closing(play_on_ray(options, looking, range(10**6), workers=NODES, wave=wave)) as playing:
        for played in playing:
            assert played.failure is None, played.failure_message
            workers.add(played.id.partition("/")[0])
            if start is None and len(workers) == NODES:
                start = served(bases[0])
            if start is not None and time.perf_counter() - start[0] >= seconds:
                break
        end = served(bases[0])
    each = [after - before for before, after in zip(start[1], end[1], strict=True)]
    return sum(each) / (end[0] - start[0]), min(each), max(each)


def looking() -> FunctionPolicy:
    """A policy that looks around."""
    return FunctionPolicy("looking", lambda episode: "ls")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=2.0, help="the seconds that an answer takes")
    parser.add_argument("--capacity", type=int, default=4, help="the requests that a replica answers at a time")
    parser.add_argument("--seconds", type=float, default=60.0, help="the seconds of each measurement")
    options = parser.parse_args()
    stub.raise_open_files()
    small = {"object_store_memory": 80 * 2**20}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False, **small})
    for _ in range(NODES):
        cluster.add_node(num_cpus=1, **small)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
    print("| replicas | answers/s | bound | of the bound | share of linear | answers of a replica |")
    print("|---|---|---|---|---|---|")
    one, shares = 0.0, []
    for count in (1, 4, 16):
        with replicas(count, options.capacity, options.latency) as bases:
            answers, fewest, most = rate(bases, options.capacity, options.seconds)
        bound = count * options.capacity / options.latency
        one = one or answers
        shares.append(answers / count / one)
        row = f"{answers:.2f} | {bound:.1f} | {answers / bound:.3f} | {shares[-1]:.3f} | {fewest} to {most}"
        print(f"| {count} | {row} |", flush=True)
    ray.shutdown()
    cluster.shutdown()
    return 0 if min(shares) >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
