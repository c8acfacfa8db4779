"""The terminal: what the domain is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentworld_gym.core.registration import Domain

if TYPE_CHECKING:
    from agentworld_gym.core.engines import Engine
    from agentworld_gym.recipe.importers.conversation import ImportedConversation


def open_engine(variant: str) -> Engine:
    """Return the engine."""
    from agentworld_gym.domains.terminal.engine import TerminalEngine

    return TerminalEngine()


def claim_recording(conversation: ImportedConversation) -> float:
    """Say how surely a recorded session is one of a terminal: keys are typed nowhere else.

    >>> from agentworld_gym.recipe.importers.conversation import ImportedConversation
    >>> claim_recording(ImportedConversation("a", []))
    0.0
    """
    from agentworld_gym.recipe.importers.turns import has_keystrokes

    return 1.0 if has_keystrokes(conversation) else 0.0


DOMAIN = Domain(
    id="terminal",
    env_id="AgentWorld/Terminal-v0",
    engine=f"{__name__}:open_engine",
    libraries=("bashkit",),
    live="agentworld_gym.domains.terminal.live:open_live",
    content_words="agentworld_gym.kit.vocabulary:content_words",
    view="agentworld_gym.domains.terminal.engine.view:TerminalView",
    programs="agentworld_gym.domains.terminal.engine.read_only_programs:programs",
    observations="agentworld_gym.domains.terminal.observations:TerminalObservations",
    families="agentworld_gym.domains.terminal.tasks:FAMILIES",
    composition="agentworld_gym.domains.terminal.tasks.composed:COMPOSITION",
    control_cases="agentworld_gym.domains.terminal.tasks.control_cases:CASES",
    policies={
        "explore": "agentworld_gym.domains.terminal.explorer:explore",
        "blend": "agentworld_gym.domains.terminal.explorer:blend",
        "compute": "agentworld_gym.domains.terminal.explorer:compute",
        "free": "agentworld_gym.domains.terminal.free_explorer:free",
    },
    questions="agentworld_gym.domains.terminal.observations:asks",
    refusals="agentworld_gym.domains.terminal.refusals:TerminalRefusals",
    claim_recording=f"{__name__}:claim_recording",
    explain="agentworld_gym.domains.terminal.explanations:explain",
    verifier="agentworld_gym.domains.terminal.verifier:VERIFIER",
    control_marks={
        "intermittent-errors": r"bash: fork: Resource temporarily unavailable",
        "partial-failure": r"write error: Resource temporarily unavailable",
    },
)
