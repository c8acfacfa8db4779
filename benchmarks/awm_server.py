"""AWM's own way of running a world: a server process with FastAPI-MCP, and a client of the official SDK.

`benchmarks/awm.py` starts it with the interpreter of AWM's libraries, which needs fastapi-mcp, mcp and uvicorn too:

    python benchmarks/awm_server.py serve CODE.py DATABASE PORT
    python benchmarks/awm_server.py call PORT CALLS.json COUNT
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
import types


def serve(code: str, database: str, port: int) -> None:
    """Serve the tools of an app until the process is ended."""
    import uvicorn
    from fastapi_mcp import FastApiMCP

    os.environ["DATABASE_PATH"] = f"sqlite:///{database}"
    module = types.ModuleType("world")
    sys.modules["world"] = module
    with open(code, encoding="utf-8") as file:
        exec(compile(file.read(), code, "exec"), module.__dict__)
    FastApiMCP(module.app).mount_http()
    uvicorn.run(module.app, host="127.0.0.1", port=port, log_level="critical")


async def call(port: int, calls: list[dict[str, object]], count: int) -> None:
    """Call tools one after the other in one session, and print the seconds of each as JSON."""
    from mcp import ClientSession
    from mcp.client.streamable_http import streamablehttp_client

    async with (
        streamablehttp_client(f"http://127.0.0.1:{port}/mcp") as (reading, writing, _),
        ClientSession(reading, writing) as session,
    ):
        await session.initialize()
        tools = await session.list_tools()
        seconds = []
        spent = time.process_time()
        for number in range(count):
            asked = calls[number % len(calls)]
            began = time.perf_counter()
            await session.call_tool(str(asked["name"]), asked["arguments"])  # type: ignore[arg-type]
            seconds.append(time.perf_counter() - began)
        spent = time.process_time() - spent
    print(json.dumps({"tools": len(tools.tools), "seconds": seconds, "cpu": spent}))


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        with open(sys.argv[3], encoding="utf-8") as opened:
            asyncio.run(call(int(sys.argv[2]), json.load(opened), int(sys.argv[4])))
