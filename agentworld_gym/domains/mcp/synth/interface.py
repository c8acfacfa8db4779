"""Checks the tools of a world as their callers see them, before any of them is implemented."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from agentworld_gym.core.actions.toolset import Toolset, UnreadableAction
from agentworld_gym.domains.mcp.engine.tool_validation import RESERVED
from agentworld_gym.domains.mcp.synth.answers import ANSWER
from agentworld_gym.domains.mcp.synth.draft import Interface, Sketch
from agentworld_gym.domains.mcp.synth.faults import AnswerFault, raise_any, spec_errors_as_faults


def check_interface(interface: Interface, fewest: int) -> None:
    """Check the tools of a world.

    Args:
        interface: The tools.
        fewest: How many there have to be.

    Raises:
        Fault: There are too few, two have one name, none writes or none reads, parameters are no JSON Schema, or a call
            that shall be right does not fit them.
    """
    names = Counter(sketch.name for sketch in interface.tools)
    raise_any([f"tool {name}: there are {count} of this name" for name, count in names.items() if count > 1])
    if len(names) < fewest:
        raise AnswerFault(f"there are {len(names)} tools, at least {fewest} are wanted")
    for writes, kind in ((True, "changes"), (False, "only reads")):
        if all(sketch.writes is not writes for sketch in interface.tools):
            raise AnswerFault(f"no tool {kind} the database")
    raise_any([f"tool {sketch.name}: {fault}" for sketch in interface.tools for fault in _faults(sketch)])


def _faults(sketch: Sketch) -> Iterator[str]:
    properties, required = sketch.parameters.get("properties", {}), sketch.parameters.get("required", [])
    if not isinstance(properties, dict) or not all(isinstance(schema, dict) for schema in properties.values()):
        yield "parameters.properties: a mapping from name to JSON Schema is wanted"
        return
    if not isinstance(required, list):
        yield "parameters.required: a list is wanted"
        return
    yield from (f"{name}: reserved name" for name in properties if name in RESERVED)
    yield from (f"{name} is required, but no property" for name in required if name not in properties)
    yield from (f"{name}: no type" for name, schema in properties.items() if "type" not in schema)
    try:
        with spec_errors_as_faults():
            toolset = Toolset([{"name": sketch.name, "parameters": {"type": "object", **sketch.parameters}}], ANSWER)
        toolset.call(sketch.name, sketch.right)
    except (UnreadableAction, AnswerFault) as error:
        yield f"the right call does not fit the parameters: {error}"
    yield from (f"the right call has {name}, which is no property" for name in sketch.right if name not in properties)
    if properties and sketch.wrong is None:
        yield "there is no wrong call"
