"""`git restore`."""

from __future__ import annotations

from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.history import GitError
from agentworld_gym.domains.swe.engine.git.objects import Tree
from agentworld_gym.domains.swe.engine.git.options import read_options
from agentworld_gym.domains.swe.engine.git.worktree import chosen_paths, put


def restore(call: GitCall, argv: list[str]) -> None:
    """`git restore`."""
    options = read_options(
        "restore",
        argv,
        "staged -S --staged; worktree -W --worktree; quiet -q",
        "source -s --source",
    )
    names = [*options.operands, *(options.paths or [])]
    if not names:
        raise GitError("fatal: you must specify path(s) to restore\n")
    history = call.history
    staged = "staged" in options
    if "source" in options:
        source: Tree = history.resolve(options.values["source"]).tree
    else:
        source = history.head.tree if staged else history.index
    chosen = chosen_paths(call, names, {*source, *history.index})
    index = dict(history.index)
    for path in chosen:
        if staged:
            put(index, path, source.get(path))
        if not staged or "worktree" in options:
            put(call.work, path, source.get(path))
    history.index = index
