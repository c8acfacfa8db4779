"""Hunks: the ranges of lines in which two texts differ, as GNU diff finds them, and the body of a unified diff.

Python's `difflib` finds other hunks than GNU diff: it prefers long blocks to a longest common subsequence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

_NO_NEWLINE = "\\ No newline at end of file\n"
_CELLS = 500_000
_STEPS = 300_000

Hunk = tuple[int, int, int, int]
"""The start and the end of a range in the old text, and those of the range that replaces it in the new text."""


def marked(mark: str, line: str) -> str:
    """Return a line behind its mark, with a note where the line has no end."""
    return f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n{_NO_NEWLINE}"


def unified(
    a: Sequence[str],
    b: Sequence[str],
    changed: Sequence[Hunk],
    context: int,
    heading: Callable[[int], str] = lambda start: "",
) -> Iterator[str]:
    """Return the body of a unified diff; `heading` gives the text above a group that starts at a line.

    >>> print("".join(unified(["x\\n"], ["y\\n"], [(0, 1, 0, 1)], 3)), end="")
    @@ -1 +1 @@
    -x
    +y
    """
    groups: list[list[Hunk]] = []
    for hunk in changed:
        if groups and hunk[0] - groups[-1][-1][1] <= 2 * context:
            groups[-1].append(hunk)
        else:
            groups.append([hunk])
    for group in groups:
        start, end = max(group[0][0] - context, 0), min(group[-1][1] + context, len(a))
        left = group[0][2] - (group[0][0] - start)
        right = group[-1][3] + (end - group[-1][1])
        yield f"@@ -{_span(start, end)} +{_span(left, right)} @@{heading(start)}\n"
        at = start
        for a1, a2, b1, b2 in group:
            yield from (marked(" ", line) for line in a[at:a1])
            yield from (marked("-", line) for line in a[a1:a2])
            yield from (marked("+", line) for line in b[b1:b2])
            at = a2
        yield from (marked(" ", line) for line in a[at:end])


def _span(start: int, end: int) -> str:
    return str(start + 1) if end - start == 1 else f"{start + 1 if end > start else start},{end - start}"


def changes(a: Sequence[str], b: Sequence[str]) -> list[Hunk]:
    """Return the changed ranges of both texts, as few lines as possible, moved and merged as GNU diff does.

    >>> changes(["a", "a", "b", "b", "c"], ["a", "b", "c"])
    [(1, 3, 1, 1)]
    """
    removed, added = _different(a, b)
    _shift(a, removed, added)
    _shift(b, added, removed)
    hunks: list[Hunk] = []
    i = j = 0
    while i < len(a) or j < len(b):
        if not (removed[i] or added[j]):
            i, j = i + 1, j + 1
            continue
        i0, j0 = i, j
        while removed[i]:
            i += 1
        while added[j]:
            j += 1
        hunks.append((i0, i, j0, j))
    return hunks


def _different(a: Sequence[str], b: Sequence[str]) -> tuple[list[bool], list[bool]]:
    """Mark the lines outside a longest common subsequence; a last entry beyond the lines is false."""
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    n, m = len(a) - start - end, len(b) - start - end
    removed = [start <= i < start + n for i in range(len(a) + 1)]
    added = [start <= j < start + m for j in range(len(b) + 1)]
    common = _common if n * m <= _CELLS else _mostly_common
    for i, j in common(a[start : start + n], b[start : start + m]):
        removed[start + i] = added[start + j] = False
    return removed, added


def _mostly_common(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """Return a longest common subsequence of long texts with few differences by Myers's algorithm.

    The result is empty where that would take too long.

    >>> _mostly_common(["a", "b", "c", "d"], ["a", "x", "c", "d"])
    [(0, 0), (2, 2), (3, 3)]
    """
    shared = set(a) & set(b)
    left, right = ([i for i, line in enumerate(text) if line in shared] for text in (a, b))
    reached, steps = {1: 0}, 0
    trace: list[dict[int, int]] = []
    for distance in range(len(left) + len(right) + 1):
        trace.append(reached.copy())
        for k in range(-distance, distance + 1, 2):
            down = k == -distance or (k != distance and reached[k - 1] < reached[k + 1])
            x = reached[k + 1] if down else reached[k - 1] + 1
            begin = x
            while x < len(left) and x - k < len(right) and a[left[x]] == b[right[x - k]]:
                x += 1
            reached[k] = x
            steps += 1 + x - begin
            if x >= len(left) and x - k >= len(right):
                return [(left[i], right[j]) for i, j in _walked(trace, x, x - k)][::-1]
        if steps > _STEPS:
            break
    return []


def _walked(trace: Sequence[Mapping[int, int]], x: int, y: int) -> Iterator[tuple[int, int]]:
    """Yield the equal positions on the way back from the end of both texts, the last one first."""
    for distance in range(len(trace) - 1, -1, -1):
        reached, k = trace[distance], x - y
        down = k == -distance or (k != distance and reached[k - 1] < reached[k + 1])
        before = reached[k + 1] if down else reached[k - 1]
        came = (before, before - k - 1) if down else (before, before - k + 1)
        turned = came if distance == 0 else ((came[0], came[1] + 1) if down else (came[0] + 1, came[1]))
        while x > turned[0] and y > turned[1]:
            x, y = x - 1, y - 1
            yield x, y
        x, y = came


def _common(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    n, m = len(a), len(b)
    table = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n - 1, -1, -1):
        row, below = table[i], table[i + 1]
        for j in range(m - 1, -1, -1):
            row[j] = below[j + 1] + 1 if a[i] == b[j] else max(below[j], row[j + 1])
    pairs, i, j = [], 0, 0
    while i < n and j < m:
        if a[i] == b[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif table[i + 1][j] >= table[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs


def _shift(lines: Sequence[str], changed: list[bool], other: list[bool]) -> None:
    """Move every run of changes down as far as it goes, and merge runs that meet.

    A run that meets a change of the other text on the way is moved back beside it.
    """
    i = j = 0
    end = len(lines)

    def at(flags: list[bool], index: int) -> bool:
        return 0 <= index < len(flags) and flags[index]

    while True:
        while i < end and not changed[i]:
            while at(other, j):
                j += 1
            j, i = j + 1, i + 1
        if i >= end:
            return
        start = i
        while at(changed, i):
            i += 1
        while at(other, j):
            j += 1
        while True:
            length = i - start
            while start and lines[start - 1] == lines[i - 1]:
                start, i = start - 1, i - 1
                changed[start], changed[i] = True, False
                while at(changed, start - 1):
                    start -= 1
                j -= 1
                while at(other, j):
                    j -= 1
            corresponding = i if at(other, j - 1) else end
            while i != end and lines[start] == lines[i]:
                changed[start], changed[i] = False, True
                start, i = start + 1, i + 1
                while at(changed, i):
                    i += 1
                j += 1
                while at(other, j):
                    corresponding = i
                    j += 1
            if length == i - start:
                break
        while corresponding < i:
            start, i = start - 1, i - 1
            changed[start], changed[i] = True, False
            j -= 1
            while at(other, j):
                j -= 1
