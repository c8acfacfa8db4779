"""Your own tool servers: any server of the Model Context Protocol, by command or by URL, as the ground truth.

The official SDK's client speaks to them, from one event loop of the process.
"""

from agentworld_gym.domains.mcp.live.engine import ServerEngine, open_live

__all__ = ["ServerEngine", "open_live"]
