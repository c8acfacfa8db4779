"""What a form of worlds has to offer to the pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from agentworld_gym.domains.mcp.synth.draft import BackendName, Implementation, Solved, WorldDraft
from agentworld_gym.domains.mcp.synth.machines import WorldMachine


class Backend(Protocol):
    """A form of worlds: it reads implementations and verifiers, plays drafts, and writes finished worlds."""

    @property
    def name(self) -> BackendName:
        """The name of the form, by which its templates are called."""
        ...

    @property
    def clock(self) -> str | None:
        """The time that SQL reads where it asks for it; None where no SQL may ask."""
        ...

    @property
    def prefix(self) -> str:
        """What stands before the name of a tool, with `{name}` for the name of the world."""
        ...

    def implementation(self, draft: WorldDraft, text: str) -> Implementation:
        """Read the body of the tools from an answer, and check that it loads.

        Raises:
            Fault: The tools cannot be loaded, or do not do what the interface says.
        """
        ...

    def start(self, draft: WorldDraft) -> AbstractContextManager[WorldMachine]:
        """Start a session of a draft that has an implementation.

        Raises:
            Fault: The session cannot be started.
        """
        ...

    def solved(self, draft: WorldDraft, number: int, text: str) -> Solved:
        """Read the solution and the verifier of a task from an answer, and prove the task.

        Raises:
            Fault: The solution does not work, or the verifier does not tell it from something less.
        """
        ...

    def write(self, folder: Path, drafts: Sequence[WorldDraft]) -> None:
        """Write finished worlds into a folder, from which environments play them."""
        ...

    def close(self) -> None:
        """Free what is held; a second call does nothing."""
        ...
