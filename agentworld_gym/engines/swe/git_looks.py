"""The commands of git that only look: status, diff, log, show, blame and their like."""

from __future__ import annotations

from collections.abc import Mapping

from agentworld_gym.engines.swe.diff import Change, compare, numstat, patch, stat, summary, under
from agentworld_gym.engines.swe.git import Command, GitCall, Options, options
from agentworld_gym.engines.swe.git_log import log, shown_commit
from agentworld_gym.engines.swe.history import GitError
from agentworld_gym.engines.swe.objects import Commit

FORMS = (
    "stat --stat; numstat --numstat; shortstat --shortstat; name-only --name-only; name-status --name-status; "
    "patch -p -u --patch; no-patch -s --no-patch; summary --summary"
)
"""The forms in which changes can be shown, as options."""

_PLAIN = "shape --no-color --color --no-ext-diff --no-renames -M --minimal --color=never --histogram"
_WORDS = {"A": "new file:   ", "D": "deleted:    ", "M": "modified:   "}


def shown_changes(found: list[Change], chosen: Options) -> str:
    """Changes in the form that the options ask for; a patch by default."""
    if "no-patch" in chosen:
        return ""
    if "name-only" in chosen:
        return "".join(f"{change.path}\n" for change in found)
    if "name-status" in chosen:
        return "".join(f"{change.letter}\t{change.path}\n" for change in found)
    parts = []
    if "numstat" in chosen:
        parts.append(numstat(found))
    if "stat" in chosen:
        parts.append(stat(found))
    if "shortstat" in chosen:
        parts.append(summary(found))
    if "patch" in chosen or not parts:
        context = chosen.chosen.get("context", "3")
        body = "".join(patch(change, int(context) if context.isdigit() else 3) for change in found)
        parts.append(f"\n{body}" if parts and body else body)
    return "".join(parts)


def status(call: GitCall, argv: list[str]) -> None:
    """`git status`."""
    found = options(
        "status",
        argv,
        "short -s --short --porcelain --porcelain=v1; branch -b --branch; shape -u --long -v --ignored; "
        "all -uall --untracked-files; none -uno",
        "untracked --untracked-files",
    )
    names = [*found.operands, *(found.paths or [])]
    paths = [call.place(name) for name in names]
    mode = found.chosen.get("untracked") or ("all" if "all" in found else "no" if "none" in found else "normal")
    untracked = [] if mode == "no" else _untracked(call, paths, whole=mode == "all")
    if "short" in found:
        if "branch" in found:
            call.say(f"## {_short_branch(call)}\n")
        _short_status(call, paths, untracked, "--porcelain" in argv)
    else:
        call.say(long_status(call, paths, untracked))


def long_status(call: GitCall, paths: list[str] | None = None, untracked: list[str] | None = None) -> str:
    """The long form of `git status`."""
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
        out.extend(f"\t{_WORDS[change.letter]}{call.shown(change.path)}\n" for change in staged)
        out.append("\n")
    if unstaged:
        command = "add/rm" if any(change.new is None for change in unstaged) else "add"
        out.append(
            f'Changes not staged for commit:\n  (use "git {command} <file>..." to update what will be committed)\n'
            '  (use "git restore <file>..." to discard changes in working directory)\n'
        )
        out.extend(f"\t{_WORDS[change.letter]}{call.shown(change.path)}\n" for change in unstaged)
        out.append("\n")
    if untracked:
        out.append('Untracked files:\n  (use "git add <file>..." to include in what will be committed)\n')
        out.extend(f"\t{call.shown(path)}\n" for path in untracked)
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
    """How many commits the branch is ahead of its remote one, and behind; None where it follows none."""
    history = call.history
    if not history.branch or history.branch not in history.tracking:
        return None
    here = [commit.id for commit in history.ancestors(history.head.id)]
    there = [commit.id for commit in history.ancestors(history.tracking[history.branch])]
    return len(set(here) - set(there)), len(set(there) - set(here))


