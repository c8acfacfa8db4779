"""What other domains may use of tool servers: the machine of a scenario, and how its files are read.

Another domain imports nothing else of this one; `.importlinter` holds it.
"""

from agentworld_gym.domains.mcp.engine import ToolMachine
from agentworld_gym.domains.mcp.engine.service import load_service

__all__ = ["ToolMachine", "load_service"]
