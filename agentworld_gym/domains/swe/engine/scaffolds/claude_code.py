"""How Claude Code prints: numbered reads, a snippet after an edit, and what a command printed as it is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping

from agentworld_gym.base.text.envelope import Envelope
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
from agentworld_gym.domains.swe.engine.scaffolds import cli
from agentworld_gym.domains.swe.engine.scaffolds.cli import LONGEST_LINE, numbered

AROUND = 4
"""How many lines a snippet shows before and after a change."""

CUT_SHORT = "(Results are truncated. Consider using a more specific path or pattern.)"


def printed(result: Result) -> str:
    """Print a result; one that only tools of the CLI have is printed as there."""
    match result:
        case Refused():
            return REFUSALS[result.reason].format(**result.details)
        case Read():
            return _read(result)
        case Edited():
            return _edited(result)
        case Envelope():
            return _command(result)
        case FilesFound(total=total, paths=paths):
            return "\n".join([*paths, *_cut_short(len(paths) < total)]) or "No files found"
        case LinesFound():
            return _lines(result)
        case Written(path, there):
            updated = f"The file {path} has been updated successfully."
            return updated if there else f"File created successfully at: {path}"
        case Started(name):
            return f"Command running in background with ID: {name}"
        case EditedTogether(path, edits):
            rows = [f'{number}. Replaced "{old}" with "{new}"' for number, (old, new) in enumerate(edits, 1)]
            return "\n".join([f"Applied {_amount(len(rows), 'edit')} to {path}:", *rows])
        case BackgroundRead():
            return _background(result)
        case Killed(name, command):
            message = f"Successfully killed shell: {name} ({command})"
            return json.dumps({"message": message, "shell_id": name}, ensure_ascii=False, separators=(",", ":"))
        case Listed() | ReadMany() | Remembered() | Said() | TodosWritten():
            return cli.printed(result)


def _read(read: Read) -> str:
    if not read.rows:
        return _reminder("Warning: the file exists but the contents are empty.")
    if read.start >= len(read.rows):
        shorter = f"Warning: the file exists but is shorter than the provided offset ({read.start + 1})."
        return _reminder(f"{shorter} The file has {len(read.rows)} lines.")
    return "\n".join(numbered(read.rows[read.start : read.start + read.count], read.start + 1, "→"))


def _reminder(text: str) -> str:
    return f"<system-reminder>{text}</system-reminder>"


def _edited(edited: Edited) -> str:
    head = f"The file {edited.path} has been updated."
    if edited.everywhere:
        return f"{head} All occurrences of '{edited.old}' were successfully replaced with '{edited.new}'."
    start = max(edited.first - AROUND, 0)
    end = edited.first + edited.new.count("\n") + 1 + AROUND
    rows = numbered(edited.rows[start:end], start + 1, "→")
    return "\n".join([f"{head} Here's the result of running `cat -n` on a snippet of the edited file:", *rows])


def _lines(found: LinesFound) -> str:
    short = _cut_short(len(found.matches) < found.total)
    if found.mode == "files_with_matches":
        files = found.newest
        return "\n".join([f"Found {_amount(len(files), 'file')}", *files, *short]) if files else "No files found"
    if not found.matches:
        return "No matches found"
    if found.mode == "count":
        counts = Counter(match.path for match in found.matches)
        rows = [f"{path}:{count}" for path, count in counts.items()]
        total = f"Found {_amount(counts.total(), 'total occurrence')} across {_amount(len(counts), 'file')}."
        return "\n".join([*rows, *short, "", total])
    rows = [
        f"{path}:{f'{number}:' if found.numbers else ''}{row[:LONGEST_LINE]}" for path, number, row in found.matches
    ]
    return "\n".join([*rows, *short])


def _cut_short(short: bool) -> list[str]:
    return [CUT_SHORT] if short else []


def _amount(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _command(outcome: Envelope) -> str:
    if outcome.timeout is not None:
        head = f"Exit code 143\nCommand timed out after {_duration(outcome.timeout)}"
    elif outcome.exit_code is None:
        head = f"Exit code {128 + (outcome.signal or 0)}\n{outcome.error}".rstrip("\n")
    else:
        head = f"Exit code {outcome.exit_code}" if outcome.exit_code else ""
    return "\n".join(part for part in (head, outcome.printed) if part)


def _duration(milliseconds: int) -> str:
    """Return a time as Claude Code writes it.

    >>> _duration(120_000), _duration(1500)
    ('2m 0s', '1.5s')
    """
    minutes, rest = divmod(milliseconds, 60_000)
    return f"{minutes}m {rest // 1000}s" if minutes else f"{rest / 1000:g}s"


def _background(read: BackgroundRead) -> str:
    parts = [f"<status>{read.status}</status>"]
    if read.exit_code is not None:
        parts.append(f"<exit_code>{read.exit_code}</exit_code>")
    if read.output:
        parts.append(f"<stdout>\n{read.output}\n</stdout>")
    return "\n\n".join([*parts, f"<timestamp>{read.time}</timestamp>"])


def _wrong(text: str) -> str:
    return f"<tool_use_error>{text}</tool_use_error>"


REFUSALS: Mapping[Reason, str] = {
    "argument": _wrong("Error: {problem}"),
    "bad pattern": _wrong("Error: regex parse error: {pattern}"),
    "binary": _wrong("This tool cannot read binary files: {path}"),
    "exists": _wrong("Cannot create new file - file already exists."),
    "is a directory": "EISDIR: illegal operation on a directory, read",
    "many": _wrong(
        "Found {count} matches of the string to replace, but replace_all is false. To replace all occurrences, set "
        "replace_all to true. To replace only one occurrence, please provide more context to uniquely identify the "
        "instance.\nString: {old}"
    ),
    "no call": _wrong("Error: invalid tool call: expected a name and an object of arguments"),
    "no change": _wrong("No changes to make: old_string and new_string are exactly the same."),
    "no directory": _wrong("Directory does not exist: {path}"),
    "no file": _wrong("File does not exist."),
    "no path": _wrong("Path does not exist: {path}"),
    "no space": "ENOSPC: no space left on device, write",
    "no text": _wrong("String to replace not found in file.\nString: {old}"),
    "no tool": _wrong("Error: No such tool available: {name}"),
    "not a directory": _wrong("Path is not a directory: {path}"),
    "not in a directory": "ENOTDIR: not a directory, open '{path}'",
    "permission": "EACCES: permission denied, open '{path}'",
    "relative": _wrong("Error: the path must be absolute: {path}"),
    "too long": "ENAMETOOLONG: name too long, open '{path}...'",
}
"""A format string for each reason to refuse a call."""
