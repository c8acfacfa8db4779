"""The engine of a user's own repository."""

from __future__ import annotations

import shutil

from agentworld_gym.base.errors import SpecError, WorldNotConfigured
from agentworld_gym.domains.swe.live.clones import Clones
from agentworld_gym.domains.swe.live.config import RepositoryConfig, rows_of
from agentworld_gym.domains.swe.live.session import RepositoryMachine, RepositorySession
from agentworld_gym.kit.live import Confinement, LiveEngine, LiveSource, Masks

DOMAIN = "swe"
"""The domain of repositories."""

_VARY = (
    r"in (\d+\.\d+s)\b",
    r"(?m)^Process Group PGID: (\d+)$",
    r"(?m)^Background PIDs: (\d+)$",
    r"<timestamp>([^<]*)</timestamp>",
)
"""What varies in the answers of tools, beside what the configuration says."""


def open_live(source: LiveSource) -> RepositoryEngine:
    """Open a user's own repository.

    Raises:
        SpecError: The configuration is wrong.
        WorldNotConfigured: Commands cannot be confined here, or git is missing.
    """
    config = source.read(RepositoryConfig, DOMAIN)
    if config.rows is not None:
        tasks = (*config.tasks, *(row.task() for row in rows_of(source, config.rows)))
        config = config.model_copy(update={"tasks": tasks})
    return RepositoryEngine(config, source)


class RepositoryEngine(LiveEngine[RepositoryConfig]):
    """Starts sessions in clones of one repository.

    Args:
        config: The repository.
        source: Where the configuration stands.

    Raises:
        SpecError: A key is wrong, or a folder is not there.
        WorldNotConfigured: Commands cannot be confined here, or git is missing.
    """

    machine = RepositoryMachine

    def __init__(self, config: RepositoryConfig, source: LiveSource) -> None:
        if config.trusted:
            raise SpecError(source.file, "trusted", True, "false: commands of a repository always run in a sandbox")
        if shutil.which("git") is None:
            raise WorldNotConfigured(f"{source.file}: a live repository needs git: apt install git")
        self.confinement = Confinement(config, source.file, source.folder)
        self.clones = Clones(config, source, self.confinement)
        super().__init__(config)
        self.masks = Masks((*config.masks, *_VARY))

    def open_session(self) -> RepositorySession:
        """Start a session at the commit of the configuration."""
        return RepositorySession(self.clones)

    def close(self) -> None:
        """End all sessions."""
        super().close()
        self.confinement.close()
