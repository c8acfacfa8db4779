"""A sandbox for those who only look at a repository."""

from __future__ import annotations

from typing import Any

from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.swe.engine.python.sandbox import PythonResult


class _NoSandbox:
    """Runs no Python: a view computes nothing."""

    name = "none"

    def run(self, *_given: Any, **_named: Any) -> PythonResult:
        """Refuse."""
        raise EngineError("a view runs no Python")

    def close(self) -> None:
        """Do nothing."""


NO_SANDBOX = _NoSandbox()
