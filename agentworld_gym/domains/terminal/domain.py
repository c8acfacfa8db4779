"""The terminal: what the domain is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentworld_gym.registration import Domain

if TYPE_CHECKING:
    from agentworld_gym.engines import Engine


def open_engine(variant: str) -> Engine:
    """Return the engine."""
    from agentworld_gym.engines.terminal import TerminalEngine

    return TerminalEngine()


DOMAIN = Domain(
    id="terminal",
    env_id="AgentWorld/Terminal-v0",
    engine=f"{__name__}:open_engine",
    libraries=("bashkit",),
    view="agentworld_gym.engines.terminal.view:TerminalView",
    observations="agentworld_gym.domains.terminal.observations:TerminalObservations",
    families="agentworld_gym.tasks.terminal:FAMILIES",
    control_cases="agentworld_gym.tasks.terminal.control_cases:CASES",
    policies={
        "explore": "agentworld_gym.policies.exploring.terminal:explore",
        "blend": "agentworld_gym.policies.exploring.terminal:blend",
        "compute": "agentworld_gym.policies.exploring.terminal:compute",
        "free": "agentworld_gym.policies.exploring.free.terminal:free",
    },
    explain="agentworld_gym.recipe.thinking.explainers.terminal:explain",
    verifier="agentworld_gym.recipe.rl.verifiers.terminal:VERIFIER",
    control_marks={
        "intermittent-errors": r"bash: fork: Resource temporarily unavailable",
        "partial-failure": r"write error: Resource temporarily unavailable",
    },
)
