"""Serves a machine's tools by the official SDK of the Model Context Protocol, over stdio or streamable HTTP.

All clients work on the same database, and they read the text that the machine's `act` returns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from agentworld_gym.base.process.protocol_server import PATH, require_sdk, run_http, run_stdio
from agentworld_gym.core.engines import EngineError

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server


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
    run_stdio(mcp_server(machine))


def serve_http(machine: ServedMachine, host: str, port: int) -> None:
    """Answer any number of clients over streamable HTTP, until Ctrl-C.

    Raises:
        AgentWorldError: the extra `mcp` is not installed.
        OSError: the server cannot listen on the address.
    """
    run_http(mcp_server(machine).streamable_http_app(streamable_http_path=PATH, host=host), host, port)
