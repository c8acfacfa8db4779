"""Differences between texts in git's notation: hunks, patches, statistics.

Python's `difflib` finds other hunks than git, which also shifts them to where blocks begin and end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentworld_gym.core.engines.hunks import Hunk, changes, unified
from agentworld_gym.domains.swe.engine.git.objects import Tree, blob_id

CELLS = 1_000_000
NULL = "0" * 40
_FUNCTION = re.compile(r"[A-Za-z_$]")


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file before and after; a side is `None` where the file does not exist."""

    path: str
    old: str | None
    new: str | None

    @property
    def letter(self) -> str:
        """The letter of the change: `A`, `D` or `M`."""
        return "A" if self.old is None else "D" if self.new is None else "M"

    @property
    def binary(self) -> bool:
        """Whether git would show no lines of the file."""
        return any("\0" in side[:8000] for side in (self.old, self.new) if side)

    def hunks(self) -> list[Hunk]:
        """Return the ranges of lines that changed."""
        return hunks(lines(self.old or ""), lines(self.new or ""))

    def counts(self) -> tuple[int, int]:
        """Return the numbers of lines added and removed."""
        ranges = self.hunks()
        return sum(b2 - b1 for _, _, b1, b2 in ranges), sum(a2 - a1 for a1, a2, _, _ in ranges)


def compare(old: Tree, new: Tree, paths: Sequence[str] = ()) -> list[FileChange]:
    """Return the files that differ, in git's order.

    Args:
        old: the texts before.
        new: the texts after.
        paths: paths at or below which files are compared; all files are compared if it is empty.

    >>> [(c.letter, c.path) for c in compare({"a": "1", "b": "2"}, {"b": "3", "c": "4"})]
    [('D', 'a'), ('M', 'b'), ('A', 'c')]
    """
    return [
        FileChange(path, old.get(path), new.get(path))
        for path in sorted({*old, *new})
        if old.get(path) != new.get(path) and under(path, paths)
    ]


def under(path: str, paths: Sequence[str]) -> bool:
    """Return whether a path is one of some paths or lies below one; an empty sequence means all paths.

    >>> under("a/b.py", ["a"]), under("ab.py", ["a"]), under("x", []), under("x", [""])
    (True, False, True, True)
    """
    return not paths or any(not place or path == place or path.startswith(place + "/") for place in paths)


def lines(text: str) -> list[str]:
    """Return the lines of a text with their ends; only `\\n` ends a line."""
    rows = [line + "\n" for line in text.split("\n")]
    last = rows.pop()[:-1]
    return [*rows, last] if last else rows


def hunks(a: Sequence[str], b: Sequence[str]) -> list[Hunk]:
    """Return the changed ranges, few and short, placed where a reader expects them.

    >>> hunks(["x", "y"], ["x", "z", "y"])
    [(1, 1, 1, 2)]
    """
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    n, m = len(a) - start - end, len(b) - start - end
    if n * m > CELLS:
        return [(start, start + n, start, start + m)]
    ranges = changes(a, b) if n or m else []
    return [_placed(a, b, hunk, ranges[index - 1] if index else None) for index, hunk in enumerate(ranges)]


def _placed(a: Sequence[str], b: Sequence[str], hunk: Hunk, before: Hunk | None) -> Hunk:
    """Move a pure insertion or deletion that could stand higher up to where blocks begin and end.

    The hunk is given at its lowest place. The best place is the one whose borders are indented least and lie after
    blank lines; among equals it is the lowest.
    """
    a1, a2, b1, b2 = hunk
    if (a1 == a2) == (b1 == b2):
        return hunk
    text, first, last = (b, b1, b2) if a1 == a2 else (a, a1, a2)
    limit = 0 if before is None else (before[3] if a1 == a2 else before[1]) + 1
    best, chosen, up = _cost(text, first) + _cost(text, last), 0, 0
    while first - up > limit and text[first - up - 1] == text[last - up - 1] and up < 100:
        up += 1
        cost = _cost(text, first - up) + _cost(text, last - up)
        if cost < best:
            best, chosen = cost, up
    return a1 - chosen, a2 - chosen, b1 - chosen, b2 - chosen


