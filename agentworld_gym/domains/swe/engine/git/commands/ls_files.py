"""`git ls-files`."""

from __future__ import annotations

from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.diff import under
from agentworld_gym.domains.swe.engine.git.history import GitError
from agentworld_gym.domains.swe.engine.git.objects import blob_id
from agentworld_gym.domains.swe.engine.git.options import read_options


def ls_files(call: GitCall, argv: list[str]) -> None:
    """`git ls-files`."""
    options = read_options(
        "ls-files",
        argv,
        "modified -m --modified; others -o --others; deleted -d --deleted; "
        "shape --exclude-standard -c --cached; stage -s; error --error-unmatch",
    )
    if "others" in options:
        paths = call.untracked()
    elif "modified" in options or "deleted" in options:
        paths = [change.path for change in call.unstaged() if "modified" in options or change.new is None]
    else:
        paths = sorted(call.history.index)
    names = [*options.operands, *(options.paths or [])]
    if names:
        paths, missing = call.select(names, paths)
        if missing and "error" in options:
            raise GitError(
                f"error: pathspec '{missing[0]}' did not match any file(s) known to git\n"
                "Did you forget to 'git add'?\n",
                1,
            )
    here = "" if call.cwd == call.root else call.place(".")
    for path in (path for path in paths if under(path, [here] if here else [])):
        stage = (
            f"100644 {blob_id(call.history.index[path])} 0\t"
            if "stage" in options and path in call.history.index
            else ""
        )
        call.say(f"{stage}{call.relative_path(path)}\n")
