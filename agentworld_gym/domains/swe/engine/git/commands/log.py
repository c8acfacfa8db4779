"""`git log`."""

from __future__ import annotations

from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.diff import FileChange, lines
from agentworld_gym.domains.swe.engine.git.history import GitError
from agentworld_gym.domains.swe.engine.git.objects import Commit
from agentworld_gym.domains.swe.engine.git.options import GitOptions, exists, paths_of, read_options
from agentworld_gym.domains.swe.engine.git.pretty import FORMS, changes_of, shown_commit
from agentworld_gym.domains.swe.engine.patterns import BadPattern, LinearPattern
from agentworld_gym.domains.terminal.api import parsed_date


def log(call: GitCall, argv: list[str]) -> None:
    """`git log`."""
    options = read_options(
        "log",
        argv,
        f"{FORMS}; oneline --oneline; reverse --reverse; all --all; graph --graph; decorate --decorate; "
        "shape --follow --no-merges --no-color --no-decorate --first-parent; abbrev --abbrev-commit; "
        "case -i",
        "count -n --max-count; format --format --pretty; author --author; grep --grep; pickaxe -S; "
        "since --since --after; until --until --before; skip --skip; date --date; lines -G; "
        "decorate --decorate; context -U",
    )
    starts: list[str] = []
    hidden: set[str] = set()
    names = list(options.paths or [])
    for word in options.operands:
        first, dots, second = word.partition("..")
        try:
            if dots:
                hidden |= {commit.id for commit in call.history.ancestors(call.history.resolve(first or "HEAD").id)}
                starts.append(call.history.resolve(second.removeprefix(".") or "HEAD").id)
            else:
                starts.append(call.history.resolve(word).id)
        except GitError:
            if options.paths is not None or not exists(call, word):
                raise
            names.append(word)
    if "all" in options:
        starts += [*call.history.branches.values(), *call.history.tracking.values()]
    commits = _walk(call, starts or [call.history.head.id], hidden)
    paths = paths_of(call, names)
    commits = [commit for commit in commits if _wanted(call, commit, options, paths)]
    skip, count = options.values.get("skip", "0"), options.values.get("count", "")
    commits = commits[int(skip) if skip.isdigit() else 0 :]
    if count.isdigit():
        commits = commits[: int(count)]
    if "reverse" in options:
        commits.reverse()
    form = "oneline" if "oneline" in options else options.values.get("format", "medium")
    separated = form.startswith("format:")
    for index, commit in enumerate(commits):
        text = shown_commit(call, commit, options, paths, default=False)
        if index and form in ("medium", "short", "full", "fuller"):
            call.say("\n")
        if "graph" in options:
            first, *rest = text.splitlines(keepends=True)
            bar = "| " if index + 1 < len(commits) else "  "
            text = f"* {first}" + "".join(f"{bar}{line}" for line in rest)
        call.say(text[:-1] if separated and index + 1 == len(commits) else text)


def _walk(call: GitCall, starts: list[str], hidden: set[str]) -> list[Commit]:
    reached: dict[str, Commit] = {}
    for start in starts:
        for commit in call.history.ancestors(start):
            if commit.id in hidden or commit.id in reached:
                break
            reached[commit.id] = commit
    if len(starts) == 1:
        return list(reached.values())
    return sorted(reached.values(), key=lambda commit: -commit.when)


def _wanted(call: GitCall, commit: Commit, options: GitOptions, paths: list[str]) -> bool:
    chosen = options.values
    changed = changes_of(call, commit, paths) if paths or "pickaxe" in chosen or "lines" in chosen else []
    if paths and not changed:
        return False
    if "author" in chosen and not _matches(chosen["author"], commit.author, "case" in options):
        return False
    if "grep" in chosen and not any(
        _matches(chosen["grep"], line, "case" in options) for line in commit.message.split("\n")
    ):
        return False
    if "pickaxe" in chosen:
        word = chosen["pickaxe"]
        if not word or not any((c.old or "").count(word) != (c.new or "").count(word) for c in changed):
            return False
    if "lines" in chosen and not any(_touches(chosen["lines"], change) for change in changed):
        return False
    for name, sign in (("since", 1), ("until", -1)):
        if (
            name in chosen
            and (limit := _limit(chosen[name], call.now)) is not None
            and sign * (commit.when - limit) < 0
        ):
            return False
    return True


def _touches(text: str, change: FileChange) -> bool:
    old, new = lines(change.old or ""), lines(change.new or "")
    return any(_matches(text, line, False) for a1, a2, b1, b2 in change.hunks() for line in (*old[a1:a2], *new[b1:b2]))


def _matches(text: str, line: str, ignore_case: bool) -> bool:
    try:
        return LinearPattern(text, ignore_case).matches(line)
    except BadPattern:
        raise GitError(f"fatal: command line, '{text}': Invalid regular expression\n") from None


def _limit(text: str, now: int) -> int | None:
    try:
        date = parsed_date(text.replace(".", " ") if " " not in text else text, now)
    except (ValueError, OverflowError):
        return None
    return None if date is None else int(date.timestamp())
