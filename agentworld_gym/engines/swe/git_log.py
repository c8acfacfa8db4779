"""`git log`, and how one commit is shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime

from agentworld_gym.engines.swe.diff import Change, compare
from agentworld_gym.engines.swe.git import GitCall, Options, options
from agentworld_gym.engines.swe.history import GitError
from agentworld_gym.engines.swe.objects import Commit, tree_id
from agentworld_gym.engines.swe.search import BadPattern, Pattern

Shower = Callable[[list[Change], Options], str]
_PLACEHOLDER = re.compile(r"%(?:C\([^)]*\)|C(?:red|green|blue|reset)|a[neEdDtiIsr]|c[neEdDtiIsr]|[HhTtPpsbBnDd%]|x00)")
_NAMED = ("oneline", "short", "medium", "full", "fuller", "reference")


def log(call: GitCall, argv: list[str]) -> None:
    """`git log`."""
    from agentworld_gym.engines.swe.git_looks import FORMS, exists, paths_of, shown_changes

    found = options(
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
    names = list(found.paths or [])
    for word in found.operands:
        first, dots, second = word.partition("..")
        try:
            if dots:
                hidden |= {commit.id for commit in call.history.ancestors(call.history.resolve(first or "HEAD").id)}
                starts.append(call.history.resolve(second.removeprefix(".") or "HEAD").id)
            else:
                starts.append(call.history.resolve(word).id)
        except GitError:
            if found.paths is not None or not exists(call, word):
                raise
            names.append(word)
    if "all" in found:
        starts += [*call.history.branches.values(), *call.history.tracking.values()]
    commits = _walk(call, starts or [call.history.head.id], hidden)
    paths = paths_of(call, names)
    commits = [commit for commit in commits if _wanted(call, commit, found, paths)]
    skip, count = found.chosen.get("skip", "0"), found.chosen.get("count", "")
    commits = commits[int(skip) if skip.isdigit() else 0 :]
    if count.isdigit():
        commits = commits[: int(count)]
    if "reverse" in found:
        commits.reverse()
    form = "oneline" if "oneline" in found else found.chosen.get("format", "medium")
    separated = form.startswith("format:")
    for index, commit in enumerate(commits):
        text = shown_commit(call, commit, found, paths, shown_changes, default=False)
        if index and form in ("medium", "short", "full", "fuller"):
            call.say("\n")
        if "graph" in found:
            first, *rest = text.splitlines(keepends=True)
            bar = "| " if index + 1 < len(commits) else "  "
            text = f"* {first}" + "".join(f"{bar}{line}" for line in rest)
        call.say(text[:-1] if separated and index + 1 == len(commits) else text)


def _walk(call: GitCall, starts: list[str], hidden: set[str]) -> list[Commit]:
    found: dict[str, Commit] = {}
    for start in starts:
        for commit in call.history.ancestors(start):
            if commit.id in hidden or commit.id in found:
                break
            found[commit.id] = commit
    if len(starts) == 1:
        return list(found.values())
    return sorted(found.values(), key=lambda commit: -commit.when)


def changes_of(call: GitCall, commit: Commit, paths: list[str]) -> list[Change]:
    """What a commit changed."""
    before = call.history.commits[commit.parents[0]].tree if commit.parents else {}
    return compare(before, commit.tree, paths)


def _wanted(call: GitCall, commit: Commit, found: Options, paths: list[str]) -> bool:
    chosen = found.chosen
    changed = changes_of(call, commit, paths) if paths or "pickaxe" in chosen or "lines" in chosen else []
    if paths and not changed:
        return False
    if "author" in chosen and not _matches(chosen["author"], commit.author, "case" in found):
        return False
    if "grep" in chosen and not any(
        _matches(chosen["grep"], line, "case" in found) for line in commit.message.split("\n")
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


def _touches(text: str, change: Change) -> bool:
    from agentworld_gym.engines.swe.diff import lines

    old, new = lines(change.old or ""), lines(change.new or "")
    return any(_matches(text, line, False) for a1, a2, b1, b2 in change.hunks() for line in (*old[a1:a2], *new[b1:b2]))


def _matches(text: str, line: str, ignore_case: bool) -> bool:
    try:
        return Pattern(text, ignore_case).matches(line)
    except BadPattern:
        raise GitError(f"fatal: command line, '{text}': Invalid regular expression\n") from None


def _limit(text: str, now: int) -> int | None:
    from agentworld_gym.engines.terminal.builtins.dates import parsed

    try:
        found = parsed(text.replace(".", " ") if " " not in text else text, now)
    except (ValueError, OverflowError):
        return None
    return None if found is None else int(found.timestamp())


def shown_commit(call: GitCall, commit: Commit, found: Options, paths: list[str], shower: Shower, default: bool) -> str:
    """A commit with what it changed, where that is asked for or is the `default`."""
    forms = ("stat", "numstat", "shortstat", "name-only", "name-status", "patch")
    wanted = any(form in found for form in forms) or (default and "no-patch" not in found)
    body = shower(changes_of(call, commit, paths), found) if wanted else ""
    form = "oneline" if "oneline" in found else found.chosen.get("format", "medium")
    abbreviated = commit.id[:7] if "oneline" in found or "abbrev" in found else commit.id
    names = _decoration(call, commit) if "decorate" in found else ""
    if form == "oneline":
        return f"{abbreviated}{names} {commit.subject}\n{body}"
    if form in _NAMED:
        text = f"commit {abbreviated}{names}\nAuthor: {commit.author}\n"
        if form != "short":
            text += f"Date:   {commit.date}\n"
        lines = commit.message.rstrip("\n").split("\n")[: 1 if form == "short" else None]
        text += "\n" + "".join(f"    {line}\n" for line in lines)
        return f"{text}\n{body}" if body else text
    kind, colon, template = form.partition(":")
    text = _PLACEHOLDER.sub(
        lambda match: _field(call, commit, match.group()), template if colon and kind in ("format", "tformat") else form
    )
    return f"{text}\n" + (f"\n{body}" if body else "")


def _decoration(call: GitCall, commit: Commit) -> str:
    history = call.history
    names = []
    if history.head.id == commit.id:
        names.append(f"HEAD -> {history.branch}" if history.branch is not None else "HEAD")
    names += [f"{history.remote}/{name}" for name, id in sorted(history.tracking.items()) if id == commit.id]
    names += [name for name, id in sorted(history.branches.items()) if id == commit.id and name != history.branch]
    return f" ({', '.join(names)})" if names else ""


def _field(call: GitCall, commit: Commit, code: str) -> str:
    name, _, address = commit.author.partition(" <")
    moment = datetime.fromtimestamp(commit.when, UTC)
    subject, _, body = commit.message.partition("\n")
    if code[1] in "ac" and len(code) == 3:
        return {
            "n": name, "e": address.rstrip(">"), "E": address.rstrip(">"), "d": commit.date, "D": commit.date,
            "t": str(commit.when), "i": f"{moment:%Y-%m-%d %H:%M:%S +0000}", "I": f"{moment:%Y-%m-%dT%H:%M:%S+00:00}",
            "s": f"{moment:%Y-%m-%d}", "r": _ago(call.now - commit.when),
        }[code[2]]  # fmt: skip
    parents = commit.parents
    return {
        "%H": commit.id, "%h": commit.id[:7], "%T": tree_id(commit.tree), "%t": tree_id(commit.tree)[:7],
        "%P": " ".join(parents), "%p": " ".join(parent[:7] for parent in parents), "%s": subject,
        "%b": body.removeprefix("\n"), "%B": commit.message, "%n": "\n", "%%": "%", "%d": _decoration(call, commit),
        "%D": _decoration(call, commit).strip(" ()"), "%x00": "\0",
    }.get(code, "")  # fmt: skip


def _ago(seconds: int) -> str:
    for size, limit, unit in ((1, 90, "second"), (60, 90, "minute"), (3600, 36, "hour"), (86_400, 14, "day")):
        count = (seconds + size // 2) // size
        if count < limit:
            return f"{count} {unit}{'s' * (count != 1)} ago"
    weeks = (seconds + 302_400) // 604_800
    return f"{weeks} weeks ago"
