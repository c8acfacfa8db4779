"""Two folders of results, file by file and byte by byte, but for what is declared to differ."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

SHOWN = 160
"""Characters of a difference that are shown."""


@dataclass(frozen=True)
class Exception_:
    """Something that may differ: in which files, what (a regular expression), and why.

    Its first group, where it has one, stays; the rest of what it matches is left out of the comparison.
    """

    files: str
    what: str
    why: str


DECLARED = (
    Exception_("*", r"\b\d{8}T\d{6}-\d+-[0-9a-f]{6}\b", "the name of a run holds its time and its process"),
    Exception_("*/run.*.jsonl", r'("(?:at|begin_s|checks_s|wave_s)":)[0-9.e-]+', "how long a wave took"),
    Exception_("*/run.*.jsonl", r'("opened":)[0-9.]+', "when a log was opened"),
    Exception_("dreams/*", r"(SpecError: )/\S*?(?=/prompts/)", "where a tree lies"),
    Exception_("cli/schema.txt", r'"description": "(?:[^"\\]|\\.)*"', "descriptions in the schema are docstrings"),
)


@dataclass(frozen=True)
class Difference:
    """A file that differs: where, and what stands there in either tree."""

    file: str
    place: str
    before: str
    after: str


@dataclass
class Comparison:
    """What was compared: files and bytes by area (the first part of a path), what was left out, and what differs."""

    files: dict[str, int] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    differences: list[Difference] = field(default_factory=list)

    def area(self, file: str) -> str:
        """The area of a file."""
        return file.partition("/")[0] if "/" in file else "others"

    def table(self) -> str:
        """The comparison as Markdown."""
        rows = ["| area | files | lines | bytes | files that differ |", "|---|---|---|---|---|"]
        for area in sorted(self.files):
            bad = sum(self.area(difference.file) == area for difference in self.differences)
            count, size = self.files[area], self.sizes[area]
            rows.append(f"| {area} | {count:,} | {self.lines[area]:,} | {size:,} | {bad or 'none'} |")
        return "\n".join(rows)


def compare(before: Path, after: Path, comparison: Comparison, allowed: Sequence[str] = ()) -> None:
    """Compare all files of two folders, and add what is found to a comparison.

    Args:
        before: the folder that one tree filled.
        after: that of the other one.
        comparison: what was compared so far.
        allowed: patterns of files that may differ beside the declared exceptions; they count as left out.
    """
    names = {path.relative_to(folder).as_posix() for folder in (before, after) for path in _files(folder)}
    for name in sorted(names):
        pair(name, before / name, after / name, comparison, allowed)


def pair(name: str, before: Path, after: Path, comparison: Comparison, allowed: Sequence[str] = ()) -> None:
    """Compare two files under the name by which they are reported."""
    area = comparison.area(name)
    texts = [path.read_bytes() if path.is_file() else None for path in (before, after)]
    for counts, count in (
        (comparison.files, 1),
        (comparison.sizes, len(texts[0] or b"")),
        (comparison.lines, (texts[0] or b"").count(b"\n")),
    ):
        counts[area] = counts.get(area, 0) + count
    if texts[0] != texts[1]:
        texts = [text if text is None else _without(name, text, comparison.left_out) for text in texts]
    if texts[0] == texts[1]:
        return
    if any(fnmatch(name, pattern) for pattern in allowed):
        comparison.left_out[f"{name}: allowed by --allow"] = 1
        return
    comparison.differences.append(_difference(name, *texts))


def _files(folder: Path) -> list[Path]:
    """The files of a tree's folder, without what the other tree gave and what a run says on its way."""
    return [path for path in folder.rglob("*") if path.is_file() and path.relative_to(folder).parts[0] != "given"]


def _without(name: str, text: bytes, left_out: dict[str, int]) -> bytes:
    """A text without what is declared to differ in it."""
    for exception in DECLARED:
        if fnmatch(name, exception.files):
            kept = rb"\1-" if re.compile(exception.what).groups else b"-"
            text, count = re.subn(exception.what.encode(), kept, text)
            if count:
                key = f"`{exception.what}` in {exception.files}: {exception.why}"
                left_out[key] = left_out.get(key, 0) + count
    return text


def _difference(name: str, before: bytes | None, after: bytes | None) -> Difference:
    if before is None or after is None:
        there = ["absent" if text is None else f"{len(text):,} bytes" for text in (before, after)]
        return Difference(name, "file", *there)
    pairs = zip(before.split(b"\n"), after.split(b"\n"), strict=False)
    for number, (left, right) in enumerate(pairs, 1):
        if left != right:
            edge = next(
                (i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right))
            )
            start = max(0, edge - SHOWN // 4)
            shown = [text[start : start + SHOWN].decode("utf-8", "backslashreplace") for text in (left, right)]
            return Difference(name, f"line {number}, byte {edge + 1}", *shown)
    return Difference(name, "length", f"{len(before):,} bytes", f"{len(after):,} bytes")


def exceptions(left_out: Mapping[str, int]) -> str:
    """What was left out, as a Markdown list."""
    lines = [f"- {what} ({count:,} times in both trees)" for what, count in sorted(left_out.items())]
    return "\n".join(lines) or "- nothing"
