"""`git checkout` and `git switch`."""

from __future__ import annotations

from agentworld_gym.domains.swe.engine.git.branches import branch_start
from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.commands.status import tracking
from agentworld_gym.domains.swe.engine.git.diff import compare
from agentworld_gym.domains.swe.engine.git.history import GitError
from agentworld_gym.domains.swe.engine.git.objects import Commit, tree_id
from agentworld_gym.domains.swe.engine.git.operands import exists
from agentworld_gym.domains.swe.engine.git.options import read_options
from agentworld_gym.domains.swe.engine.git.worktree import carry, chosen_paths


def checkout(call: GitCall, argv: list[str]) -> None:
    """`git checkout`."""
    options = read_options(
        "checkout",
        argv,
        "quiet -q --quiet; force -f --force; detach --detach",
        "create -b; reset -B",
    )
    words = list(options.operands)
    if "create" in options or "reset" in options:
        name = options.values.get("create") or options.values["reset"]
        _enter_new(call, name, words[:1], replace="reset" in options, quiet="quiet" in options)
        return
    if options.paths is not None:
        if words:
            _from_commit(call, call.history.resolve(words[0]), options.paths)
        else:
            _from_index(call, options.paths)
        return
    if not words:
        _enter(call, "HEAD", quiet="quiet" in options)
        return
    if words[0] in call.history.branches or words[0] == "-":
        _enter(call, words[0], force="force" in options, quiet="quiet" in options)
        return
    try:
        commit = call.history.resolve(words[0])
    except GitError:
        missing = [word for word in words if not exists(call, word) and not call.select([word], call.history.index)[0]]
        if missing:
            raise GitError(f"error: pathspec '{missing[0]}' did not match any file(s) known to git\n", 1) from None
        count = _from_index(call, words)
        if "quiet" not in options:
            call.complain(f"Updated {count} path{'s' * (count != 1)} from the index\n")
        return
    if len(words) > 1:
        count = _from_commit(call, commit, words[1:])
        if "quiet" not in options:
            call.complain(f"Updated {count} path{'s' * (count != 1)} from {tree_id(commit.tree)[:7]}\n")
        return
    _detach(call, commit, words[0], "force" in options, "quiet" in options)


def switch(call: GitCall, argv: list[str]) -> None:
    """`git switch`."""
    options = read_options(
        "switch",
        argv,
        "quiet -q --quiet; detach --detach -d; force -f",
        "create -c --create; reset -C",
    )
    name = options.values.get("create") or options.values.get("reset")
    if name is not None:
        _enter_new(call, name, options.operands[:1], replace="reset" in options, quiet="quiet" in options)
    elif not options.operands:
        raise GitError("fatal: missing branch or commit argument\n")
    elif "detach" in options:
        _detach(
            call, call.history.resolve(options.operands[0]), options.operands[0], "force" in options, "quiet" in options
        )
    elif options.operands[0] not in call.history.branches and options.operands[0] != "-":
        raise GitError(f"fatal: invalid reference: {options.operands[0]}\n")
    else:
        _enter(call, options.operands[0], force="force" in options, quiet="quiet" in options)


def _enter(call: GitCall, name: str, fresh: bool = False, force: bool = False, quiet: bool = False) -> None:
    history = call.history
    if name in ("HEAD", "-"):
        name = history.branch or "HEAD"
    if name not in history.branches:
        return
    already = name == history.branch
    left = history.head if history.branch is None else None
    target = history.commits[history.branches[name]]
    if not already:
        carry(call, target, force)
    here = {path: text for path, text in call.work.items() if path in history.index or path in target.tree}
    kept = "".join(f"{change.letter}\t{change.path}\n" for change in compare(target.tree, here))
    history.branch = name
    if quiet:
        return
    if left is not None and not already:
        call.complain(f"Previous HEAD position was {left.id[:7]} {left.subject}\n")
    if already:
        call.complain(f"Already on '{name}'\n")
    else:
        call.complain(f"Switched to a new branch '{name}'\n" if fresh else f"Switched to branch '{name}'\n")
    if not fresh:
        call.say(kept + tracking(call).removesuffix("\n"))


def _enter_new(call: GitCall, name: str, start: list[str], replace: bool, quiet: bool) -> None:
    """Create a branch and check it out; it is not created where local changes are in the way."""
    commit = branch_start(call, name, start, replace)
    carry(call, commit, False)
    call.history.branches = {**call.history.branches, name: commit.id}
    _enter(call, name, fresh=True, quiet=quiet)


def _detach(call: GitCall, commit: Commit, name: str, force: bool, quiet: bool) -> None:
    carry(call, commit, force)
    call.history.branch, call.history.detached = None, commit.id
    if not quiet:
        call.complain(
            f"Note: switching to '{name}'.\n\nYou are in 'detached HEAD' state. "
            "You can look around, make experimental\n"
            "changes and commit them, and you can discard any commits you make in this\n"
            "state without impacting any branches by switching back to a branch.\n\n"
            "If you want to create a new branch to retain commits you create, you may\n"
            "do so (now or later) by using -c with the switch command. Example:\n\n"
            "  git switch -c <new-branch-name>\n\nOr undo this operation with:\n\n  git switch -\n\n"
            "Turn off this advice by setting config variable advice.detachedHead to false\n\n"
            f"HEAD is now at {commit.id[:7]} {commit.subject}\n"
        )


def _from_index(call: GitCall, names: list[str]) -> int:
    count = 0
    for path in chosen_paths(call, names, call.history.index):
        count += call.work.get(path) != call.history.index[path]
        call.work[path] = call.history.index[path]
    return count


def _from_commit(call: GitCall, commit: Commit, names: list[str]) -> int:
    index = dict(call.history.index)
    chosen = chosen_paths(call, names, commit.tree)
    count = sum(index.get(path) != commit.tree[path] or call.work.get(path) != commit.tree[path] for path in chosen)
    for path in chosen:
        call.work[path] = index[path] = commit.tree[path]
    call.history.index = index
    return count
