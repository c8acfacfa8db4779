"""The commands of git that record changes: add, commit, rm, mv, clean, stash, revert."""

from __future__ import annotations

from collections.abc import Mapping

from agentworld_gym.engines.swe.diff import Change, compare, patch, stat, summary, under
from agentworld_gym.engines.swe.git import Command, GitCall, options
from agentworld_gym.engines.swe.git_looks import long_status
from agentworld_gym.engines.swe.history import GitError, Stash
from agentworld_gym.engines.swe.objects import make_commit

NO_EDITOR = "error: Terminal is dumb, but EDITOR unset\nPlease supply the message using either -m or -F option.\n"
_HINT_NOTHING = (
    "Nothing specified, nothing added.\nhint: Maybe you wanted to say 'git add .'?\n"
    'hint: Turn this message off by running\nhint: "git config advice.addEmptyPathspec false"\n'
)


def add(call: GitCall, argv: list[str]) -> None:
    """`git add`."""
    found = options(
        "add",
        argv,
        "all -A --all --no-ignore-removal; update -u --update; verbose -v --verbose; force -f --force; "
        "dry -n; shape -N; patch -p",
    )
    if "patch" in found:
        raise GitError("error: the terminal is no tty, patches cannot be chosen\n", 1)
    names = [*found.operands, *(found.paths or [])]
    if not names and not {"all", "update"} & found.chosen.keys():
        call.complain(_HINT_NOTHING)
        return
    index = dict(call.history.index)
    places = [call.place(name) for name in names]
    known = {*call.work, *index}
    if names:
        chosen, missing = call.select(names, known)
        if missing:
            raise GitError(f"fatal: pathspec '{missing[0]}' did not match any files\n")
    else:
        chosen = sorted(known)
    left_out = [path for path in chosen if path not in index and call.ignores(path)]
    if "force" not in found:
        named = [path for path in left_out if path in places]
        if named:
            call.complain(
                "The following paths are ignored by one of your .gitignore files:\n" + "".join(f"{p}\n" for p in named)
                + "hint: Use -f if you really want to add them.\n"
                "hint: Turn this message off by running\nhint: \"git config advice.addIgnoredFile false\"\n"
            )  # fmt: skip
            call.status = 1
        chosen = [path for path in chosen if path not in left_out]
    for path in chosen:
        if path not in call.work:
            if index.pop(path, None) is not None and "verbose" in found:
                call.say(f"remove '{path}'\n")
        elif (path in index or "update" not in found) and index.get(path) != call.work[path]:
            index[path] = call.work[path]
            if "verbose" in found:
                call.say(f"add '{path}'\n")
    if "dry" not in found:
        call.history.index = index


def commit(call: GitCall, argv: list[str]) -> None:
    """`git commit`."""
    found = options(
        "commit",
        argv,
        "all -a --all; quiet -q --quiet; amend --amend; no-edit --no-edit; empty --allow-empty; "
        "shape -n --no-verify -v --allow-empty-message; sign -s --signoff",
        "message -m --message; file -F --file; author --author; date --date; reuse -C",
    )
    history = call.history
    index = dict(history.index)
    names = [*found.operands, *(found.paths or [])]
    if "all" in found:
        index = {path: call.work[path] for path in index if path in call.work}
    elif names:
        chosen, missing = call.select(names, {*index, *history.head.tree})
        if missing:
            raise GitError(f"error: pathspec '{missing[0]}' did not match any file(s) known to git\n", 1)
        index = {**index, **{path: call.work[path] for path in chosen if path in call.work}}
        index = {path: text for path, text in index.items() if path in call.work or path not in chosen}
    base = history.commits[history.head.parents[0]] if "amend" in found and history.head.parents else history.head
    before = {} if "amend" in found and not history.head.parents else base.tree
    if index == history.head.tree and not {"amend", "empty"} & found.chosen.keys():
        call.say(long_status(call))
        call.status = 1
        return
    message = _message(call, found.repeated, "amend" in found)
    if "sign" in found:
        message = f"{message.rstrip()}\n\nSigned-off-by: {history.user}\n"
    author = found.chosen.get("author") or (history.head.author if "amend" in found else history.user)
    parents = history.head.parents if "amend" in found else (history.head.id,)
    when = history.head.when if "amend" in found else call.now
    made = make_commit(parents, author, when, message, index, (history.user, call.now))
    history.index = made.tree
    history.move(made)
    if "quiet" not in found:
        where = history.branch if history.branch is not None else "detached HEAD"
        root = " (root-commit)" if not made.parents else ""
        call.say(f"[{where}{root} {made.id[:7]}] {made.subject}\n")
        if "amend" in found:
            call.say(f" Date: {made.date}\n")
        call.say(committed(compare(before, made.tree)))


def committed(changes: list[Change]) -> str:
    """What `git commit` says about the files."""
    text = summary(changes)
    for change in changes:
        if change.letter != "M":
            text += f" {'create' if change.old is None else 'delete'} mode 100644 {change.path}\n"
    return text


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


