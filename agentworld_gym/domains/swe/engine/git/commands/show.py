"""`git show`."""

from __future__ import annotations

from collections.abc import Mapping

from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.history import GitError
from agentworld_gym.domains.swe.engine.git.operands import exists, paths_of
from agentworld_gym.domains.swe.engine.git.options import read_options
from agentworld_gym.domains.swe.engine.git.pretty import FORMS, UNFORMATTED, shown_commit


def show(call: GitCall, argv: list[str]) -> None:
    """`git show`."""
    options = read_options(
        "show",
        argv,
        f"{FORMS}; {UNFORMATTED}; oneline --oneline; no-patch -q",
        "format --format --pretty; context -U --unified",
    )
    names: list[str] = list(options.paths or [])
    objects: list[str] = []
    for word in options.operands:
        (names if objects and exists(call, word) else objects).append(word)
    for index, word in enumerate(objects or ["HEAD"]):
        revision, colon, path = word.partition(":")
        if colon:
            tree = call.history.resolve(revision).tree if revision else call.history.index
            _show_content(call, tree, revision, call.place(path) if path.startswith("./") else path.rstrip("/"))
            continue
        commit = call.history.resolve(revision)
        if index:
            call.say("\n")
        call.say(shown_commit(call, commit, options, paths_of(call, names), default=True))


def _show_content(call: GitCall, tree: Mapping[str, str], revision: str, path: str) -> None:
    if path in tree:
        call.say(tree[path])
        return
    start = f"{path}/" if path else ""
    inside = {name[len(start) :].partition("/") for name in tree if name.startswith(start)}
    if not inside:
        where = f"in '{revision}'" if revision else "in the index"
        if path in call.work:
            raise GitError(f"fatal: path '{path}' exists on disk, but not {where}\n")
        raise GitError(f"fatal: path '{path}' does not exist {where}\n")
    call.say(
        f"tree {revision}:{path}\n\n"
        + "".join(f"{name}{slash}\n" for name, slash in sorted({(n, s) for n, s, _ in inside}))
    )
