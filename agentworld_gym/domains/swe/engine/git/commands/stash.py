"""`git stash`."""

from __future__ import annotations

from collections.abc import Mapping

from agentworld_gym.domains.swe.engine.git.call import Command, GitCall
from agentworld_gym.domains.swe.engine.git.commands.status import long_status
from agentworld_gym.domains.swe.engine.git.diff import compare, patch, stat
from agentworld_gym.domains.swe.engine.git.history import GitError, Stash
from agentworld_gym.domains.swe.engine.git.options import read_options


def stash(call: GitCall, argv: list[str]) -> None:
    """`git stash`."""
    name, rest = (argv[0], argv[1:]) if argv and not argv[0].startswith("-") else ("push", argv)
    actions: Mapping[str, Command] = {"push": _put_aside, "save": _put_aside, "pop": _take_back, "apply": _take_back}
    if name in actions:
        actions[name](call, [name, *rest] if name in ("pop", "apply") else rest)
        return
    stashes = call.history.stashes
    if name == "list":
        call.say("".join(f"stash@{{{number}}}: {entry.message}\n" for number, entry in enumerate(stashes)))
    elif name == "clear":
        call.history.stashes = ()
    elif name in ("drop", "show"):
        entry, number = _stashed(call, [word for word in rest if not word.startswith("-")])
        if name == "drop":
            call.history.stashes = stashes[:number] + stashes[number + 1 :]
            call.say(f"Dropped refs/stash@{{{number}}} ({entry.id})\n")
            return
        changes = compare(call.history.commits[entry.base].tree, {p: t for p, t in entry.work.items()})
        call.say("".join(map(patch, changes)) if "-p" in rest else stat(changes))
    else:
        raise GitError(
            f"fatal: subcommand wasn't specified; 'push' can't be assumed due to unexpected token '{name}'\n"
        )


def _put_aside(call: GitCall, argv: list[str]) -> None:
    options = read_options(
        "stash",
        argv,
        "untracked -u --include-untracked; quiet -q --quiet; keep -k --keep-index",
        "message -m --message",
    )
    history = call.history
    tracked = dict(call.tracked())
    extra = call.untracked() if "untracked" in options else []
    if tracked == history.head.tree and history.index == history.head.tree and not extra:
        call.say("No local changes to save\n")
        return
    message = options.values.get("message") or " ".join(options.operands)
    head = history.head
    label = f"On {history.branch}: {message}" if message else f"WIP on {history.branch}: {head.id[:7]} {head.subject}"
    work = {**tracked, **{path: call.work[path] for path in extra}}
    history.stashes = (Stash(head.id, work, history.index, label), *history.stashes)
    target = history.index if "keep" in options else head.tree
    for path in {*history.index, *extra}:
        call.work.pop(path, None)
    call.work.update(target)
    history.index = target
    if "quiet" not in options:
        call.say(f"Saved working directory and index state {label}\n")


def _stashed(call: GitCall, words: list[str]) -> tuple[Stash, int]:
    stashes = call.history.stashes
    if not stashes:
        raise GitError("No stash entries found.\n", 1)
    text = (words or ["0"])[0].removeprefix("stash@{").removesuffix("}")
    if not text.isdigit() or int(text[:6]) >= len(stashes):
        raise GitError(f"error: {words[0]} is not a valid reference\n", 1)
    return stashes[int(text)], int(text)


def _take_back(call: GitCall, argv: list[str]) -> None:
    action, rest = argv[0], argv[1:]
    options = read_options(
        "stash",
        rest,
        "quiet -q --quiet; index --index",
    )
    entry, number = _stashed(call, options.operands)
    base = call.history.commits[entry.base].tree
    changes = compare(base, entry.work)
    current = call.work
    blocked = [c.path for c in changes if current.get(c.path) not in (c.old, c.new)]
    if blocked:
        raise GitError(
            "error: Your local changes to the following files would be overwritten by merge:\n"
            + "".join(f"\t{path}\n" for path in blocked)
            + "Please commit your changes or stash them before you merge.\nAborting\n", 1
        )  # fmt: skip
    index = dict(call.history.index)
    for change in changes:
        if change.new is None:
            current.pop(change.path, None)
        else:
            current[change.path] = change.new
            if change.path in entry.index and change.path not in base:
                index[change.path] = change.new
    call.history.index = index
    if "quiet" not in options:
        call.say(long_status(call))
    if action == "pop":
        stashes = call.history.stashes
        call.history.stashes = stashes[:number] + stashes[number + 1 :]
        call.say(f"Dropped refs/stash@{{{number}}} ({entry.id})\n")
