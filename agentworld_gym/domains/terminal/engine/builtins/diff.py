"""`diff`, with the hunks that GNU diff finds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from bashkit import BuiltinContext, BuiltinResult

from agentworld_gym.core.engines.hunks import Hunk, changes, marked, unified
from agentworld_gym.domains.terminal.engine.builtins.common import MISSING, CommandUsageError, FileTree, options
from agentworld_gym.domains.terminal.engine.context import ShellContext

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


def diff(context: ShellContext, call: BuiltinContext) -> str | BuiltinResult:
    """`diff` in its normal, unified, side by side and brief forms."""
    try:
        flags, operands = options("diff", call.argv, "uU:qirswbByNac", _LONG, status=2)
    except CommandUsageError as usage:
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
    def __init__(self, context: ShellContext, call: BuiltinContext, chosen: dict[str, str]) -> None:
        self.tree, self.chosen, self.stdin = FileTree(context, call), chosen, call.stdin or ""
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
            self.out.extend(marked("< ", line) for line in a[a1:a2])
            if letter == "c":
                self.out.append("---\n")
            self.out.extend(marked("> ", line) for line in b[b1:b2])

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


def _range(start: int, end: int) -> str:
    return str(end) if end - start <= 1 else f"{start + 1},{end}"


COMMANDS = {"diff": diff}
