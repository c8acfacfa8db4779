"""`diff`, with the hunks that GNU diff finds.

Python's `difflib` finds other hunks than GNU diff: it prefers long blocks to a longest common subsequence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from bashkit import BuiltinContext, BuiltinResult

from agentworld_gym.engines.terminal.builtins.common import MISSING, Tree, Usage, options
from agentworld_gym.engines.terminal.context import Context

_LONG = {
    "unified": "u",
    "brief": "q",
    "ignore-case": "i",
    "recursive": "r",
    "report-identical-files": "s",
    "ignore-all-space": "w",
    "ignore-space-change": "b",
    "ignore-blank-lines": "B",
    "side-by-side": "y",
    "new-file": "N",
    "unified=": "U",
    "text": "a",
    "color": "",
    "color=": "",
}
_NO_NEWLINE = "\\ No newline at end of file\n"
_CELLS = 500_000
_STEPS = 300_000

Hunk = tuple[int, int, int, int]


def diff(context: Context, call: BuiltinContext) -> str | BuiltinResult:
    """`diff` in its normal, unified, side by side and brief forms."""
    try:
        flags, operands = options("diff", call.argv, "uU:qirswbByNac", _LONG, status=2)
    except Usage as usage:
        return BuiltinResult("", str(usage).replace("Try 'diff", "diff: Try 'diff"), 2)
    if len(operands) != 2:
        what = (
            f"missing operand after '{(operands or ['diff'])[-1]}'"
            if len(operands) < 2
            else f"extra operand '{operands[2]}'"
        )
        return BuiltinResult("", f"diff: {what}\ndiff: Try 'diff --help' for more information.\n", 2)
    run = _Diff(context, call, dict(flags))
    run.compare(operands[0], operands[1])
    return BuiltinResult("".join(run.out), "".join(run.errors), run.status)


class _Diff:
    def __init__(self, context: Context, call: BuiltinContext, chosen: dict[str, str]) -> None:
        self.tree, self.chosen, self.stdin = Tree(context, call), chosen, call.stdin or ""
        self.command = " ".join(["diff", *(word for word in call.argv if word.startswith("-"))])
        self.now = context.clock.now
        self.out: list[str] = []
        self.errors: list[str] = []
        self.status = 0

    def compare(self, one: str, two: str, nested: bool = False) -> None:
        paths = [self.tree.path(one), self.tree.path(two)]
        folders = [name != "-" and self.tree.is_directory(path) for name, path in zip((one, two), paths, strict=True)]
        missing = False
        for name, path in zip((one, two), paths, strict=True):
            if name != "-" and self.tree.target(path) is None and not self._readable(path):
                self.errors.append(f"diff: {name}: {MISSING}\n")
                missing = True
        if missing:
            self.status = 2
            return
        if all(folders):
            self.folders(one, two)
            return
        if any(folders):
            index = folders.index(False)
            base = (one, two)[index].rpartition("/")[2]
            joined = f"{(one, two)[1 - index].rstrip('/')}/{base}"
            one, two = (one, joined) if index == 0 else (joined, two)
            if not self._readable(self.tree.path(joined)):
                self.errors.append(f"diff: {joined}: {MISSING}\n")
                self.status = 2
                return
        self.files(one, two, nested)

    def folders(self, one: str, two: str) -> None:
        left = self.tree.listing(self.tree.path(one)) or {}
        right = self.tree.listing(self.tree.path(two)) or {}
        for name in sorted({*left, *right}):
            if name not in right or name not in left:
                self.out.append(f"Only in {one if name in left else two}: {name}\n")
                self.status = max(self.status, 1)
                continue
            names = f"{one.rstrip('/')}/{name}", f"{two.rstrip('/')}/{name}"
            kinds = left[name]["file_type"], right[name]["file_type"]
            if kinds == ("directory", "directory"):
                if "r" in self.chosen:
                    self.folders(*names)
                else:
                    self.out.append(f"Common subdirectories: {names[0]} and {names[1]}\n")
            elif "directory" in kinds:
                words = ["a directory" if kind == "directory" else "a regular file" for kind in kinds]
                self.out.append(f"File {names[0]} is {words[0]} while file {names[1]} is {words[1]}\n")
                self.status = max(self.status, 1)
            else:
                self.files(*names, nested=True)

    def _readable(self, path: str) -> bool:
        try:
            self.tree.files.read_file(path)
        except (RuntimeError, OSError):
            return False
        return True

    def _text(self, name: str) -> str:
        if name == "-":
            return self.stdin
        return bytes(self.tree.files.read_file(self.tree.path(name))).decode("utf-8", "surrogateescape")

    def files(self, one: str, two: str, nested: bool) -> None:
        texts = self._text(one), self._text(two)
        a, b = (text.splitlines(keepends=True) if "\r" not in text else _lines(text) for text in texts)
        hunks = [] if texts[0] == texts[1] else changes([self._key(x) for x in a], [self._key(x) for x in b])
        if not hunks:
            if "s" in self.chosen:
                self.out.append(f"Files {one} and {two} are identical\n")
            elif "y" in self.chosen:
                self.side_by_side(a, b, hunks)
            return
        self.status = max(self.status, 1)
        if "q" in self.chosen:
            self.out.append(f"Files {one} and {two} differ\n")
            return
        if "\0" in texts[0] or "\0" in texts[1]:
            self.out.append(f"Binary files {one} and {two} differ\n")
            return
        if nested:
            self.out.append(f"{self.command} {one} {two}\n")
        if "y" in self.chosen:
            self.side_by_side(a, b, hunks)
        elif "u" in self.chosen or "U" in self.chosen:
            self.unified(one, two, a, b, hunks)
        else:
            self.normal(a, b, hunks)
        self.out = [part.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for part in self.out]

    def _key(self, line: str) -> str:
        if "i" in self.chosen:
            line = line.lower()
        if "w" in self.chosen:
            line = re.sub(r"\s+", "", line)
        elif "b" in self.chosen:
            line = re.sub(r"\s+", " ", line).rstrip()
        return line

    def normal(self, a: Sequence[str], b: Sequence[str], hunks: Sequence[Hunk]) -> None:
        for a1, a2, b1, b2 in hunks:
            letter = "a" if a1 == a2 else "d" if b1 == b2 else "c"
            self.out.append(f"{_range(a1, a2)}{letter}{_range(b1, b2)}\n")
            self.out.extend(_marked("< ", line) for line in a[a1:a2])
            if letter == "c":
                self.out.append("---\n")
            self.out.extend(_marked("> ", line) for line in b[b1:b2])

    def unified(self, one: str, two: str, a: Sequence[str], b: Sequence[str], hunks: Sequence[Hunk]) -> None:
        around = int(self.chosen["U"]) if self.chosen.get("U", "").isdigit() else 3
        self.out.append(f"--- {one}\t{self._moment(one)}\n+++ {two}\t{self._moment(two)}\n")
        self.out.extend(unified(a, b, hunks, around))

    def _moment(self, name: str) -> str:
        metadata = self.tree.target(self.tree.path(name)) if name != "-" else None
        time = self.tree.modified(metadata) if metadata else self.now
        return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M:%S.%f") + "000 +0000"

    def side_by_side(self, a: Sequence[str], b: Sequence[str], hunks: Sequence[Hunk]) -> None:
        at = 0

        def row(left: str, mark: str, right: str) -> None:
            left, right = (text.rstrip("\n").expandtabs(8)[:61] for text in (left, right))
            gutter = f"{left:<61} {mark} " if mark else f"{left:<64}"
            self.out.append(f"{gutter}{right}".rstrip() + "\n")

        for a1, a2, b1, b2 in hunks:
            for line in a[at:a1]:
                row(line, "", line)
            for offset in range(max(a2 - a1, b2 - b1)):
                left = a[a1 + offset] if a1 + offset < a2 else None
                right = b[b1 + offset] if b1 + offset < b2 else None
                row(left or "", "<" if right is None else ">" if left is None else "|", right or "")
            at = a2
        for line in a[at:]:
            row(line, "", line)


def _lines(text: str) -> list[str]:
    return [line + "\n" for line in text.split("\n")[:-1]] + ([text.rpartition("\n")[2]] if text[-1:] != "\n" else [])


def _marked(mark: str, line: str) -> str:
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
            yield from (_marked(" ", line) for line in a[at:a1])
            yield from (_marked("-", line) for line in a[a1:a2])
            yield from (_marked("+", line) for line in b[b1:b2])
            at = a2
        yield from (_marked(" ", line) for line in a[at:end])


def _range(start: int, end: int) -> str:
    return str(end) if end - start <= 1 else f"{start + 1},{end}"


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


COMMANDS = {"diff": diff}
