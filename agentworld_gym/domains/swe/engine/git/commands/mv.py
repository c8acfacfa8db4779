"""`git mv`."""

from __future__ import annotations

from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.diff import under
from agentworld_gym.domains.swe.engine.git.history import GitError
from agentworld_gym.domains.swe.engine.git.options import read_options


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
