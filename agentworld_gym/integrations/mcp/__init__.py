"""The Model Context Protocol: an episode as a server, whose client is the agent. This needs the extra `mcp`."""

from agentworld_gym.base.errors import install
from agentworld_gym.integrations.mcp.host import EpisodeHost
from agentworld_gym.integrations.mcp.tool_episode import Answer, ToolEpisode

try:
    from agentworld_gym.integrations.mcp.http import LOOPBACK, serve_http
    from agentworld_gym.integrations.mcp.server import serve_stdio
except ImportError as error:
    raise ImportError(f"this needs the MCP SDK: {install('mcp')}") from error

__all__ = ["LOOPBACK", "Answer", "EpisodeHost", "ToolEpisode", "serve_http", "serve_stdio"]
