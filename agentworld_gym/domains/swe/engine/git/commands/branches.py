"""Commands on branches: `git branch`, `checkout`, `merge`, `switch` and `tag`."""

from __future__ import annotations

import re

from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.commands.status import tracking
from agentworld_gym.domains.swe.engine.git.diff import compare
from agentworld_gym.domains.swe.engine.git.history import GitError, GitHistory
from agentworld_gym.domains.swe.engine.git.objects import Commit, tree_id
from agentworld_gym.domains.swe.engine.git.options import exists, read_options
from agentworld_gym.domains.swe.engine.git.worktree import carry, chosen_paths, fast_forward

_BRANCH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,80}")


def check_branch(history: GitHistory, name: str) -> None:
    """Refuse a text that cannot be the name of a branch.

    Raises:
        GitError: the name is not valid, or another branch is in its way.
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


def branch_start(call: GitCall, name: str, start: list[str], replace: bool = False) -> Commit:
    """Return the commit at which a new branch would begin: the one that `start` names, or the current one.

    Raises:
        GitError: the name is not valid, the branch exists and is not to be replaced, or `start` names no commit.
    """
    history = call.history
    check_branch(history, name)
    if name in history.branches and not replace:
        raise GitError(f"fatal: a branch named '{name}' already exists\n")
    return history.resolve(start[0]) if start else history.head


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
