"""`git revert`."""

from __future__ import annotations

from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.diff import compare
from agentworld_gym.domains.swe.engine.git.history import GitError
from agentworld_gym.domains.swe.engine.git.objects import make_commit
from agentworld_gym.domains.swe.engine.git.options import read_options
from agentworld_gym.domains.swe.engine.git.pretty import committed


def revert(call: GitCall, argv: list[str]) -> None:
    """`git revert`, where no later commit has changed the same files."""
    options = read_options(
        "revert",
        argv,
        "no-edit --no-edit; no-commit -n --no-commit",
    )
    if not options.operands:
        raise GitError(
            "usage: git revert [--[no-]edit] [-n] [-m <parent-number>] [-s] [-S[<keyid>]] <commit>...\n", 129
        )
    history = call.history
    commit_to_undo = history.resolve(options.operands[0])
    if call.staged() or call.unstaged():
        raise GitError(
            "error: your local changes would be overwritten by revert.\n"
            "hint: commit your changes or stash them to proceed.\nfatal: revert failed\n"
        )
    before = history.commits[commit_to_undo.parents[0]].tree if commit_to_undo.parents else {}
    changes = compare(before, commit_to_undo.tree)
    tree = dict(history.head.tree)
    for change in changes:
        if tree.get(change.path) != change.new:
            raise GitError(
                f"error: could not revert {commit_to_undo.id[:7]}... {commit_to_undo.subject}\n"
                "hint: after resolving the conflicts, mark the corrected paths\n"
                "hint: with 'git add <paths>' or 'git rm <paths>'\n", 1
            )  # fmt: skip
        if change.old is None:
            del tree[change.path]
            call.work.pop(change.path, None)
        else:
            tree[change.path] = call.work[change.path] = change.old
    history.index = tree
    if "no-commit" in options:
        return
    message = f'Revert "{commit_to_undo.subject}"\n\nThis reverts commit {commit_to_undo.id}.\n'
    parent = history.head
    made = make_commit((parent.id,), history.user, call.now, message, tree)
    history.move(made)
    call.say(f"[{history.branch or 'detached HEAD'} {made.id[:7]}] {made.subject}\n")
    call.say(f" Date: {made.date}\n{committed(compare(parent.tree, made.tree))}")
