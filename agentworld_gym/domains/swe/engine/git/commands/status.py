"""`git status`."""

from __future__ import annotations

from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.diff import under
from agentworld_gym.domains.swe.engine.git.options import read_options

_WORDS = {"A": "new file:   ", "D": "deleted:    ", "M": "modified:   "}


def status(call: GitCall, argv: list[str]) -> None:
    """`git status`."""
    options = read_options(
        "status",
        argv,
        "short -s --short --porcelain --porcelain=v1; branch -b --branch; shape -u --long -v --ignored; "
        "all -uall --untracked-files; none -uno",
        "untracked --untracked-files",
    )
    names = [*options.operands, *(options.paths or [])]
    paths = [call.place(name) for name in names]
    mode = options.values.get("untracked") or ("all" if "all" in options else "no" if "none" in options else "normal")
    untracked = [] if mode == "no" else _untracked(call, paths, whole=mode == "all")
    if "short" in options:
        if "branch" in options:
            call.say(f"## {_short_branch(call)}\n")
        _short_status(call, paths, untracked, "--porcelain" in argv)
    else:
        call.say(long_status(call, paths, untracked))


def long_status(call: GitCall, paths: list[str] | None = None, untracked: list[str] | None = None) -> str:
    """Return the long form of `git status`."""
    history = call.history
    out = [
        f"On branch {history.branch}\n" if history.branch is not None else f"HEAD detached at {history.detached[:7]}\n"
    ]
    out.append(tracking(call))
    staged, unstaged = call.staged(paths), call.unstaged(paths)
    if untracked is None:
        untracked = _untracked(call, paths or [])
    if staged:
        out.append('Changes to be committed:\n  (use "git restore --staged <file>..." to unstage)\n')
        out.extend(f"\t{_WORDS[change.letter]}{call.relative_path(change.path)}\n" for change in staged)
        out.append("\n")
    if unstaged:
        command = "add/rm" if any(change.new is None for change in unstaged) else "add"
        out.append(
            f'Changes not staged for commit:\n  (use "git {command} <file>..." to update what will be committed)\n'
            '  (use "git restore <file>..." to discard changes in working directory)\n'
        )
        out.extend(f"\t{_WORDS[change.letter]}{call.relative_path(change.path)}\n" for change in unstaged)
        out.append("\n")
    if untracked:
        out.append('Untracked files:\n  (use "git add <file>..." to include in what will be committed)\n')
        out.extend(f"\t{call.relative_path(path)}\n" for path in untracked)
        out.append("\n")
    if not staged:
        if unstaged:
            out.append('no changes added to commit (use "git add" and/or "git commit -a")\n')
        elif untracked:
            out.append('nothing added to commit but untracked files present (use "git add" to track)\n')
        else:
            out.append("nothing to commit, working tree clean\n")
    return "".join(out)


def distance(call: GitCall) -> tuple[int, int] | None:
    """Return how many commits the branch is ahead of its remote branch and behind it.

    The result is `None` if the branch has no remote branch.
    """
    history = call.history
    if not history.branch or history.branch not in history.tracking:
        return None
    here = [commit.id for commit in history.ancestors(history.head.id)]
    there = [commit.id for commit in history.ancestors(history.tracking[history.branch])]
    return len(set(here) - set(there)), len(set(there) - set(here))


def tracking(call: GitCall) -> str:
    """Return the lines of `git status` about the remote branch."""
    apart = distance(call)
    if apart is None:
        return ""
    ahead, behind = apart
    name = f"{call.history.remote}/{call.history.branch}"
    if ahead and behind:
        return (
            f"Your branch and '{name}' have diverged,\n"
            f"and have {ahead} and {behind} different commits each, respectively.\n"
            '  (use "git pull" to merge the remote branch into yours)\n\n'
        )
    if ahead:
        return (
            f"Your branch is ahead of '{name}' by {ahead} commit{'s' * (ahead != 1)}.\n"
            '  (use "git push" to publish your local commits)\n\n'
        )
    if behind:
        return (
            f"Your branch is behind '{name}' by {behind} commit{'s' * (behind != 1)}, and can be fast-forwarded.\n"
            '  (use "git pull" to update your local branch)\n\n'
        )
    return f"Your branch is up to date with '{name}'.\n\n"


def _untracked(call: GitCall, paths: list[str], whole: bool = False) -> list[str]:
    """Return the untracked files; a folder without any tracked file stands for everything in it."""
    untracked: dict[str, None] = {}
    index = call.history.index
    for path in call.untracked():
        if not under(path, paths):
            continue
        parts = path.split("/")
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth]) + "/"
            if not whole and not any(tracked.startswith(folder) for tracked in index):
                path = folder
                break
        untracked[path] = None
    return sorted(untracked)


def _short_branch(call: GitCall) -> str:
    history, apart = call.history, distance(call)
    if history.branch is None:
        return "HEAD (no branch)"
    if apart is None:
        return history.branch
    words = [f"{word} {count}" for word, count in zip(("ahead", "behind"), apart, strict=True) if count]
    return f"{history.branch}...{history.remote}/{history.branch}" + (f" [{', '.join(words)}]" if words else "")


def _short_status(call: GitCall, paths: list[str], untracked: list[str], porcelain: bool) -> None:
    first = {change.path: change.letter for change in call.staged(paths)}
    second = {change.path: change.letter for change in call.unstaged(paths)}
    for path in sorted({*first, *second}):
        name = path if porcelain else call.relative_path(path)
        call.say(f"{first.get(path, ' ')}{second.get(path, ' ')} {name}\n")
    for path in untracked:
        call.say(f"?? {path if porcelain else call.relative_path(path)}\n")
