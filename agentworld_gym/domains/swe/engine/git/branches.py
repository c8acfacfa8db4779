"""The names of branches and where a branch begins."""

from __future__ import annotations

import re

from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.history import GitError, GitHistory
from agentworld_gym.domains.swe.engine.git.objects import Commit

_BRANCH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,80}")


def check_branch(history: GitHistory, name: str) -> None:
    """Refuse a text that cannot be the name of a branch.

    Raises:
        GitError: the name is not valid, or another branch is in its way.
    """
    if (
        not _BRANCH.fullmatch(name)
        or ".." in name
        or "//" in name
        or name.endswith(("/", ".lock", "."))
        or "/." in name
    ):
        raise GitError(f"fatal: '{name}' is not a valid branch name\n")
    for other in history.branches:
        if other.startswith(name + "/") or name.startswith(other + "/"):
            raise GitError(
                f"fatal: cannot lock ref 'refs/heads/{name}': 'refs/heads/{other}' exists; "
                f"cannot create 'refs/heads/{name}'\n"
            )


def branch_start(call: GitCall, name: str, start: list[str], replace: bool = False) -> Commit:
    """Return the commit at which a new branch would begin: the one that `start` names, or the current one.

    Raises:
        GitError: the name is not valid, the branch exists and is not to be replaced, or `start` names no commit.
    """
    history = call.history
    check_branch(history, name)
    if name in history.branches and not replace:
        raise GitError(f"fatal: a branch named '{name}' already exists\n")
    return history.resolve(start[0]) if start else history.head
