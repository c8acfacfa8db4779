"""An episode as a server of the Model Context Protocol, for one client."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from agentworld_gym.base.process.protocol_server import run_stdio
from agentworld_gym.integrations.mcp.host import EpisodeHost
from agentworld_gym.integrations.mcp.tool_episode import ToolEpisode

PROMPT = "task"
"""The name of the prompt that says what to do."""

_COMBINING = frozenset({"anyOf", "oneOf", "allOf", "not", "enum", "if", "then", "else"})


def episode_server(host: EpisodeHost, episode: ToolEpisode) -> Server[Any]:
    """Return the SDK's server of an episode: its tools, and what to do as `instructions` and as the prompt `task`.

    Args:
        host: Who plays the episode.
        episode: The episode.
    """
    spec = host.runner.spec
    tools = [
        types.Tool(
            name=str(tool["name"]),
            description=str(tool.get("description", "")),
            input_schema=_listed(tool.get("parameters") or {}),
        )
        for tool in episode.tools
    ]
    about = "What to do, and what the world shows at the start."

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(_context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        answer = await asyncio.wrap_future(host.call(episode, params.name, params.arguments or {}))
        content = [types.TextContent(text=text) for text in answer.texts]
        return types.CallToolResult(content=[*content], is_error=answer.refused)

    async def list_prompts(_context: Any, _params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[types.Prompt(name=PROMPT, description=about)])

    async def get_prompt(_context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name != PROMPT:
            raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown prompt: {params.name}; there is {PROMPT}")
        message = types.PromptMessage(role="user", content=types.TextContent(text=episode.brief))
        return types.GetPromptResult(description=about, messages=[message])

    return Server(
        f"agentworld-{spec.id}",
        title=spec.title,
        description=spec.description,
        instructions=episode.brief,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


def _listed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of a tool's arguments as models are given it; the domain still checks calls by the whole one.

    The servers of several models refuse a tool whose schema combines others at its top.

    >>> _listed({"properties": {"a": {}}, "anyOf": [{"required": ["a"]}]})
    {'type': 'object', 'properties': {'a': {}}}
    """
    return {"type": "object", **{key: value for key, value in schema.items() if key not in _COMBINING}}


def serve_stdio(host: EpisodeHost) -> None:
    """Play one episode with the client on standard input and output, until it leaves; then score the episode.

    Raises:
        AgentWorldError: The episode cannot begin.
        KeyboardInterrupt: Ctrl-C was pressed, or SIGTERM came where that raises it; the episode is scored.
    """
    episode = host.begin().result()
    try:
        run_stdio(episode_server(host, episode))
    finally:
        if threading.current_thread() is threading.main_thread():
            # Clients send this signal to a server that does not end at once.
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        host.leave(episode).result()
