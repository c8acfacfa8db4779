"""What tests of real shells and repositories need."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentworld_gym.base.errors import AgentWorldError
from agentworld_gym.kit.live import Confinement, LiveConfig
from agentworld_gym.kit.live.box import SandboxBox
from agentworld_gym.kit.live.file_archive import FileArchive


def needs_sandbox() -> None:
    """Skip where nothing can be confined."""
    try:
        with Confinement(LiveConfig(), "test", Path.cwd()) as confinement:
            SandboxBox(confinement, FileArchive.of({})).close()
    except AgentWorldError as error:
        pytest.skip(f"bubblewrap cannot run here: {error}")
