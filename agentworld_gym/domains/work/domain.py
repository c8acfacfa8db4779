"""Office work: what the domain is made of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agentworld_gym.core.registration import Domain

if TYPE_CHECKING:
    from agentworld_gym.core.engines import Engine


def open_engine(variant: str) -> Engine:
    """Return the engine, whose variants differ in what runs Python."""
    from agentworld_gym.domains.work.machine import WorkEngine

    return WorkEngine(variant)


def versions(variant: str) -> dict[str, str]:
    """Return the versions of SQLite, and of the Python that runs code, where it is this one."""
    from agentworld_gym.domains.swe.api import versions as versions_of_repositories
    from agentworld_gym.kit.tables.database import sqlite_version

    return {**sqlite_version(variant), **versions_of_repositories(variant)}


DOMAIN = Domain(
    id="work",
    env_id="AgentWorld/Work-v0",
    spec=Path(__file__).with_name("work.yaml"),
    engine=f"{__name__}:open_engine",
    variants=("auto", "bubblewrap", "monty"),
    libraries=("bashkit", "pydantic-monty"),
    versions=f"{__name__}:versions",
    families="agentworld_gym.domains.work.families:FAMILIES",
)
