"""`git commit` and `git revert`."""

from __future__ import annotations

from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.commands.status import long_status
from agentworld_gym.domains.swe.engine.git.diff import compare
from agentworld_gym.domains.swe.engine.git.history import GitError
from agentworld_gym.domains.swe.engine.git.objects import make_commit
from agentworld_gym.domains.swe.engine.git.options import read_options
from agentworld_gym.domains.swe.engine.git.pretty import committed

NO_EDITOR = "error: Terminal is dumb, but EDITOR unset\nPlease supply the message using either -m or -F option.\n"


def commit(call: GitCall, argv: list[str]) -> None:
    """`git commit`."""
    options = read_options(
        "commit",
        argv,
        "all -a --all; quiet -q --quiet; amend --amend; no-edit --no-edit; empty --allow-empty; "
        "shape -n --no-verify -v --allow-empty-message; sign -s --signoff",
        "message -m --message; file -F --file; author --author; date --date; reuse -C",
    )
    history = call.history
    index = dict(history.index)
    names = [*options.operands, *(options.paths or [])]
    if "all" in options:
        index = {path: call.work[path] for path in index if path in call.work}
    elif names:
        chosen, missing = call.select(names, {*index, *history.head.tree})
        if missing:
            raise GitError(f"error: pathspec '{missing[0]}' did not match any file(s) known to git\n", 1)
        index = {**index, **{path: call.work[path] for path in chosen if path in call.work}}
        index = {path: text for path, text in index.items() if path in call.work or path not in chosen}
    base = history.commits[history.head.parents[0]] if "amend" in options and history.head.parents else history.head
    before = {} if "amend" in options and not history.head.parents else base.tree
    if index == history.head.tree and not {"amend", "empty"} & options.values.keys():
        call.say(long_status(call))
        call.status = 1
        return
    message = _message(call, options.occurrences, "amend" in options)
    if "sign" in options:
        message = f"{message.rstrip()}\n\nSigned-off-by: {history.user}\n"
    author = options.values.get("author") or (history.head.author if "amend" in options else history.user)
    parents = history.head.parents if "amend" in options else (history.head.id,)
    when = history.head.when if "amend" in options else call.now
    made = make_commit(parents, author, when, message, index, (history.user, call.now))
    history.index = made.tree
    history.move(made)
    if "quiet" not in options:
        where = history.branch if history.branch is not None else "detached HEAD"
        root = " (root-commit)" if not made.parents else ""
        call.say(f"[{where}{root} {made.id[:7]}] {made.subject}\n")
        if "amend" in options:
            call.say(f" Date: {made.date}\n")
        call.say(committed(compare(before, made.tree)))


def _message(call: GitCall, chosen: list[tuple[str, str]], amend: bool) -> str:
    messages = [value for name, value in chosen if name == "message"]
    for name, value in chosen:
        if name == "reuse":
            return call.history.resolve(value).message
        if name == "file":
            path = call.place(value) if value != "-" else ""
            if value != "-" and path not in call.work:
                raise GitError(f"fatal: could not read log file '{value}': No such file or directory\n")
            messages.append(call.stdin if value == "-" else call.work[path])
    if not messages:
        if amend and any(name == "no-edit" for name, _ in chosen):
            return call.history.head.message
        raise GitError(NO_EDITOR, 1)
    text = "\n\n".join(message.strip("\n") for message in messages)
    if not text.strip():
        raise GitError("Aborting commit due to empty commit message.\n", 1)
    return "\n".join(line.rstrip() for line in text.strip().split("\n"))


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
