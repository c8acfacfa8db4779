"""`git merge`."""

from __future__ import annotations

from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.history import GitError
from agentworld_gym.domains.swe.engine.git.options import read_options
from agentworld_gym.domains.swe.engine.git.worktree import fast_forward


def merge(call: GitCall, argv: list[str]) -> None:
    """`git merge`, which only fast-forwards."""
    options = read_options(
        "merge",
        argv,
        "ff --ff-only; shape --ff --no-edit; quiet -q",
        "message -m",
    )
    history = call.history
    name = options.operands[0] if options.operands else "@{u}"
    try:
        target = history.resolve(name)
    except GitError:
        raise GitError(f"merge: {name} - not something we can merge\n", 1) from None
    fast_forward(call, target)
