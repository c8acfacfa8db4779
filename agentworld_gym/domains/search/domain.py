"""The search: what the domain is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentworld_gym.core.registration import Domain

if TYPE_CHECKING:
    from agentworld_gym.core.engines import Engine
    from agentworld_gym.recipe.importers.conversation import ImportedConversation


def open_engine(variant: str) -> Engine:
    """Return the engine."""
    from agentworld_gym.domains.search.engine.machine import SearchMachine

    return SearchMachine


_TOOLS = {"web_search", "web_extractor", "dict_memory"}


def claim_recording(conversation: ImportedConversation) -> float:
    """Say how surely a recorded session is a search: its tools are AgentWorldBench's, and seldom another agent's.

    >>> from agentworld_gym.recipe.importers.conversation import ImportedConversation
    >>> claim_recording(ImportedConversation("a", []))
    0.0
    """
    return 0.9 if conversation.called() & _TOOLS else 0.0


DOMAIN = Domain(
    id="search",
    env_id="AgentWorld/Search-v0",
    engine=f"{__name__}:open_engine",
    libraries=("bm25s", "numpy"),
    versions="agentworld_gym.kit.tables.database:sqlite_version",
    index="agentworld_gym.domains.search.engine.web_index:SearchIndex",
    live="agentworld_gym.domains.search.live:open_live",
    observations="agentworld_gym.domains.search.observations:SearchObservations",
    families="agentworld_gym.domains.search.tasks:FAMILIES",
    composition="agentworld_gym.domains.search.tasks.composed:COMPOSITION",
    control_cases="agentworld_gym.domains.search.tasks.control_cases:CASES",
    explorer="agentworld_gym.domains.search.explorer:SearchExplorer",
    questions="agentworld_gym.domains.search.observations:asks",
    refusals="agentworld_gym.domains.search.refusals:SearchRefusals",
    claim_recording=f"{__name__}:claim_recording",
    explain="agentworld_gym.domains.search.explanations:explain",
    verifier="agentworld_gym.domains.search.verifier:VERIFIER",
    control_marks={
        "intermittent-errors": r"HTTP 403|HTTP 429|timed out",
        "pagination": r"Part \d+ of \d+\.",
        "truncated-output": r"\[content truncated\]",
        "slow-service": r"timed out after 30 seconds",
    },
)
