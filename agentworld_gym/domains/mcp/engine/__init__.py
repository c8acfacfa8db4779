"""The grounded tool server: scenarios are data, and their tools are SQL over a database in memory."""

from agentworld_gym.domains.mcp.engine.machine import ToolMachine
from agentworld_gym.domains.mcp.engine.scenario import scenario_names
from agentworld_gym.domains.mcp.engine.service import Service, generated, load_service
from agentworld_gym.domains.mcp.engine.tool import CallContext, Tool

__all__ = ["CallContext", "Service", "Tool", "ToolMachine", "generated", "load_service", "scenario_names"]
