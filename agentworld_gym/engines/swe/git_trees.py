"""The commands of git that move between commits: checkout, switch, restore, reset, merge."""

from __future__ import annotations

import re

from agentworld_gym.engines.swe.diff import compare, stat
from agentworld_gym.engines.swe.git import Command, GitCall, options
from agentworld_gym.engines.swe.git_looks import exists, tracking
from agentworld_gym.engines.swe.history import GitError, History
from agentworld_gym.engines.swe.objects import Commit, Tree

_BRANCH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,80}")


def checkout(call: GitCall, argv: list[str]) -> None:
    """`git checkout`."""
    found = options(
        "checkout",
        argv,
        "quiet -q --quiet; force -f --force; detach --detach",
        "create -b; reset -B",
    )
    words = list(found.operands)
    if "create" in found or "reset" in found:
        create_branch(call, found.chosen.get("create") or found.chosen["reset"], words[:1], "reset" in found)
        _enter(call, found.chosen.get("create") or found.chosen["reset"], fresh=True, quiet="quiet" in found)
        return
    if found.paths is not None:
        if words:
            _from_commit(call, call.history.resolve(words[0]), found.paths, "quiet" in found or True)
        else:
            _from_index(call, found.paths)
        return
    if not words:
        _enter(call, "HEAD", quiet="quiet" in found)
        return
    if words[0] in call.history.branches or words[0] == "-":
        _enter(call, words[0], force="force" in found, quiet="quiet" in found)
        return
    try:
        commit = call.history.resolve(words[0])
    except GitError:
        missing = [word for word in words if not exists(call, word) and not call.select([word], call.history.index)[0]]
        if missing:
            raise GitError(f"error: pathspec '{missing[0]}' did not match any file(s) known to git\n", 1) from None
        count = _from_index(call, words)
        if "quiet" not in found:
            call.complain(f"Updated {count} path{'s' * (count != 1)} from the index\n")
        return
    if len(words) > 1:
        count = _from_commit(call, commit, words[1:], True)
        call.complain(f"Updated {count} path{'s' * (count != 1)} from {commit.id[:7]}\n")
        return
    _detach(call, commit, words[0], "force" in found, "quiet" in found)


def switch(call: GitCall, argv: list[str]) -> None:
    """`git switch`."""
    found = options(
        "switch",
        argv,
        "quiet -q --quiet; detach --detach -d; force -f",
        "create -c --create; reset -C",
    )
    name = found.chosen.get("create") or found.chosen.get("reset")
    if name is not None:
        create_branch(call, name, found.operands[:1], "reset" in found)
        _enter(call, name, fresh=True, quiet="quiet" in found)
    elif not found.operands:
        raise GitError("fatal: missing branch or commit argument\n")
    elif "detach" in found:
        _detach(call, call.history.resolve(found.operands[0]), found.operands[0], "force" in found, "quiet" in found)
    elif found.operands[0] not in call.history.branches and found.operands[0] != "-":
        raise GitError(f"fatal: invalid reference: {found.operands[0]}\n")
    else:
        _enter(call, found.operands[0], force="force" in found, quiet="quiet" in found)


def restore(call: GitCall, argv: list[str]) -> None:
    """`git restore`."""
    found = options(
        "restore",
        argv,
        "staged -S --staged; worktree -W --worktree; quiet -q",
        "source -s --source",
    )
    names = [*found.operands, *(found.paths or [])]
    if not names:
        raise GitError("fatal: you must specify path(s) to restore\n")
    history = call.history
    staged = "staged" in found
    if "source" in found:
        source: Tree = history.resolve(found.chosen["source"]).tree
    else:
        source = history.head.tree if staged else history.index
    chosen = _chosen(call, names, {*source, *history.index}, "")
    index = dict(history.index)
    for path in chosen:
        if staged:
            _put(index, path, source.get(path))
        if not staged or "worktree" in found:
            _put(call.work, path, source.get(path))
    history.index = index


def reset(call: GitCall, argv: list[str]) -> None:
    """`git reset`."""
    found = options(
        "reset",
        argv,
        "hard --hard; soft --soft; mixed --mixed; quiet -q --quiet; keep --keep",
    )
    words = list(found.operands)
    history = call.history
    target = history.head
    names = list(found.paths or [])
    if words:
        try:
            target = history.resolve(words[0])
            words = words[1:]
        except GitError:
            if found.paths is not None or not (exists(call, words[0]) or words[0] in history.index):
                raise
    names = [*words, *names]
    if names:
        if "hard" in found or "soft" in found:
            raise GitError(f"fatal: Cannot do {'hard' if 'hard' in found else 'soft'} reset with paths.\n")
        index = dict(history.index)
        for path in _chosen(call, names, {*target.tree, *index}, ""):
            _put(index, path, target.tree.get(path))
        history.index = index
    else:
        history.move(target)
        if "hard" in found:
            for path in {*history.index, *target.tree}:
                _put(call.work, path, target.tree.get(path))
        if "soft" not in found:
            history.index = target.tree
        if "hard" in found:
            call.say(f"HEAD is now at {target.id[:7]} {target.subject}\n" if "quiet" not in found else "")
            return
    if "soft" not in found and "quiet" not in found:
        left = call.unstaged()
        if left:
            call.say(
                "Unstaged changes after reset:\n" + "".join(f"{change.letter}\t{change.path}\n" for change in left)
            )


