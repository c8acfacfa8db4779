"""Tool servers: what the domain is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentworld_gym.registration import Domain

if TYPE_CHECKING:
    from agentworld_gym.engines import Engine


def open_engine(variant: str) -> Engine:
    """Return the engine."""
    from agentworld_gym.engines.mcp import ToolMachine

    return ToolMachine


DOMAIN = Domain(
    id="mcp",
    env_id="AgentWorld/MCP-v0",
    engine=f"{__name__}:open_engine",
    versions="agentworld_gym.engines.tables.database:sqlite_version",
    view="agentworld_gym.engines.mcp.view:ToolView",
    observations="agentworld_gym.domains.mcp.observations:ToolObservations",
    translations={
        "mcpmark": "agentworld_gym.domains.mcp.observations:MCPMARK",
        "awm": "agentworld_gym.domains.mcp.observations:AWM",
    },
    families="agentworld_gym.tasks.mcp:FAMILIES",
    control_cases="agentworld_gym.tasks.mcp.control_cases:CASES",
    explorer="agentworld_gym.policies.exploring.mcp:ToolExplorer",
    strangers="agentworld_gym.domains.mcp.strangers:ToolStrangers",
    explain="agentworld_gym.recipe.thinking.explainers.mcp:explain",
    verifier="agentworld_gym.recipe.rl.verifiers.mcp:VERIFIER",
    control_marks={
        "intermittent-errors": r'"code": ?503, "message": "Service Unavailable: upstream timeout',
        "pagination": r'"next_cursor"',
        "partial-failure": r'"errors": \[',
        "permission-denied": r'"code": ?403',
        "slow-service": r'"status": "pending", "job_id"',
    },
)
