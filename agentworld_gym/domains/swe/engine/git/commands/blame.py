"""`git blame`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.diff import hunks, lines
from agentworld_gym.domains.swe.engine.git.history import GitError
from agentworld_gym.domains.swe.engine.git.objects import Commit
from agentworld_gym.domains.swe.engine.git.options import read_options


def blame(call: GitCall, argv: list[str]) -> None:
    """`git blame`."""
    options = read_options(
        "blame",
        argv,
        "short -s; shape -w; long -l",
        "lines -L",
    )
    words = [*options.operands, *(options.paths or [])]
    if not words:
        raise GitError("usage: git blame [<options>] [<rev-opts>] [<rev>] [--] <file>\n", 129)
    path = call.place(words[-1])
    start = call.history.resolve(words[0]) if len(words) > 1 else call.history.head
    if path not in start.tree:
        raise GitError(f"fatal: no such path '{path}' in HEAD\n")
    text = start.tree[path] if len(words) > 1 else call.work.get(path, start.tree[path])
    first, last = _line_range(options.values.get("lines", ""), len(lines(text)))
    rows = [(commit, line) for commit, line in _blamed(call, start, path, text)]
    width = max((len(_author(commit)) for commit, _ in rows[first:last]), default=0)
    digits = len(str(last))
    for number, (commit, line) in enumerate(rows[first:last], first + 1):
        name = "0" * 8 if commit is None else commit.id[:8] if commit.parents else f"^{commit.id[:7]}"
        when = call.now if commit is None else commit.when
        who = "" if "short" in options else f"{_author(commit):<{width}} {_moment(when)} "
        call.say(f"{name} {'' if 'short' in options else '('}{who}{number:>{digits}}) {line.rstrip(chr(10))}\n")


def _blamed(call: GitCall, start: Commit, path: str, text: str) -> Iterator[tuple[Commit | None, str]]:
    """Yield the lines of a text, each with the commit that added it, or `None` for a line that is not committed."""
    current = lines(text)
    owners: list[Commit | None] = [None] * len(current)
    open_lines = dict(enumerate(range(len(current))))
    at: Commit | None = None
    body = current
    for commit in call.history.ancestors(start.id):
        if path not in commit.tree or not open_lines:
            break
        old = lines(commit.tree[path])
        kept = _unchanged_lines(old, body)
        below: dict[int, int] = {}
        for line, final in open_lines.items():
            if line in kept:
                below[kept[line]] = final
            else:
                owners[final] = at
        open_lines, body, at = below, old, commit
    for final in open_lines.values():
        owners[final] = at
    yield from zip(owners, current, strict=True)


def _unchanged_lines(old: list[str], new: list[str]) -> dict[int, int]:
    """Return the lines of the new text that come from the old one, by their numbers in the new one."""
    kept: dict[int, int] = {}
    a = b = 0
    for a1, a2, b1, b2 in [*hunks(old, new), (len(old), len(old), len(new), len(new))]:
        kept.update({b + step: a + step for step in range(a1 - a)})
        a, b = a2, b2
        del b1
    return kept


def _author(commit: Commit | None) -> str:
    return "Not Committed Yet" if commit is None else commit.author.partition(" <")[0]


def _moment(when: int) -> str:
    return f"{datetime.fromtimestamp(when, UTC):%Y-%m-%d %H:%M:%S +0000}"


def _line_range(text: str, count: int) -> tuple[int, int]:
    if not text:
        return 0, count
    first, _, last = text.partition(",")
    start = int(first) if first.isdigit() else 1
    end = (
        start + int(last[1:]) - 1 if last[:1] == "+" and last[1:].isdigit() else int(last) if last.isdigit() else count
    )
    if start > count:
        raise GitError(f"fatal: file has only {count} lines\n")
    return max(start - 1, 0), min(end, count)
