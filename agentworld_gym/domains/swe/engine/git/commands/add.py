"""`git add`."""

from __future__ import annotations

from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.history import GitError
from agentworld_gym.domains.swe.engine.git.options import read_options

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