def _cost(text: Sequence[str], at: int) -> int:
    """Return how badly a border stands between two lines."""
    if at >= len(text):
        return 0 if at and not text[at - 1].strip() else 15
    above = at
    while above and not text[above - 1].strip():
        above -= 1
    below = at
    while below < len(text) and not text[below].strip():
        below += 1
    blank = below - above
    indent = _indent(text[below]) if below < len(text) else 0
    cost = 60 * indent - 30 * blank + 6 * (below - at)
    if above:
        step = indent - _indent(text[above - 1])
        cost += (10 if blank else -4) if step > 0 else (17 if blank else 23) if step < 0 else 0
    return cost


def _indent(line: str) -> int:
    expanded = line.expandtabs(8)
    return min(len(expanded) - len(expanded.lstrip(" ")), 200)


def patch(change: FileChange, context: int = 3) -> str:
    """Return the patch of one file, with its header."""
    old, new = (blob_id(side)[:7] if side is not None else NULL[:7] for side in (change.old, change.new))
    a = "/dev/null" if change.old is None else f"a/{change.path}"
    b = "/dev/null" if change.new is None else f"b/{change.path}"
    head = f"diff --git a/{change.path} b/{change.path}\n"
    if change.old is None:
        head += f"new file mode 100644\nindex {old}..{new}\n"
    elif change.new is None:
        head += f"deleted file mode 100644\nindex {old}..{new}\n"
    else:
        head += f"index {old}..{new} 100644\n"
    if change.binary:
        return f"{head}Binary files {a} and {b} differ\n"
    before, after = lines(change.old or ""), lines(change.new or "")
    ranges = hunks(before, after)
    body = "".join(unified(before, after, ranges, context, lambda start: _function(before, start)))
    return f"{head}--- {a}\n+++ {b}\n{body}" if body else head


def _function(text: Sequence[str], start: int) -> str:
    """Return the nearest line above a hunk that begins at the margin with a letter."""
    for line in reversed(text[:start]):
        if _FUNCTION.match(line):
            return f" {line.rstrip()[:80].rstrip()}"
    return ""


def stat(changed: Sequence[FileChange], width: int = 80) -> str:
    """Return the text of `--stat`: a line for each file with a bar, and the sums.

    >>> print(stat([FileChange("a.py", "1\\n", "1\\n2\\n")]), end="")
     a.py | 1 +
     1 file changed, 1 insertion(+)
    """
    counts = {change.path: change.counts() for change in changed}
    names = max((len(path) for path in counts), default=0)
    most = max((sum(pair) for pair in counts.values()), default=0)
    digits = len(str(most))
    bars = width - names - digits - 5
    out = []
    for change in changed:
        if change.binary:
            sizes = [len((side or "").encode("utf-8", "surrogateescape")) for side in (change.old, change.new)]
            out.append(f" {change.path:<{names}} | Bin {sizes[0]} -> {sizes[1]} bytes\n")
            continue
        added, removed = counts[change.path]
        plus, minus = (added, removed) if most <= bars else _scaled(added, removed, bars, most)
        bar = f" {'+' * plus}{'-' * minus}" if added or removed else ""
        out.append(f" {change.path:<{names}} | {added + removed:>{digits}}{bar}\n")
    return "".join(out) + summary(changed)


def _scaled(added: int, removed: int, bars: int, most: int) -> tuple[int, int]:
    def part(count: int) -> int:
        return 1 + count * (bars - 1) // most if count else 0

    total = part(added + removed)
    if total < 2 and added and removed:
        total = 2
    if added < removed:
        plus = part(added)
        return plus, total - plus
    minus = part(removed)
    return total - minus, minus


def summary(changed: Sequence[FileChange]) -> str:
    """Return the last line of `--stat`."""
    if not changed:
        return ""
    pairs = [(0, 0) if change.binary else change.counts() for change in changed]
    added, removed = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
    text = f" {len(changed)} file{'s' * (len(changed) != 1)} changed"
    if added or not removed:
        text += f", {added} insertion{'s' * (added != 1)}(+)"
    if removed or not added:
        text += f", {removed} deletion{'s' * (removed != 1)}(-)"
    return text + "\n"


def numstat(changed: Sequence[FileChange]) -> str:
    """Return the text of `--numstat`."""
    rows: Mapping[str, tuple[int, int]] = {change.path: change.counts() for change in changed}
    return "".join(f"{added}\t{removed}\t{path}\n" for path, (added, removed) in rows.items())
