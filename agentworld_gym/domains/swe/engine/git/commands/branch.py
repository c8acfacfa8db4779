"""`git branch` and `git tag`."""

from __future__ import annotations

from agentworld_gym.domains.swe.engine.git.branches import branch_start, check_branch
from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.history import GitError
from agentworld_gym.domains.swe.engine.git.options import read_options


def branch(call: GitCall, argv: list[str]) -> None:
    """`git branch`."""
    options = read_options(
        "branch",
        argv,
        "all -a --all; remote -r; verbose -v -vv; current --show-current; delete -d --delete; force -D; "
        "move -m -M; list --list -l; shape -f",
        "format --format; contains --contains",
    )
    history = call.history
    if "current" in options:
        call.say(f"{history.branch}\n" if history.branch is not None else "")
    elif "delete" in options or "force" in options:
        for name in options.operands:
            if name not in history.branches:
                raise GitError(f"error: branch '{name}' not found.\n", 1)
            if name == history.branch:
                raise GitError(f"error: Cannot delete branch '{name}' checked out at '{call.root}'\n", 1)
            tip = history.branches[name]
            if "delete" in options and tip not in {commit.id for commit in history.ancestors(history.head.id)}:
                raise GitError(
                    f"error: The branch '{name}' is not fully merged.\n"
                    f"If you are sure you want to delete it, run 'git branch -D {name}'.\n", 1
                )  # fmt: skip
            history.branches = {other: id for other, id in history.branches.items() if other != name}
            call.say(f"Deleted branch {name} (was {tip[:7]}).\n")
    elif "move" in options and options.operands:
        old, new = (
            (options.operands + options.operands)[:2]
            if len(options.operands) > 1
            else (history.branch or "", options.operands[0])
        )
        if old not in history.branches:
            raise GitError(f"error: refname refs/heads/{old} not found\nfatal: Branch rename failed\n")
        check_branch(history, new)
        history.branches = {new if name == old else name: id for name, id in history.branches.items()}
        history.branch = new if history.branch == old else history.branch
    elif options.operands and "list" not in options:
        name, *start = options.operands[:2]
        history.branches = {**history.branches, name: branch_start(call, name, start).id}
    else:
        _list(call, options.values)


def _list(call: GitCall, chosen: dict[str, str]) -> None:
    history = call.history
    rows = (
        []
        if "remote" in chosen
        else [(name, id, name == history.branch) for name, id in sorted(history.branches.items())]
    )
    if history.branch is None and "remote" not in chosen:
        rows.insert(0, (f"(HEAD detached at {history.detached[:7]})", history.detached, True))
    if "remote" in chosen or "all" in chosen:
        start = "remotes/" if "all" in chosen else ""
        rows += [(f"{start}{history.remote}/{name}", id, False) for name, id in sorted(history.tracking.items())]
    if "contains" in chosen:
        wanted = history.resolve(chosen["contains"] or "HEAD").id
        rows = [row for row in rows if wanted in {commit.id for commit in history.ancestors(row[1])}]
    width = max((len(name) for name, _, _ in rows), default=0)
    for name, id, current in rows:
        tail = f"{name:<{width}} {id[:7]} {history.commits[id].subject}" if "verbose" in chosen else name
        call.say(f"{'*' if current else ' '} {tail}\n")


def tag(call: GitCall, argv: list[str]) -> None:
    """`git tag`: there are no tags, and none can be made."""
    if [word for word in argv if not word.startswith("-")]:
        raise GitError("fatal: cannot lock ref: Read-only file system\n")
