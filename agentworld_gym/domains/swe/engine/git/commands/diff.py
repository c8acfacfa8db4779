"""`git diff`."""

from __future__ import annotations

from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.diff import compare
from agentworld_gym.domains.swe.engine.git.history import GitError
from agentworld_gym.domains.swe.engine.git.operands import paths_of, split
from agentworld_gym.domains.swe.engine.git.options import read_options
from agentworld_gym.domains.swe.engine.git.pretty import FORMS, UNFORMATTED, shown_changes


def diff(call: GitCall, argv: list[str]) -> None:
    """`git diff`."""
    options = read_options(
        "diff",
        argv,
        f"{FORMS}; {UNFORMATTED}; cached --cached --staged; quiet --quiet -q; exit-code --exit-code; "
        "shape -w -b --text --check",
        "context -U --unified; filter --diff-filter",
    )
    history = call.history
    revisions, names = split(call, options)
    paths = paths_of(call, names)
    if len(revisions) > 2 or (len(revisions) == 2 and "cached" in options):
        raise GitError("usage: git diff [<options>] [<commit>] [--] [<path>...]\n", 129)
    if len(revisions) == 2:
        changes = compare(revisions[0].tree, revisions[1].tree, paths)
    elif "cached" in options:
        changes = compare((revisions or [history.head])[0].tree, history.index, paths)
    elif revisions:
        work = {path: call.work[path] for path in {*history.index, *revisions[0].tree} & call.work.keys()}
        changes = compare(revisions[0].tree, work, paths)
    else:
        changes = call.unstaged(paths)
    letters = options.values.get("filter", "")
    changes = [change for change in changes if not letters or change.letter in letters]
    if "quiet" not in options:
        call.say(shown_changes(changes, options))
    if "quiet" in options or "exit-code" in options:
        call.status = int(bool(changes))