def tracking(call: GitCall) -> str:
    """What `git status` says about the remote branch."""
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
    """Untracked files; a folder without any tracked file stands for all that is in it."""
    found: dict[str, None] = {}
    index = call.history.index
    for path in call.untracked():
        if not under(path, paths):
            continue
        parts = path.split("/")
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth]) + "/"
            if not whole and not any(known.startswith(folder) for known in index):
                path = folder
                break
        found[path] = None
    return sorted(found)


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
        shown = path if porcelain else call.shown(path)
        call.say(f"{first.get(path, ' ')}{second.get(path, ' ')} {shown}\n")
    for path in untracked:
        call.say(f"?? {path if porcelain else call.shown(path)}\n")


def diff(call: GitCall, argv: list[str]) -> None:
    """`git diff`."""
    found = options(
        "diff",
        argv,
        f"{FORMS}; {_PLAIN}; cached --cached --staged; quiet --quiet -q; exit-code --exit-code; "
        "shape -w -b --text --check",
        "context -U --unified; filter --diff-filter",
    )
    history = call.history
    revisions, names = split(call, found)
    paths = paths_of(call, names)
    if len(revisions) > 2 or (len(revisions) == 2 and "cached" in found):
        raise GitError("usage: git diff [<options>] [<commit>] [--] [<path>...]\n", 129)
    if len(revisions) == 2:
        changes = compare(revisions[0].tree, revisions[1].tree, paths)
    elif "cached" in found:
        changes = compare((revisions or [history.head])[0].tree, history.index, paths)
    elif revisions:
        work = {path: call.work[path] for path in {*history.index, *revisions[0].tree} & call.work.keys()}
        changes = compare(revisions[0].tree, work, paths)
    else:
        changes = call.unstaged(paths)
    letters = found.chosen.get("filter", "")
    changes = [change for change in changes if not letters or change.letter in letters]
    if "quiet" not in found:
        call.say(shown_changes(changes, found))
    if "quiet" in found or "exit-code" in found:
        call.status = int(bool(changes))


def split(call: GitCall, found: Options) -> tuple[list[Commit], list[str]]:
    """Operands told apart: revisions first, then paths."""
    revisions: list[Commit] = []
    names: list[str] = []
    for word in found.operands:
        if not names:
            try:
                revisions.extend(_range(call, word))
                continue
            except GitError:
                if found.paths is not None:
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
    return revisions, [*names, *(found.paths or [])]


def exists(call: GitCall, name: str) -> bool:
    """Whether an operand names something in the working tree (or holds a wildcard)."""
    place = call.place(name)
    return bool(set("*?[") & set(name)) or any(under(path, [place]) for path in call.work)


def paths_of(call: GitCall, names: list[str]) -> list[str]:
    """Operands as paths from the root; wildcards are spelled out."""
    found: list[str] = []
    for name in names:
        place = call.place(name)
        if set("*?[") & set(place):
            found.extend(call.select([name], {*call.work, *call.history.index, *call.history.head.tree})[0] or [place])
        else:
            found.append(place)
    return found


def _range(call: GitCall, word: str) -> list[Commit]:
    first, dots, second = word.partition("..")
    if not dots:
        return [call.history.resolve(word)]
    return [call.history.resolve(first or "HEAD"), call.history.resolve(second.removeprefix(".") or "HEAD")]


def show(call: GitCall, argv: list[str]) -> None:
    """`git show`."""
    found = options(
        "show",
        argv,
        f"{FORMS}; {_PLAIN}; oneline --oneline; no-patch -q",
        "format --format --pretty; context -U --unified",
    )
    names: list[str] = list(found.paths or [])
    objects: list[str] = []
    for word in found.operands:
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
        call.say(shown_commit(call, commit, found, paths_of(call, names), shown_changes, default=True))


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


COMMANDS: dict[str, Command] = {
    "diff": diff,
    "log": log,
    "show": show,
    "status": status,
}
