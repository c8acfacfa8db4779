"""Moves the working tree and the index to another commit."""

from __future__ import annotations

from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.diff import compare, stat
from agentworld_gym.domains.swe.engine.git.history import GitError
from agentworld_gym.domains.swe.engine.git.objects import Commit, Tree


def carry(call: GitCall, target: Commit, force: bool) -> None:
    """Bring the working tree and the index to a commit, and keep what was changed and not committed.

    Raises:
        GitError: a file that has to change holds changes that are not committed, and `force` is false.
    """
    history = call.history
    head = history.head.tree
    index = dict(history.index)
    moves = compare(head, target.tree)
    blocked = [
        change.path
        for change in moves
        if {call.work.get(change.path), index.get(change.path)} - {change.old, change.new}
    ]
    if blocked and not force:
        raise GitError(
            "error: Your local changes to the following files would be overwritten by checkout:\n"
            + "".join(f"\t{path}\n" for path in blocked)
            + "Please commit your changes or stash them before you switch branches.\nAborting\n", 1
        )  # fmt: skip
    for change in moves:
        put(call.work, change.path, change.new)
        put(index, change.path, change.new)
    if force:
        for path in {*index, *target.tree}:
            put(call.work, path, target.tree.get(path))
        index = dict(target.tree)
    history.index = index


def put(tree: dict[str, str], path: str, text: str | None) -> None:
    """Write the text of a path into a tree, or remove the path where the text is `None`."""
    if text is None:
        tree.pop(path, None)
    else:
        tree[path] = text


def chosen_paths(call: GitCall, names: list[str], paths: Tree | set[str]) -> list[str]:
    """Return those of the given paths that the operands stand for.

    Raises:
        GitError: an operand stands for none of them.
    """
    chosen, missing = call.select(names, paths)
    if missing:
        lines = (f"error: pathspec '{name}' did not match any file(s) known to git\n" for name in missing)
        raise GitError("".join(lines), 1)
    return chosen


def fast_forward(call: GitCall, target: Commit) -> None:
    """Move the current branch forward to a commit.

    Raises:
        GitError: the commit is not ahead of the branch, or local changes are in the way.
    """
    history = call.history
    old = history.head
    if target.id in {commit.id for commit in history.ancestors(old.id)}:
        call.say("Already up to date.\n")
        return
    if old.id not in {commit.id for commit in history.ancestors(target.id)}:
        raise GitError("fatal: Not possible to fast-forward, aborting.\n")
    try:
        carry(call, target, False)
    except GitError as error:
        text = str(error).replace("checkout:", "merge:").replace("switch branches", "merge")
        raise GitError(text, 1) from None
    history.move(target)
    changes = compare(old.tree, target.tree)
    call.say(f"Updating {old.id[:7]}..{target.id[:7]}\nFast-forward\n{stat(changes)}")
    for change in changes:
        if change.letter != "M":
            call.say(f" {'create' if change.old is None else 'delete'} mode 100644 {change.path}\n")
