"""Tells the operands of a git command apart: revisions, ranges and paths."""

from __future__ import annotations

from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.diff import under
from agentworld_gym.domains.swe.engine.git.history import GitError
from agentworld_gym.domains.swe.engine.git.objects import Commit
from agentworld_gym.domains.swe.engine.git.options import GitOptions


def split(call: GitCall, options: GitOptions) -> tuple[list[Commit], list[str]]:
    """Split operands into the revisions, which come first, and the paths."""
    revisions: list[Commit] = []
    names: list[str] = []
    for word in options.operands:
        if not names:
            try:
                revisions.extend(_range(call, word))
                continue
            except GitError:
                if options.paths is not None:
                    raise GitError(f"fatal: bad revision '{word}'\n") from None
                if not exists(call, word):
                    raise
        names.append(word)
    for word in names[1:]:
        if not exists(call, word):
            raise GitError(
                f"fatal: {word}: no such path in the working tree.\n"
                "Use 'git <command> -- <path>...' to specify paths that do not exist locally.\n"
            )
    return revisions, [*names, *(options.paths or [])]


def exists(call: GitCall, name: str) -> bool:
    """Return whether an operand names something in the working tree, or holds a wildcard."""
    place = call.place(name)
    return bool(set("*?[") & set(name)) or any(under(path, [place]) for path in call.work)


def paths_of(call: GitCall, names: list[str]) -> list[str]:
    """Return operands as paths from the root; wildcards are replaced by the paths they match."""
    paths: list[str] = []
    for name in names:
        place = call.place(name)
        if set("*?[") & set(place):
            paths.extend(call.select([name], {*call.work, *call.history.index, *call.history.head.tree})[0] or [place])
        else:
            paths.append(place)
    return paths


def _range(call: GitCall, word: str) -> list[Commit]:
    first, dots, second = word.partition("..")
    if not dots:
        return [call.history.resolve(word)]
    return [call.history.resolve(first or "HEAD"), call.history.resolve(second.removeprefix(".") or "HEAD")]
