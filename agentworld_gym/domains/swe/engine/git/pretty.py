"""Formats commits and changes as the options of `git log`, `git show` and `git diff` ask for."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.diff import FileChange, compare, numstat, patch, stat, summary
from agentworld_gym.domains.swe.engine.git.objects import Commit, tree_id
from agentworld_gym.domains.swe.engine.git.options import GitOptions

FORMS = (
    "stat --stat; numstat --numstat; shortstat --shortstat; name-only --name-only; name-status --name-status; "
    "patch -p -u --patch; no-patch -s --no-patch; summary --summary"
)
"""The options that choose a form of showing changes."""

UNFORMATTED = "shape --no-color --color --no-ext-diff --no-renames -M --minimal --color=never --histogram"
"""Options of `git diff` and `git show` that change nothing here."""
_PLACEHOLDER = re.compile(r"%(?:C\([^)]*\)|C(?:red|green|blue|reset)|a[neEdDtiIsr]|c[neEdDtiIsr]|[HhTtPpsbBnDd%]|x00)")
_NAMED = ("oneline", "short", "medium", "full", "fuller", "reference")


def shown_changes(changes: list[FileChange], options: GitOptions) -> str:
    """Format changes as the options ask for; the default is a patch."""
    if "no-patch" in options:
        return ""
    if "name-only" in options:
        return "".join(f"{change.path}\n" for change in changes)
    if "name-status" in options:
        return "".join(f"{change.letter}\t{change.path}\n" for change in changes)
    parts = []
    if "numstat" in options:
        parts.append(numstat(changes))
    if "stat" in options:
        parts.append(stat(changes))
    if "shortstat" in options:
        parts.append(summary(changes))
    if "patch" in options or not parts:
        context = options.values.get("context", "3")
        body = "".join(patch(change, int(context) if context.isdigit() else 3) for change in changes)
        parts.append(f"\n{body}" if parts and body else body)
    return "".join(parts)


def changes_of(call: GitCall, commit: Commit, paths: list[str]) -> list[FileChange]:
    """Return the changes that a commit made."""
    before = call.history.commits[commit.parents[0]].tree if commit.parents else {}
    return compare(before, commit.tree, paths)


def shown_commit(call: GitCall, commit: Commit, options: GitOptions, paths: list[str], default: bool) -> str:
    """Format a commit, with its changes where the options ask for them or `default` is true."""
    forms = ("stat", "numstat", "shortstat", "name-only", "name-status", "patch")
    wanted = any(form in options for form in forms) or (default and "no-patch" not in options)
    body = shown_changes(changes_of(call, commit, paths), options) if wanted else ""
    form = "oneline" if "oneline" in options else options.values.get("format", "medium")
    abbreviated = commit.id[:7] if "oneline" in options or "abbrev" in options else commit.id
    names = _decoration(call, commit) if "decorate" in options else ""
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


def committed(changes: list[FileChange]) -> str:
    """Return the lines of `git commit` about the files."""
    text = summary(changes)
    for change in changes:
        if change.letter != "M":
            text += f" {'create' if change.old is None else 'delete'} mode 100644 {change.path}\n"
    return text
