"""How the Gemini and Qwen CLI prints: plain reads, one sentence for a change, and an envelope around a command."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from agentworld_gym.base.text.envelope import Envelope
from agentworld_gym.domains.swe.engine.file_operations import MAX_LINES
from agentworld_gym.domains.swe.engine.results import (
    BackgroundRead,
    Edited,
    EditedTogether,
    FilesFound,
    Killed,
    LinesFound,
    Listed,
    Read,
    ReadMany,
    Reason,
    Refused,
    Remembered,
    Result,
    Said,
    Started,
    TodosWritten,
    Written,
)

LONGEST_LINE = 2_000
"""How many characters of a line a tool shows."""

NumberMark = Literal["\t", "→"]
"""What stands between a number and its line: the tab of `cat -n`, or the arrow of Claude Code's tools."""


def numbered(lines: Iterable[str], first: int = 1, mark: NumberMark = "\t") -> Iterator[str]:
    r"""Number lines as `cat -n` does, and cut those that are too long.

    >>> list(numbered(["a", "b"], 9)), list(numbered(["a"], mark="→"))
    (['     9\ta', '    10\tb'], ['     1→a'])
    """
    return (f"{number:6}{mark}{line[:LONGEST_LINE]}" for number, line in enumerate(lines, first))


TODOS_WRITTEN = (
    "Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress. "
    "Please proceed with the current tasks if applicable"
)
"""What both scaffolds answer after the to-do list was replaced."""


def printed(result: Result) -> str:
    """Print a result; one that only tools of Claude Code have gets a short sentence."""
    match result:
        case Refused():
            return REFUSALS[result.reason].format(**result.details)
        case Read():
            return _read(result)
        case Edited(path, count=count):
            return f"Successfully modified file: {path} ({count} replacements)."
        case Envelope():
            return result.text
        case FilesFound():
            return _files(result)
        case LinesFound():
            return _lines(result)
        case Listed(path, folders, files):
            rows = [*(f"[DIR] {name}" for name in folders), *files]
            return "\n".join([f"Directory listing for {path}:", *rows]) if rows else f"Directory {path} is empty."
        case Written(path, there):
            start = "Successfully overwrote" if there else "Successfully created and wrote to new"
            return f"{start} file: {path}."
        case ReadMany(files=texts):
            return _many(texts)
        case TodosWritten():
            return TODOS_WRITTEN
        case Remembered(fact):
            message = f'Okay, I\'ve remembered that: "{fact}"'
            return json.dumps({"success": True, "message": message}, ensure_ascii=False, separators=(",", ":"))
        case Said(text):
            return text
        case Started(outcome=outcome):
            return Envelope(outcome.command, outcome.directory, exit_code=0, pids=outcome.pids).text
        case EditedTogether(path, edits):
            return f"Successfully modified file: {path} ({len(edits)} replacements)."
        case BackgroundRead(output=output):
            return output
        case Killed(name):
            return f"Killed {name}."


def _read(read: Read) -> str:
    if read.start and read.start >= len(read.rows):
        return f"Error: offset {read.start} is behind the end of {read.path}, which has {len(read.rows)} lines"
    return _part(read.rows, read.start, read.count)


def _part(rows: Sequence[str], start: int = 0, count: int = MAX_LINES) -> str:
    part = rows[start : start + count]
    text = "\n".join(row[:LONGEST_LINE] for row in part)
    if len(part) == len(rows):
        return text
    return f"Showing lines {start + 1}-{start + len(part)} of {len(rows)} total lines.\n\n---\n\n{text}"


def _many(files: Sequence[tuple[str, Sequence[str]]]) -> str:
    if not files:
        return "No files matching the criteria were found or all were skipped."
    return "".join([*(f"--- {path} ---\n\n{_part(rows)}\n\n" for path, rows in files), "\n--- End of content ---"])


def _files(found: FilesFound) -> str:
    if not found.total:
        return f'No files found matching pattern "{found.pattern}" within {found.path}'
    head = f'Found {found.total} file(s) matching "{found.pattern}" within {found.path}, '
    head += "sorted by modification time (newest first):"
    return "\n".join([head, *found.paths, *_left_out(found.total - len(found.paths), "files")])


def _lines(found: LinesFound) -> str:
    where = f'for pattern "{found.pattern}" in path "{found.place}"'
    where += f' (filter: "{found.only}")' if found.only else ""
    if not found.total:
        return f"No matches found {where}."
    out = [f"Found {found.total} {'match' if found.total == 1 else 'matches'} {where}:"]
    names = iter(found.names)
    last = ""
    for path, number, row in found.matches:
        if path != last:
            out += ["---", f"File: {next(names)}"]
            last = path
        out.append(f"L{number}: {row[:LONGEST_LINE].strip()}")
    return "\n".join([*out, "---", *_left_out(found.total - len(found.matches), "matches")])


def _left_out(count: int, noun: str) -> list[str]:
    return [f"[{count} more {noun} left out: the search reached its limit]"] if count else []


REFUSALS: Mapping[Reason, str] = {
    "argument": "Error: {problem}",
    "bad pattern": "Invalid regular expression pattern: {pattern}",
    "binary": "Cannot display content of binary file: {path}",
    "exists": "File already exists, cannot create: {path}",
    "is a directory": "Path is a directory, not a file: {path}",
    "many": "Failed to edit, expected {expected} {noun} but found {count} for old_string in file: {path}",
    "no call": "Error: invalid tool call: expected a name and an object of arguments",
    "no change": "No changes to apply. The old_string and new_string are identical in file: {path}",
    "no directory": "Directory not found: {path}",
    "no file": "File not found: {path}",
    "no path": "Path not found: {path}",
    "no space": "Error writing to file: {path}: No space left on device",
    "no text": (
        "Failed to edit, 0 occurrences found for old_string in {path}. No edits made. The exact text in old_string was "
        "not found. Ensure you're not escaping content incorrectly and check whitespace, indentation, and context. Use "
        "read_file tool to verify."
    ),
    "no tool": 'Tool "{name}" not found in registry.',
    "not a directory": "Path is not a directory: {path}",
    "not in a directory": "Error writing to file: {path}: Not a directory",
    "permission": "Error writing to file: {path}: Permission denied",
    "relative": "File path must be absolute: {path}",
    "too long": "File name too long: {path}...",
}
"""A format string for each reason to refuse a call."""