def remove(call: GitCall, argv: list[str]) -> None:
    """`git rm`."""
    found = options(
        "rm",
        argv,
        "recursive -r; force -f --force; cached --cached; quiet -q --quiet; dry -n; shape --ignore-unmatch",
    )
    names = [*found.operands, *(found.paths or [])]
    if not names:
        raise GitError(
            "usage: git rm [-f | --force] [-n] [-r] [--cached] [--ignore-unmatch] [--quiet] [--] <file>...\n", 129
        )
    index = dict(call.history.index)
    chosen, missing = call.select(names, index)
    if missing:
        raise GitError(f"fatal: pathspec '{missing[0]}' did not match any files\n")
    for name in names:
        place = call.place(name)
        if "recursive" not in found and place not in index and any(under(path, [place]) for path in chosen):
            raise GitError(f"fatal: not removing '{name}' recursively without -r\n")
    for path in chosen:
        if "force" not in found and "cached" not in found and call.work.get(path, index[path]) != index[path]:
            raise GitError(
                f"error: the following file has local modifications:\n    {path}\n"
                "(use --cached to keep the file, or -f to force removal)\n", 1
            )  # fmt: skip
    for path in chosen:
        del index[path]
        if "cached" not in found:
            call.work.pop(path, None)
        if "quiet" not in found:
            call.say(f"rm '{path}'\n")
    call.history.index = index


def move(call: GitCall, argv: list[str]) -> None:
    """`git mv`."""
    found = options(
        "mv",
        argv,
        "force -f; verbose -v; shape -k; dry -n",
    )
    *sources, target = [*found.operands, *(found.paths or [])] or [""]
    if not sources:
        raise GitError("usage: git mv [<options>] <source>... <destination>\n", 129)
    index = dict(call.history.index)
    place = call.place(target)
    folder = not place or any(path.startswith(place + "/") for path in call.work)
    for source in sources:
        start = call.place(source)
        inside = [path for path in call.work if under(path, [start])]
        if not inside:
            raise GitError(f"fatal: bad source, source={start}, destination={place}\n")
        if not any(path in index for path in inside):
            raise GitError(f"fatal: not under version control, source={start}, destination={place}\n")
        goal = f"{place}/{start.rpartition('/')[2]}".lstrip("/") if folder else place
        if goal in call.work and "force" not in found:
            raise GitError(f"fatal: destination exists, source={start}, destination={goal}\n")
        for path in inside:
            new = goal + path[len(start) :]
            call.work[new] = call.work.pop(path)
            if path in index:
                index[new] = index.pop(path)
    call.history.index = index


def clean(call: GitCall, argv: list[str]) -> None:
    """`git clean`."""
    found = options(
        "clean",
        argv,
        "force -f --force; dry -n --dry-run; folders -d; ignored -x; quiet -q",
    )
    if not {"force", "dry"} & found.chosen.keys():
        raise GitError(
            "fatal: clean.requireForce defaults to true and neither -i, -n, nor -f given; refusing to clean\n"
        )
    index = call.history.index
    paths = [path for path in sorted(call.work) if path not in index and ("ignored" in found or not call.ignores(path))]
    places = [call.place(name) for name in [*found.operands, *(found.paths or [])]]
    told: dict[str, None] = {}
    for path in paths:
        folder = path.partition("/")[0]
        alone = "/" in path and not any(known.startswith(folder + "/") for known in index)
        if (alone and "folders" not in found) or not under(path, places):
            continue
        told[f"{folder}/" if alone else path] = None
        if "dry" not in found:
            del call.work[path]
    if "quiet" not in found:
        call.say("".join(f"{'Would remove' if 'dry' in found else 'Removing'} {name}\n" for name in told))


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
    found = options(
        "stash",
        argv,
        "untracked -u --include-untracked; quiet -q --quiet; keep -k --keep-index",
        "message -m --message",
    )
    history = call.history
    tracked = dict(call.tracked())
    extra = call.untracked() if "untracked" in found else []
    if tracked == history.head.tree and history.index == history.head.tree and not extra:
        call.say("No local changes to save\n")
        return
    message = found.chosen.get("message") or " ".join(found.operands)
    head = history.head
    label = f"On {history.branch}: {message}" if message else f"WIP on {history.branch}: {head.id[:7]} {head.subject}"
    work = {**tracked, **{path: call.work[path] for path in extra}}
    history.stashes = (Stash(head.id, work, history.index, label), *history.stashes)
    target = history.index if "keep" in found else head.tree
    for path in {*history.index, *extra}:
        call.work.pop(path, None)
    call.work.update(target)
    history.index = target
    if "quiet" not in found:
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
    found = options(
        "stash",
        rest,
        "quiet -q --quiet; index --index",
    )
    entry, number = _stashed(call, found.operands)
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
    if "quiet" not in found:
        call.say(long_status(call))
    if action == "pop":
        stashes = call.history.stashes
        call.history.stashes = stashes[:number] + stashes[number + 1 :]
        call.say(f"Dropped refs/stash@{{{number}}} ({entry.id})\n")


def revert(call: GitCall, argv: list[str]) -> None:
    """`git revert`, where nothing has touched the same files since."""
    found = options(
        "revert",
        argv,
        "no-edit --no-edit; no-commit -n --no-commit",
    )
    if not found.operands:
        raise GitError(
            "usage: git revert [--[no-]edit] [-n] [-m <parent-number>] [-s] [-S[<keyid>]] <commit>...\n", 129
        )
    history = call.history
    commit_to_undo = history.resolve(found.operands[0])
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
    if "no-commit" in found:
        return
    message = f'Revert "{commit_to_undo.subject}"\n\nThis reverts commit {commit_to_undo.id}.\n'
    parent = history.head
    made = make_commit((parent.id,), history.user, call.now, message, tree)
    history.move(made)
    call.say(f"[{history.branch or 'detached HEAD'} {made.id[:7]}] {made.subject}\n")
    call.say(f" Date: {made.date}\n{committed(compare(parent.tree, made.tree))}")


COMMANDS: dict[str, Command] = {
    "add": add,
    "clean": clean,
    "commit": commit,
    "mv": move,
    "revert": revert,
    "rm": remove,
    "stash": stash,
}
