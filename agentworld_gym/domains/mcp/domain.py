"""Tool servers: what the domain is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentworld_gym.core.registration import Domain

if TYPE_CHECKING:
    import random

    from agentworld_gym.agents.policies.exploring.base import Explorer
    from agentworld_gym.core.domain.task import Task
    from agentworld_gym.core.engines import Engine
    from agentworld_gym.recipe.importers.conversation import ImportedConversation


def open_engine(variant: str) -> Engine:
    """Return the engine."""
    from agentworld_gym.domains.mcp.engine.several_servers import ToolEngine

    return ToolEngine


def open_explorer(task: Task, rng: random.Random) -> Explorer:
    """Return the explorer of a task: of a scenario it knows the tables, and of any other server what that says."""
    if "scenario" in task.state:
        from agentworld_gym.domains.mcp.explorer import ToolExplorer

        return ToolExplorer(task, rng)
    from agentworld_gym.domains.mcp.schema_explorer import SchemaExplorer

    return SchemaExplorer(task, rng)


def claim_recording(conversation: ImportedConversation) -> float:
    """Say how surely a recorded session is one of a tool server: any tool may be a server's, so others come first.

    >>> from agentworld_gym.recipe.importers.conversation import ImportedConversation
    >>> claim_recording(ImportedConversation("a", []))
    0.1
    """
    return 0.1


DOMAIN = Domain(
    id="mcp",
    env_id="AgentWorld/MCP-v0",
    engine=f"{__name__}:open_engine",
    versions="agentworld_gym.kit.tables.database:sqlite_version",
    worlds={"awm": "agentworld_gym.domains.mcp.awm.handle:open_awm"},
    live="agentworld_gym.domains.mcp.live:open_live",
    scenario_tasks="agentworld_gym.domains.mcp.scenario_tasks:ScenarioTasks",
    commands=("agentworld_gym.domains.mcp.cli:register", "agentworld_gym.domains.mcp.synth.cli:register"),
    view="agentworld_gym.domains.mcp.engine.view:ToolView",
    syntaxes={
        "awm_call": "agentworld_gym.domains.mcp.awm.actions:CALL",
        "final_answer": "agentworld_gym.domains.mcp.awm.actions:ANSWER",
    },
    observations="agentworld_gym.domains.mcp.observations:ToolObservations",
    translations={
        "mcpmark": "agentworld_gym.domains.mcp.observations:MCPMARK",
        "awm": "agentworld_gym.domains.mcp.observations:AWM",
    },
    families="agentworld_gym.domains.mcp.tasks:FAMILIES",
    composition="agentworld_gym.domains.mcp.tasks.composed:COMPOSITION",
    control_cases="agentworld_gym.domains.mcp.tasks.control_cases:CASES",
    explorer=f"{__name__}:open_explorer",
    questions="agentworld_gym.domains.mcp.observations:asks",
    refusals="agentworld_gym.domains.mcp.refusals:open_refusals",
    unseen_names="agentworld_gym.domains.mcp.unseen_names:UnseenTools",
    claim_recording=f"{__name__}:claim_recording",
    explain="agentworld_gym.domains.mcp.explanations:explain",
    verifier="agentworld_gym.domains.mcp.verifier:VERIFIER",
    control_marks={
        "intermittent-errors": r'"code": ?503, "message": "Service Unavailable: upstream timeout',
        "pagination": r'"next_cursor"',
        "partial-failure": r'"errors": \[',
        "permission-denied": r'"code": ?403',
        "slow-service": r'"status": "pending", "job_id"',
    },
)
