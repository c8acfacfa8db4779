"""`git rm`."""

from __future__ import annotations

from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.diff import under
from agentworld_gym.domains.swe.engine.git.history import GitError
from agentworld_gym.domains.swe.engine.git.options import read_options


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