def check_branch(history: History, name: str) -> None:
    """Refuse what cannot be the name of a branch.

    Raises:
        GitError: it is none, or another branch is in its way.
    """
    if (
        not _BRANCH.fullmatch(name)
        or ".." in name
        or "//" in name
        or name.endswith(("/", ".lock", "."))
        or "/." in name
    ):
        raise GitError(f"fatal: '{name}' is not a valid branch name\n")
    for other in history.branches:
        if other.startswith(name + "/") or name.startswith(other + "/"):
            raise GitError(
                f"fatal: cannot lock ref 'refs/heads/{name}': 'refs/heads/{other}' exists; "
                f"cannot create 'refs/heads/{name}'\n"
            )


def create_branch(call: GitCall, name: str, start: list[str], replace: bool = False) -> None:
    """A branch at the commit that `start` names, or here.

    Raises:
        GitError: the name is none, or is taken.
    """
    history = call.history
    check_branch(history, name)
    if name in history.branches and not replace:
        raise GitError(f"fatal: a branch named '{name}' already exists\n")
    commit = history.resolve(start[0]) if start else history.head
    if start:
        _carry(call, commit, False)
    history.branches = {**history.branches, name: commit.id}


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
        _carry(call, target, force)
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


def _detach(call: GitCall, commit: Commit, name: str, force: bool, quiet: bool) -> None:
    _carry(call, commit, force)
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


def _carry(call: GitCall, target: Commit, force: bool) -> None:
    """Bring the working tree and the index to a commit; what was changed and not committed is kept.

    Raises:
        GitError: a file that has to change holds changes of its own.
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
        _put(call.work, change.path, change.new)
        _put(index, change.path, change.new)
    if force:
        for path in {*index, *target.tree}:
            _put(call.work, path, target.tree.get(path))
        index = dict(target.tree)
    history.index = index


def _from_index(call: GitCall, names: list[str]) -> int:
    count = 0
    for path in _chosen(call, names, call.history.index, "error"):
        count += call.work.get(path) != call.history.index[path]
        call.work[path] = call.history.index[path]
    return count


def _from_commit(call: GitCall, commit: Commit, names: list[str], staged: bool) -> int:
    index = dict(call.history.index)
    chosen = _chosen(call, names, commit.tree, "error")
    count = sum(index.get(path) != commit.tree[path] or call.work.get(path) != commit.tree[path] for path in chosen)
    for path in chosen:
        call.work[path] = commit.tree[path]
        if staged:
            index[path] = commit.tree[path]
    call.history.index = index
    return count


def _chosen(call: GitCall, names: list[str], paths: Tree | set[str], kind: str) -> list[str]:
    chosen, missing = call.select(names, paths)
    if missing:
        tail = " known to git" if kind in ("error", "") else ""
        raise GitError("".join(f"error: pathspec '{name}' did not match any file(s){tail}\n" for name in missing), 1)
    return chosen


def _put(place: dict[str, str], path: str, text: str | None) -> None:
    if text is None:
        place.pop(path, None)
    else:
        place[path] = text


def merge(call: GitCall, argv: list[str]) -> None:
    """`git merge`, where it is a fast-forward."""
    found = options(
        "merge",
        argv,
        "ff --ff-only; shape --ff --no-edit; quiet -q",
        "message -m",
    )
    history = call.history
    name = found.operands[0] if found.operands else "@{u}"
    try:
        target = history.resolve(name)
    except GitError:
        raise GitError(f"merge: {name} - not something we can merge\n", 1) from None
    fast_forward(call, target)


def fast_forward(call: GitCall, target: Commit) -> None:
    """Move the current branch forward to a commit.

    Raises:
        GitError: it is not ahead, or local changes are in the way.
    """
    history = call.history
    old = history.head
    if target.id in {commit.id for commit in history.ancestors(old.id)}:
        call.say("Already up to date.\n")
        return
    if old.id not in {commit.id for commit in history.ancestors(target.id)}:
        raise GitError("fatal: Not possible to fast-forward, aborting.\n")
    try:
        _carry(call, target, False)
    except GitError as error:
        text = str(error).replace("checkout:", "merge:").replace("switch branches", "merge")
        raise GitError(text, 1) from None
    history.move(target)
    changes = compare(old.tree, target.tree)
    call.say(f"Updating {old.id[:7]}..{target.id[:7]}\nFast-forward\n{stat(changes)}")
    for change in changes:
        if change.letter != "M":
            call.say(f" {'create' if change.old is None else 'delete'} mode 100644 {change.path}\n")


COMMANDS: dict[str, Command] = {
    "checkout": checkout,
    "merge": merge,
    "reset": reset,
    "restore": restore,
    "switch": switch,
}
