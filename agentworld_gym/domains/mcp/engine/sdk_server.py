"""Serves a machine's tools by the official SDK of the Model Context Protocol, over stdio or streamable HTTP.

All clients work on the same database, and they read the text that the machine's `act` returns.
"""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from agentworld_gym.base.errors import AgentWorldError, install
from agentworld_gym.core.engines import EngineError

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

PATH = "/mcp"
"""The path of the tools under the server's address."""

MAX_LINE_BYTES = 2**22
"""The size in bytes of the longest message over stdio."""


class ServerCard(NamedTuple):
    """What a server tells of itself and its tools."""

    name: str
    """The name of the server."""

    title: str
    """The name that people read."""

    description: str
    """What the server is for."""

    tools: Sequence[dict[str, Any]]
    """The tools: name, description, and the JSON Schema of the arguments under `parameters`."""


class ServedMachine(Protocol):
    """A machine of tools that can be served."""

    @property
    def card(self) -> ServerCard:
        """What the server tells of itself."""
        ...

    @property
    def observation(self) -> str:
        """What the machine shows before the first call."""
        ...

    @property
    def refused(self) -> bool:
        """Whether the last call failed."""
        ...

    def act(self, action: Any, /) -> str:
        """Answer one call `{"name": ..., "arguments": {...}}`."""
        ...


def require_sdk() -> None:
    """Make sure that the SDK is installed.

    Raises:
        AgentWorldError: the extra `mcp` is not installed.
    """
    if find_spec("mcp") is None:
        raise AgentWorldError(f"serving tools needs the MCP SDK: {install('mcp')}")


def mcp_server(machine: ServedMachine) -> Server[Any]:
    """Return the SDK's server for one machine.

    Raises:
        AgentWorldError: the extra `mcp` is not installed.
    """
    require_sdk()
    import mcp_types as types
    from mcp.server.lowlevel import Server

    card = machine.card
    tools = [
        types.Tool(name=tool["name"], description=tool["description"], input_schema=dict(tool["parameters"]))
        for tool in card.tools
    ]

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            text, refused = machine.act({"name": params.name, "arguments": params.arguments or {}}), machine.refused
        except EngineError as error:
            text, refused = str(error), True
        return types.CallToolResult(content=[types.TextContent(text=text)], is_error=refused)

    return Server(
        card.name,
        title=card.title,
        description=card.description,
        instructions=machine.observation,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def serve_stdio(machine: ServedMachine) -> None:
    """Answer one client over standard input and output, until the client leaves.

    Raises:
        AgentWorldError: the extra `mcp` is not installed.
        KeyboardInterrupt: Ctrl-C was pressed.
    """
    server = mcp_server(machine)
    if sys.stdin is None or sys.stdout is None:  # standard input was closed at the start: there is no client
        return
    from mcp.server.stdio import stdio_server

    async def serve() -> None:
        async with stdio_server(stdin=await _lines()) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    try:
        asyncio.run(serve())
    except* BrokenPipeError:
        pass  # the client left before it was answered


async def _lines() -> Any:
    """Standard input by lines; None where the SDK's own reader will do, a thread that Ctrl-C cannot end."""
    kind = os.fstat(sys.stdin.fileno()).st_mode
    if stat.S_ISREG(kind):  # the task ends by itself
        return None
    reader = asyncio.StreamReader(limit=MAX_LINE_BYTES)
    if (
        stat.S_ISCHR(kind) and not sys.stdin.isatty()
    ):  # a file such as /dev/null never speaks, and no loop can wait for it
        reader.feed_eof()
        return reader
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    return reader


def serve_http(machine: ServedMachine, host: str, port: int) -> None:
    """Answer any number of clients over streamable HTTP, until Ctrl-C.

    Raises:
        AgentWorldError: the extra `mcp` is not installed.
        OSError: the server cannot listen on the address.
    """
    server = mcp_server(machine)
    import uvicorn

    app = server.streamable_http_app(streamable_http_path=PATH, host=host)
    config = uvicorn.Config(app, host=host, port=port, log_level="warning", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run()
