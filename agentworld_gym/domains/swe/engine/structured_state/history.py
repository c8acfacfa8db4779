"""Version control as plain JSON data.

`commits` hold what differs from the commit before: the lines of a file by its path, or None where it goes.
They are numbered by `id`, and all else names a commit by this number. `staged` is what differs from the commit that is
checked out. The hash of a commit follows from what it holds; where it does not, it stands there too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agentworld_gym.domains.swe.engine.git.history import GitHistory, Stash
from agentworld_gym.domains.swe.engine.git.objects import Commit, Tree, make_commit
from agentworld_gym.domains.swe.engine.structured_state.files import plain_text, text_of_plain

PlainHistory = dict[str, Any]
PlainChanges = dict[str, list[str] | dict[str, str] | None]


def plain_history(history: GitHistory) -> PlainHistory:
    """Return version control as plain data; `history_of` makes it again."""
    numbers = {id: number for number, id in enumerate(history.commits, 1)}

    def numbered(tips: Mapping[str, str]) -> dict[str, int]:
        return {name: numbers[tip] for name, tip in tips.items()}

    plain: PlainHistory = {"branch": history.branch} if history.branch is not None else {}
    if history.detached:
        plain["detached"] = numbers[history.detached]
    plain |= {"user": history.user, "remote": history.remote, "url": history.url}
    if history.settings:
        plain["settings"] = dict(history.settings)
    plain["commits"] = [_plain_commit(history, commit, numbers) for commit in history.commits.values()]
    plain["branches"] = numbered(history.branches)
    plain |= {"tracking": numbered(history.tracking), "server": numbered(history.server)}
    plain["staged"] = changes_between(history.head.tree, history.index)
    if history.stashes:
        plain["stashes"] = [_plain_stash(history, stash, numbers) for stash in history.stashes]
    return plain


def history_of(plain: Mapping[str, Any]) -> GitHistory:
    """Return version control of plain data.

    Raises:
        AttributeError, LookupError, TypeError, ValueError: The data is none of version control.
    """
    commits: dict[int, Commit] = {}
    for told in plain["commits"]:
        commits[told["id"]] = _commit(told, commits)
    ids = {number: commit.id for number, commit in commits.items()}

    def tips(told: Mapping[str, int]) -> dict[str, str]:
        return {name: ids[number] for name, number in told.items()}

    history = object.__new__(GitHistory)
    history.branch = plain.get("branch")
    history.detached = ids[plain["detached"]] if "detached" in plain else ""
    history.user, history.remote, history.url = (_text(plain[key]) for key in ("user", "remote", "url"))
    history.settings = {_text(key): _text(value) for key, value in plain.get("settings", {}).items()}
    history.commits = {commit.id: commit for commit in commits.values()}
    history.branches = tips(plain["branches"])
    history.tracking, history.server = tips(plain["tracking"]), tips(plain["server"])
    history.stashes = tuple(_stash(told, commits) for told in plain.get("stashes", ()))
    history.index = tree_after(history.head.tree, plain["staged"])
    return history


def changes_between(before: Tree, after: Tree) -> PlainChanges:
    """Return what differs from one tree to another.

    >>> changes_between({"a": "1\\n", "b": "2\\n"}, {"a": "1\\n2\\n"})
    {'a': ['1', '2', ''], 'b': None}
    """
    return {
        path: _plain_lines(after[path]) if path in after else None
        for path in sorted({*before, *after})
        if before.get(path) != after.get(path)
    }


def tree_after(before: Tree, changes: Mapping[str, Any]) -> Tree:
    """Return a tree after changes.

    Raises:
        LookupError, TypeError, ValueError: They are none.
    """
    tree = dict(before)
    for path, lines in changes.items():
        if lines is None:
            tree.pop(path, None)
        else:
            tree[_text(path)] = text_of_plain(lines if isinstance(lines, Mapping) else "\n".join(lines))
    return tree


def _plain_lines(text: str) -> list[str] | dict[str, str]:
    # Lines, because a change writes a text that stands elsewhere already as the path to it, and not by its name.
    plain = plain_text(text)
    return plain.split("\n") if isinstance(plain, str) else plain


def _plain_commit(history: GitHistory, commit: Commit, numbers: Mapping[str, int]) -> dict[str, Any]:
    plain: dict[str, Any] = {"id": numbers[commit.id], "parents": [numbers[parent] for parent in commit.parents]}
    plain |= {"author": commit.author, "when": commit.when, "message": commit.message.removesuffix("\n")}
    plain["files"] = changes_between(_first_tree(history.commits, commit.parents), commit.tree)
    if make_commit(commit.parents, commit.author, commit.when, commit.message, commit.tree).id != commit.id:
        plain["hash"] = commit.id
    return plain


def _first_tree(commits: Mapping[Any, Commit], parents: Iterable[Any]) -> Tree:
    return next((commits[parent].tree for parent in parents), {})


def _commit(told: Mapping[str, Any], commits: Mapping[int, Commit]) -> Commit:
    numbers = told["parents"]
    parents = tuple(commits[number].id for number in numbers)
    tree = tree_after(_first_tree(commits, numbers), told["files"])
    author, when, message = _text(told["author"]), told["when"], _text(told["message"]) + "\n"
    if type(when) is not int:
        raise TypeError(f"no time of a commit: {when!r}")
    made = make_commit(parents, author, when, message, tree)
    return Commit(_text(told["hash"]), parents, author, when, message, tree) if "hash" in told else made


def _plain_stash(history: GitHistory, stash: Stash, numbers: Mapping[str, int]) -> dict[str, Any]:
    base = history.commits[stash.base].tree
    work, index = changes_between(base, stash.work), changes_between(base, stash.index)
    return {"base": numbers[stash.base], "work": work, "index": index, "message": stash.message}


def _stash(told: Mapping[str, Any], commits: Mapping[int, Commit]) -> Stash:
    base = commits[told["base"]]
    work, index = tree_after(base.tree, told["work"]), tree_after(base.tree, told["index"])
    return Stash(base.id, work, index, _text(told["message"]))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"no text: {str(value)[:80]!r}")
    return value
