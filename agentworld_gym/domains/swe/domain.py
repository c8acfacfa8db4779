"""Repositories: what the domain is made of."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

from agentworld_gym.core.registration import Domain

if TYPE_CHECKING:
    from agentworld_gym.core.engines import Engine
    from agentworld_gym.recipe.importers.conversation import ImportedConversation


def open_engine(variant: str) -> Engine:
    """Return the engine, whose variants differ in what runs Python."""
    from agentworld_gym.domains.swe.engine import SweEngine

    return SweEngine(variant)


def versions(variant: str) -> dict[str, str]:
    """Return the version of the Python that runs code, where it is this one."""
    return {"python": platform.python_version()} if variant == "bubblewrap" else {}


_SHELLS = {"bash", "Bash", "shell", "terminal", "execute_bash", "execute_code", "run_shell_command", "run_command"}
_FILES = {"read_file", "write_file", "edit", "edit_file", "patch", "str_replace_editor", "apply_patch"}
_FILES |= {"Read", "Write", "Edit", "MultiEdit"}


def claim_recording(conversation: ImportedConversation) -> float:
    """Say how surely a recorded session is work on a repository: agents of all kinds have a shell and read files.

    >>> from agentworld_gym.recipe.importers.conversation import ImportedConversation
    >>> claim_recording(ImportedConversation("a", []))
    0.0
    """
    return 0.5 if conversation.called() & (_SHELLS | _FILES) else 0.0


DOMAIN = Domain(
    id="swe",
    env_id="AgentWorld/SWE-v0",
    engine=f"{__name__}:open_engine",
    variants=("auto", "bubblewrap", "monty"),
    libraries=("bashkit", "pydantic-monty"),
    versions=f"{__name__}:versions",
    live="agentworld_gym.domains.swe.live:open_live",
    view="agentworld_gym.domains.swe.engine.view:SweView",
    syntaxes={"claude_code_call": "agentworld_gym.domains.swe.actions:SYNTAX"},
    observations="agentworld_gym.domains.swe.observations:CodeObservations",
    translations={"claude-code": "agentworld_gym.domains.swe.observations:CLAUDE_CODE"},
    families="agentworld_gym.domains.swe.tasks:FAMILIES",
    composition="agentworld_gym.domains.swe.tasks.composed:COMPOSITION",
    control_cases="agentworld_gym.domains.swe.tasks.control_cases:CASES",
    explorer="agentworld_gym.domains.swe.explorer:CodeExplorer",
    questions="agentworld_gym.domains.swe.observations:asks",
    refusals="agentworld_gym.domains.swe.refusals:CodeRefusals",
    policies={"free": "agentworld_gym.domains.swe.free_explorer:free"},
    claim_recording=f"{__name__}:claim_recording",
    explain="agentworld_gym.domains.swe.explanations:explain",
    verifier="agentworld_gym.domains.swe.verifier:VERIFIER",
    control_marks={"intermittent-errors": r"Could not resolve host", "partial-failure": r"test_sum_is_quick"},
)
