"""Commands that change the index and the files: `git add`, `clean`, `mv`, `reset`, `restore` and `rm`."""

from __future__ import annotations

from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.diff import under
from agentworld_gym.domains.swe.engine.git.history import GitError
from agentworld_gym.domains.swe.engine.git.objects import Tree
from agentworld_gym.domains.swe.engine.git.options import exists, read_options
from agentworld_gym.domains.swe.engine.git.worktree import chosen_paths, put

_HINT_NOTHING = (
    "Nothing specified, nothing added.\nhint: Maybe you wanted to say 'git add .'?\n"
    'hint: Turn this message off by running\nhint: "git config advice.addEmptyPathspec false"\n'
)


def add(call: GitCall, argv: list[str]) -> None:
    """`git add`."""
    options = read_options(
        "add",
        argv,
        "all -A --all --no-ignore-removal; update -u --update; verbose -v --verbose; force -f --force; "
        "dry -n; shape -N; patch -p",
    )
    if "patch" in options:
        raise GitError("error: the terminal is no tty, patches cannot be chosen\n", 1)
    names = [*options.operands, *(options.paths or [])]
    if not names and not {"all", "update"} & options.values.keys():
        call.complain(_HINT_NOTHING)
        return
    index = dict(call.history.index)
    places = [call.place(name) for name in names]
    candidates = {*call.work, *index}
    if names:
        chosen, missing = call.select(names, candidates)
        if missing:
            raise GitError(f"fatal: pathspec '{missing[0]}' did not match any files\n")
    else:
        chosen = sorted(candidates)
    left_out = [path for path in chosen if path not in index and call.ignores(path)]
    if "force" not in options:
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
            if index.pop(path, None) is not None and "verbose" in options:
                call.say(f"remove '{path}'\n")
        elif (path in index or "update" not in options) and index.get(path) != call.work[path]:
            index[path] = call.work[path]
            if "verbose" in options:
                call.say(f"add '{path}'\n")
    if "dry" not in options:
        call.history.index = index


def clean(call: GitCall, argv: list[str]) -> None:
    """`git clean`."""
    options = read_options(
        "clean",
        argv,
        "force -f --force; dry -n --dry-run; folders -d; ignored -x; quiet -q",
    )
    if not {"force", "dry"} & options.values.keys():
        raise GitError(
            "fatal: clean.requireForce defaults to true and neither -i, -n, nor -f given; refusing to clean\n"
        )
    index = call.history.index
    paths = [
        path for path in sorted(call.work) if path not in index and ("ignored" in options or not call.ignores(path))
    ]
    places = [call.place(name) for name in [*options.operands, *(options.paths or [])]]
    removed: dict[str, None] = {}
    for path in paths:
        folder = path.partition("/")[0]
        alone = "/" in path and not any(tracked.startswith(folder + "/") for tracked in index)
        if (alone and "folders" not in options) or not under(path, places):
            continue
        removed[f"{folder}/" if alone else path] = None
        if "dry" not in options:
            del call.work[path]
    if "quiet" not in options:
        call.say("".join(f"{'Would remove' if 'dry' in options else 'Removing'} {name}\n" for name in removed))


def move(call: GitCall, argv: list[str]) -> None:
    """`git mv`."""
    options = read_options(
        "mv",
        argv,
        "force -f; verbose -v; shape -k; dry -n",
    )
    *sources, target = [*options.operands, *(options.paths or [])] or [""]
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
        if goal in call.work and "force" not in options:
            raise GitError(f"fatal: destination exists, source={start}, destination={goal}\n")
        for path in inside:
            new = goal + path[len(start) :]
            call.work[new] = call.work.pop(path)
            if path in index:
                index[new] = index.pop(path)
    call.history.index = index


def reset(call: GitCall, argv: list[str]) -> None:
    """`git reset`."""
    options = read_options(
        "reset",
        argv,
        "hard --hard; soft --soft; mixed --mixed; quiet -q --quiet; keep --keep",
    )
    words = list(options.operands)
    history = call.history
    target = history.head
    names = list(options.paths or [])
    if words:
        try:
            target = history.resolve(words[0])
            words = words[1:]
        except GitError:
            if options.paths is not None or not (exists(call, words[0]) or words[0] in history.index):
                raise
    names = [*words, *names]
    if names:
        if "hard" in options or "soft" in options:
            raise GitError(f"fatal: Cannot do {'hard' if 'hard' in options else 'soft'} reset with paths.\n")
        index = dict(history.index)
        for path in chosen_paths(call, names, {*target.tree, *index}):
            put(index, path, target.tree.get(path))
        history.index = index
    else:
        history.move(target)
        if "hard" in options:
            for path in {*history.index, *target.tree}:
                put(call.work, path, target.tree.get(path))
        if "soft" not in options:
            history.index = target.tree
        if "hard" in options:
            call.say(f"HEAD is now at {target.id[:7]} {target.subject}\n" if "quiet" not in options else "")
            return
    if "soft" not in options and "quiet" not in options:
        left = call.unstaged()
        if left:
            call.say(
                "Unstaged changes after reset:\n" + "".join(f"{change.letter}\t{change.path}\n" for change in left)
            )


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


def remove(call: GitCall, argv: list[str]) -> None:
    """`git rm`."""
    options = read_options(
        "rm",
        argv,
        "recursive -r; force -f --force; cached --cached; quiet -q --quiet; dry -n; shape --ignore-unmatch",
    )
    names = [*options.operands, *(options.paths or [])]
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
        if "recursive" not in options and place not in index and any(under(path, [place]) for path in chosen):
            raise GitError(f"fatal: not removing '{name}' recursively without -r\n")
    for path in chosen:
        if "force" not in options and "cached" not in options and call.work.get(path, index[path]) != index[path]:
            raise GitError(
                f"error: the following file has local modifications:\n    {path}\n"
                "(use --cached to keep the file, or -f to force removal)\n", 1
            )  # fmt: skip
    for path in chosen:
        del index[path]
        if "cached" not in options:
            call.work.pop(path, None)
        if "quiet" not in options:
            call.say(f"rm '{path}'\n")
    call.history.index = index
