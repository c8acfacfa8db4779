"""`git clean`."""

from __future__ import annotations

from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.diff import under
from agentworld_gym.domains.swe.engine.git.history import GitError
from agentworld_gym.domains.swe.engine.git.options import read_options


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
