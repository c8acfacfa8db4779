"""A server on loopback that answers after a given time, for `wave.py`, `waves.py` and `eval_bench.py`.

It runs in a process of its own, speaks as much of the OpenAI chat protocol as our clients need, and hands back the
bodies that it saw.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import math
import multiprocessing
import random
import resource
import urllib.request
from collections.abc import Iterator
from typing import Any

import orjson
from aiohttp import web


@contextlib.contextmanager
def server(latency: float, text: str, sigma: float = 0.0) -> Iterator[str]:
    """The address of a server that says `text` after `latency` seconds, whatever it is asked.

    With a `sigma` latencies are log-normal, drawn for each request, and `latency` is their median.
    """
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, latency, text, sigma), daemon=True)
    process.start()
    yield f"http://127.0.0.1:{ours.recv()}"
    process.terminate()


def taken(base: str) -> list[bytes]:
    """The bodies that a server saw since the last call, as they came."""
    with urllib.request.urlopen(f"{base}/taken") as answer:
        return [line for line in answer.read().split(b"\n") if line]


def mean_latency(base: str) -> float:
    """The mean of the latencies that were drawn since the last call, in seconds."""
    with urllib.request.urlopen(f"{base}/mean") as answer:
        return float(orjson.loads(answer.read()))


def serve(pipe: Any, latency: float, text: str, sigma: float = 0.0) -> None:
    """The server process; at /taken it gives the bodies since it was last asked, one a line."""
    seen: list[bytes] = []
    dice, slept = random.Random(0), [0.0, 0]
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 900, "completion_tokens": 40, "total_tokens": 940}
    said = orjson.dumps({"choices": [choice], "usage": usage})

    async def chat(request: web.Request) -> web.Response:
        seen.append(await request.read())
        seconds = latency * math.exp(sigma * dice.gauss(0.0, 1.0))
        slept[0] += seconds
        slept[1] += 1
        await asyncio.sleep(seconds)
        return web.Response(body=said, content_type="application/json")

    async def give(request: web.Request) -> web.Response:
        bodies = b"\n".join(seen)
        seen.clear()
        return web.Response(body=bodies)

    async def mean(request: web.Request) -> web.Response:
        seconds, count = slept
        slept[:] = [0.0, 0]
        return web.json_response(seconds / max(count, 1))

    async def models(request: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "stub"}]})

    async def main() -> None:
        app = web.Application(client_max_size=1 << 30)
        app.add_routes(
            [
                web.post("/v1/chat/completions", chat),
                web.get("/v1/models", models),
                web.get("/taken", give),
                web.get("/mean", mean),
            ]
        )
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=4096).start()
        pipe.send(runner.addresses[0][1])
        await asyncio.Event().wait()

    raise_open_files()
    gc.freeze()
    asyncio.run(main())


def raise_open_files() -> None:
    """Two thousand sockets need as many descriptors."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 8192)), hard))
