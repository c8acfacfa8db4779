"""What the checks need of a world that runs, the same for both forms of worlds, and calls of each of its tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from agentworld_gym.core.engines import EngineError, Scalar
from agentworld_gym.domains.mcp.synth.draft import CallDraft, Sketch
from agentworld_gym.domains.mcp.synth.faults import raise_any


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


_SHOWN = 600
"""How much of an answer a fault quotes."""


def check_calls(start: WorldMachine, sketches: Sequence[Sketch], prefix: str) -> None:
    """Call every tool once rightly and once wrongly; see `call_faults`.

    Raises:
        Fault: A call does not do what its tool says.
    """
    raise_any(call_faults(start, sketches, prefix))


def call_faults(start: WorldMachine, sketches: Sequence[Sketch], prefix: str) -> list[str]:
    """Call every tool once rightly and once wrongly, each time on a copy of the start, and return what is wrong.

    A right call must not be refused, and has to change the database exactly if the tool writes. A wrong call has to be
    refused by the tool, not by an error inside it, and must not change anything.

    Args:
        start: The world at its start, which stays as it is.
        sketches: The tools, with their two calls.
        prefix: What stands before the name of a tool in this world.
    """
    before = start.state()
    return [f"tool {sketch.name}: {fault}" for sketch in sketches for fault in _faults(start, before, sketch, prefix)]


def fails_inside(text: str) -> bool:
    """Whether an answer tells of an error inside a tool, in the words of either form.

    >>> fails_inside('{"status": "error", "code": 500, "message": "Internal Server Error: malformed JSON"}')
    True
    """
    return "Internal Server Error" in text


def _faults(start: WorldMachine, before: State, sketch: Sketch, prefix: str) -> Iterator[str]:
    worked, text, after = _tried(start, CallDraft(name=sketch.name, arguments=sketch.right), prefix)
    if not worked:
        yield f"the right call {sketch.right} is refused: {text[:_SHOWN]}"
    elif sketch.writes and after == before:
        yield f"the right call {sketch.right} changes nothing, and the tool is said to write"
    elif not sketch.writes and after != before:
        yield f"the right call {sketch.right} changes the database, and the tool is said to read only"
    if sketch.wrong is None:
        return
    worked, text, after = _tried(start, CallDraft(name=sketch.name, arguments=sketch.wrong), prefix)
    if worked:
        yield f"the wrong call {sketch.wrong} is not refused: {text[:_SHOWN]}"
    elif fails_inside(text):
        yield f"the wrong call {sketch.wrong} is an error inside the tool, and no refusal: {text[:_SHOWN]}"
    if after != before:
        yield f"the wrong call {sketch.wrong} changes the database"


def _tried(start: WorldMachine, call: CallDraft, prefix: str) -> tuple[bool, str, State]:
    machine = start.fork()
    try:
        worked, text = played(machine, call, prefix)
        return worked, text, machine.state()
    finally:
        machine.close()
