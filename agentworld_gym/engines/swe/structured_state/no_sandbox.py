"""A sandbox for those who only look at a repository."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentworld_gym.engines import EngineError
from agentworld_gym.engines.swe.python.sandbox import PythonResult


class _NoSandbox:
    """Runs no Python: a view computes nothing."""

    name = "none"

    def run(
        self,
        files: Mapping[str, str],
        argv: Sequence[str],
        *,
        cwd: str,
        stdin: str = "",
        env: Mapping[str, str] = {},
        timeout_s: float = 10.0,
    ) -> PythonResult:
        """Refuse."""
        raise EngineError("a view runs no Python")

    def close(self) -> None:
        """Do nothing."""


NO_SANDBOX = _NoSandbox()
