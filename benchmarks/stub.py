"""A server on loopback that answers every request after the same time, for `wave.py` and `eval_bench.py`.

It runs in a process of its own, speaks as much of the OpenAI chat protocol as our clients need, and hands back the
bodies that it saw.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import multiprocessing
import resource
import urllib.request
from collections.abc import Iterator
from typing import Any

import orjson
from aiohttp import web


@contextlib.contextmanager
def server(latency: float, text: str) -> Iterator[str]:
    """The address of a server that says `text` after `latency` seconds, whatever it is asked."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, latency, text), daemon=True)
    process.start()
    yield f"http://127.0.0.1:{ours.recv()}"
    process.terminate()


def taken(base: str) -> list[bytes]:
    """The bodies that a server saw since the last call, as they came."""
    with urllib.request.urlopen(f"{base}/taken") as answer:
        return [line for line in answer.read().split(b"\n") if line]


def serve(pipe: Any, latency: float, text: str) -> None:
    """The server process; at /taken it gives the bodies since it was last asked, one a line."""
    seen: list[bytes] = []
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 900, "completion_tokens": 40, "total_tokens": 940}
    said = orjson.dumps({"choices": [choice], "usage": usage})

    async def chat(request: web.Request) -> web.Response:
        seen.append(await request.read())
        await asyncio.sleep(latency)
        return web.Response(body=said, content_type="application/json")

    async def give(request: web.Request) -> web.Response:
        bodies = b"\n".join(seen)
        seen.clear()
        return web.Response(body=bodies)

    async def models(request: web.Request) -> web.Response:
        return web.json_response({"data": [{"id": "stub"}]})

    async def main() -> None:
        app = web.Application(client_max_size=1 << 30)
        app.add_routes([web.post("/v1/chat/completions", chat), web.get("/v1/models", models), web.get("/taken", give)])
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
