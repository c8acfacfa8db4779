"""Commands that the sandbox lacks, or that must not depend on the host, written in Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from bashkit import BuiltinContext, BuiltinResult

from agentworld_gym.engines.terminal.builtins import (
    archive,
    calculator,
    changes,
    counting,
    diffing,
    identity,
    inspecting,
    listing,
    metadata,
    times,
    transfer,
)
from agentworld_gym.engines.terminal.context import Context

Command = Callable[[Context, BuiltinContext], str | BuiltinResult]

COMMANDS: dict[str, Command] = {
    **archive.COMMANDS,
    **calculator.COMMANDS,
    **changes.COMMANDS,
    **counting.COMMANDS,
    **diffing.COMMANDS,
    **identity.COMMANDS,
    **inspecting.COMMANDS,
    **listing.COMMANDS,
    **metadata.COMMANDS,
    **times.COMMANDS,
    **transfer.COMMANDS,
}


def builtins(context: Context) -> dict[str, Callable[[BuiltinContext], str | BuiltinResult]]:
    """Every command of ours, bound to a shell's context."""
    return {name: partial(command, context) for name, command in COMMANDS.items()}
