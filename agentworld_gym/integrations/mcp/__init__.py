"""The Model Context Protocol: an episode as a server, whose client is the agent."""

from agentworld_gym.integrations.mcp.host import EpisodeHost
from agentworld_gym.integrations.mcp.http import LOOPBACK, serve_http
from agentworld_gym.integrations.mcp.server import serve_stdio
from agentworld_gym.integrations.mcp.tool_episode import Answer, ToolEpisode

__all__ = ["LOOPBACK", "Answer", "EpisodeHost", "ToolEpisode", "serve_http", "serve_stdio"]
