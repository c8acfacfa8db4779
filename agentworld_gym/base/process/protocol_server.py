"""Runs a server of the Model Context Protocol, made with the official SDK, over stdio or HTTP until its end."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import stat
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from agentworld_gym.base.errors import AgentWorldError, install

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from starlette.applications import Starlette

PATH = "/mcp"
"""The path under the server's address at which clients find it."""

MAX_BYTES = 2**22
"""The size in bytes of the longest message."""


def require_sdk() -> None:
    """Make sure that the SDK is installed.

    Raises:
        AgentWorldError: the extra `mcp` is not installed.
    """
    if find_spec("mcp") is None:
        raise AgentWorldError(f"serving tools needs the MCP SDK: {install('mcp')}")


def run_stdio(server: Server[Any]) -> None:
    """Answer one client over standard input and output, until the client leaves.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed, or SIGTERM came and its handler raises that as well.
    """
    if sys.stdin is None or sys.stdout is None:  # standard input was closed at the start: there is no client
        return
    from mcp.server.stdio import stdio_server

    terminate, stopped = signal.getsignal(signal.SIGTERM), False

    async def serve() -> None:
        if terminate is signal.default_int_handler:  # Raised in the middle of the loop, it would break its clean end.
            task = asyncio.current_task()
            assert task is not None
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop, task)
        async with stdio_server(stdin=await _lines()) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    def stop(task: asyncio.Task[Any]) -> None:
        nonlocal stopped
        stopped = task.cancel()

    try:
        asyncio.run(serve())
    except* BrokenPipeError:
        pass  # the client left before it was answered
    except* asyncio.CancelledError:
        if not stopped:
            raise
    finally:
        if terminate is signal.default_int_handler:
            signal.signal(signal.SIGTERM, terminate)
    if stopped:
        raise KeyboardInterrupt


async def _lines() -> Any:
    """Standard input by lines; None where the SDK's own reader will do, a thread that Ctrl-C cannot end."""
    kind = os.fstat(sys.stdin.fileno()).st_mode
    if stat.S_ISREG(kind):  # the task ends by itself
        return None
    reader = asyncio.StreamReader(limit=MAX_BYTES)
    if (
        stat.S_ISCHR(kind) and not sys.stdin.isatty()
    ):  # a file such as /dev/null never speaks, and no loop can wait for it
        reader.feed_eof()
        return reader
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    return reader


def run_http(app: Starlette, host: str, port: int) -> None:
    """Answer any number of clients over HTTP, until Ctrl-C.

    Args:
        app: The application, which answers at `PATH`.
        host: The address to listen on.
        port: The port to listen on.

    Raises:
        OSError: the server cannot listen on the address.
        KeyboardInterrupt: Ctrl-C was pressed.
    """
    import uvicorn

    # uvicorn would end the process where it cannot listen.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family, backlog=128) as listening:
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
        uvicorn.Server(config).run(sockets=[listening])
