"""Commands in Python that bashkit lacks, that it answers in other words than GNU, or that would depend on the host.

They print what GNU coreutils, tar, diff and bc print. The real programs would need processes and a host's file system.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from bashkit import BuiltinContext, BuiltinResult

from agentworld_gym.domains.terminal.engine.builtins import (
    bc,
    cp_mv,
    date_sleep,
    diff,
    file_tee,
    identity,
    ls,
    mkdir_rm_chmod,
    stat_du,
    tar,
    timeout,
    wc_ln,
)
from agentworld_gym.domains.terminal.engine.context import ShellContext

Command = Callable[[ShellContext, BuiltinContext], str | BuiltinResult]

COMMANDS: dict[str, Command] = {
    **bc.COMMANDS,
    **cp_mv.COMMANDS,
    **date_sleep.COMMANDS,
    **diff.COMMANDS,
    **file_tee.COMMANDS,
    **identity.COMMANDS,
    **ls.COMMANDS,
    **mkdir_rm_chmod.COMMANDS,
    **stat_du.COMMANDS,
    **tar.COMMANDS,
    **timeout.COMMANDS,
    **wc_ln.COMMANDS,
}


def builtins(context: ShellContext) -> dict[str, Callable[[BuiltinContext], str | BuiltinResult]]:
    """Return every command of this package, bound to a shell's context."""
    return {name: partial(_run, command, context) for name, command in COMMANDS.items()}


def _run(command: Command, context: ShellContext, call: BuiltinContext) -> str | BuiltinResult:
    """Run a command and turn an error of the sandbox (about one of its own folders, say) into the command's error.

    A lack of memory, or a number that Python cannot hold, is none of the command's: it ends the script.
    """
    try:
        return command(context, call)
    except (MemoryError, OverflowError, RecursionError) as error:
        context.fail(f"the command {call.name} asked for more than there is: {type(error).__name__}")
        return BuiltinResult("", "", 1)
    except (RuntimeError, OSError) as error:
        why = str(error).removeprefix("io error: ")
        return BuiltinResult("", f"{call.name}: {why[:1].upper()}{why[1:]}\n", 1)
