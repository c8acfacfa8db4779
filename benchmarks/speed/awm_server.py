"""AWM's own way of running a world: a server process with FastAPI-MCP, and a client of the official SDK; and the floor.

`benchmarks/speed/awm.py` starts it with the interpreter of AWM's libraries, with fastapi-mcp, mcp and uvicorn:

    python benchmarks/speed/awm_server.py serve CODE.py DATABASE PORT
    python benchmarks/speed/awm_server.py call PORT CALLS.json COUNT
    python benchmarks/speed/awm_server.py bare CODE.py DATABASE CALLS.json COUNT
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
import types
from typing import Any
from urllib.parse import urlencode


def loaded(code: str, database: str) -> Any:
    """Return the app that a file makes, over a database."""
    os.environ["DATABASE_PATH"] = f"sqlite:///{database}"
    module = types.ModuleType("world")
    sys.modules["world"] = module
    with open(code, encoding="utf-8") as file:
        exec(compile(file.read(), code, "exec"), module.__dict__)
    return module.app


def request_of(description: dict[str, Any], call: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Return what a server hands to an app for a call: its scope, and the body."""
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            if operation.get("operationId") == call["name"]:
                left = dict(call["arguments"])
                places = {each["name"]: each["in"] for each in operation.get("parameters", ())}
                for name in [name for name in left if places.get(name) == "path"]:
                    path = path.replace(f"{{{name}}}", str(left.pop(name)))
                query = {name: left.pop(name) for name in list(left) if places.get(name) == "query"}
                body = json.dumps(left).encode() if left else b""
                headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
                scope = {"type": "http", "method": method.upper(), "path": path, "headers": headers}
                return {**scope, "query_string": urlencode(query).encode(), "root_path": "", "scheme": "http"}, body
    raise LookupError(call["name"])


async def bare(app: Any, calls: list[dict[str, Any]], count: int) -> None:
    """Call an app in this process, without a server, a session, or a text for an agent, and print the seconds."""
    requests = [request_of(app.openapi(), each) for each in calls]

    async def sent(message: dict[str, Any]) -> None:
        assert message.get("status", 200) < 500

    seconds: list[float] = []
    for number in range(-len(calls), count):
        if not number:
            seconds, spent = [], time.process_time()
        scope, body = requests[number % len(calls)]

        async def receive(body: bytes = body) -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        began = time.perf_counter()
        await app(dict(scope), receive, sent)
        seconds.append(time.perf_counter() - began)
    print(json.dumps({"seconds": seconds, "cpu": time.process_time() - spent}))


def serve(code: str, database: str, port: int) -> None:
    """Serve the tools of an app until the process is ended."""
    import uvicorn
    from fastapi_mcp import FastApiMCP

    app = loaded(code, database)
    FastApiMCP(app).mount_http()
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="critical")


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
    elif sys.argv[1] == "bare":
        with open(sys.argv[4], encoding="utf-8") as opened:
            asyncio.run(bare(loaded(sys.argv[2], sys.argv[3]), json.load(opened), int(sys.argv[5])))
    else:
        with open(sys.argv[3], encoding="utf-8") as opened:
            asyncio.run(call(int(sys.argv[2]), json.load(opened), int(sys.argv[4])))
