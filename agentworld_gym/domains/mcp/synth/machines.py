"""What the checks need of a world that runs: the same for both forms of worlds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from agentworld_gym.core.engines import EngineError, Scalar
from agentworld_gym.domains.mcp.synth.draft import CallDraft


class WorldMachine(Protocol):
    """One session of a world: `ToolMachine` and `AwmMachine` are such."""

    @property
    def refused(self) -> bool:
        """Whether the last call failed."""
        ...

    def act(self, action: Any, /) -> str:
        """Answer one call."""
        ...

    def state(self) -> dict[str, Scalar]:
        """Return everything stored, as values by `table/primary key/column`."""
        ...

    def database(self) -> bytes:
        """Return the bytes of the database."""
        ...

    def fork(self) -> WorldMachine:
        """Return an exact copy."""
        ...

    def close(self) -> None:
        """Free what is held."""
        ...


State = Mapping[str, Scalar]


def played(machine: WorldMachine, call: CallDraft, prefix: str) -> tuple[bool, str]:
    """Make one call, and return whether it worked and what was answered.

    Args:
        machine: The session.
        call: The call.
        prefix: What stands before the name of a tool in this world.
    """
    try:
        text = machine.act({"name": prefix + call.name, "arguments": call.arguments})
    except EngineError as error:
        return False, str(error)
    return not machine.refused, text
