"""The tools that work on files directly: read, write, edit, list, glob, grep, and the to-do list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agentworld_gym.engines.swe import perturbations
from agentworld_gym.engines.swe.envelope import bounded
from agentworld_gym.engines.swe.episode import Episode, Todo
from agentworld_gym.engines.swe.files import DiskFull, absolute, relative
from agentworld_gym.engines.swe.git.diff import lines
from agentworld_gym.engines.swe.patterns import BadPattern, Pattern, glob_matches, ignored
from agentworld_gym.engines.swe.state import SYSTEM
from agentworld_gym.text.numbered_lines import LONGEST_LINE, numbered

MAX_LINES = 2_000
MAX_MATCHES = 200
AROUND = 4

Arguments = Mapping[str, Any]


class ToolError(Exception):
    """A tool refuses a call; the message is the tool's answer."""


def _text(arguments: Arguments, key: str, default: str | None = None) -> str:
    value = arguments.get(key, default)
    if value is None:
        raise ToolError(f"Error: missing required argument: {key}")
    if not isinstance(value, str):
        raise ToolError(f"Error: {key} must be a string")
    if "\0" in value:
        raise ToolError(f"Error: {key} must not hold null characters")
    return value.encode("utf-8", "replace").decode()


def _number(arguments: Arguments, key: str, least: int) -> int | None:
    value = arguments.get(key)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ToolError(f"Error: {key} must be an integer of at least {least}")
    return value


def _path(episode: Episode, arguments: Arguments, key: str, default: str | None = None) -> str:
    value = _text(arguments, key, default)
    if not value.startswith("/"):
        raise ToolError(f"File path must be absolute: {value}")
    if len(value) > 4_000:
        raise ToolError(f"File name too long: {value[:80]}...")
    return absolute(value)


def _rows(text: str) -> list[str]:
    return [line.removesuffix("\n") for line in lines(text)]


def read_file(episode: Episode, arguments: Arguments) -> str:
    """Answer `read_file`."""
    path = _path(episode, arguments, "absolute_path")
    offset, limit = _number(arguments, "offset", 0), _number(arguments, "limit", 1)
    file = episode.files.get(path)
    if file is None:
        raise ToolError(_missing(episode, path))
    if file.shown != file.text or "\0" in file.text:
        return f"Cannot display content of binary file: {path}"
    rows = _rows(file.text)
    if not rows:
        return f"(the file {path} is empty)"
    start = offset or 0
    if start >= len(rows):
        return f"[no lines: {path} has {len(rows)} lines]"
    part = rows[start : start + min(limit or MAX_LINES, MAX_LINES)]
    head = f"[lines {start + 1}-{start + len(part)} of {len(rows)}]\n" if len(part) < len(rows) else ""
    return head + "\n".join(numbered(part, start + 1))


def _missing(episode: Episode, path: str) -> str:
    if path in episode.files.folders or path == "/":
        return f"Path is a directory, not a file: {path}"
    return f"File not found: {path}"


def _write(episode: Episode, path: str, text: str) -> None:
    file = episode.files.get(path)
    if file is not None and not file.writable:
        raise ToolError(f"Error writing to file: {path}: Permission denied")
    if path in episode.files.folders or path == "/":
        raise ToolError(f"Path is a directory, not a file: {path}")
    if path.split("/")[1] in SYSTEM or path.startswith(f"{episode.root}/.git/"):
        raise ToolError(f"Error writing to file: {path}: Permission denied")
    place = path
    while place := place.rpartition("/")[0]:
        if place in episode.files:
            raise ToolError(f"Error writing to file: {path}: Not a directory")
    try:
        episode.files.write(path, text, episode.now)
    except DiskFull:
        raise ToolError(f"Error writing to file: {path}: No space left on device") from None


def write_file(episode: Episode, arguments: Arguments) -> str:
    """Answer `write_file`."""
    path, text = _path(episode, arguments, "file_path"), _text(arguments, "content")
    there = path in episode.files
    _write(episode, path, text)
    return f"Successfully overwrote file: {path}." if there else f"Successfully created and wrote to new file: {path}."


def edit(episode: Episode, arguments: Arguments) -> str:
    """Answer `edit`."""
    path = _path(episode, arguments, "file_path")
    old, new = _text(arguments, "old_string"), _text(arguments, "new_string")
    everywhere = arguments.get("replace_all", False) is True
    file = episode.files.get(path)
    if file is None:
        if old or path in episode.files.folders:
            raise ToolError(_missing(episode, path))
        _write(episode, path, new)
        return f"Successfully created and wrote to new file: {path}."
    if not old:
        raise ToolError(f"Failed to edit, the file already exists: {path}")
    if old == new:
        raise ToolError("No changes to apply.")
    count = file.text.count(old)
    if not count:
        raise ToolError("Failed to edit, could not find the string to replace.")
    if count > 1 and not everywhere:
        raise ToolError(f"Failed to edit, expected 1 occurrence but found {count}.")
    first = file.text[: file.text.index(old)].count("\n")
    text = file.text.replace(old, new)
    _write(episode, path, text)
    rows = _rows(text)
    start, end = max(first - AROUND, 0), min(first + new.count("\n") + 1 + AROUND, len(rows))
    excerpt = "\n".join(numbered(rows[start:end], start + 1))
    return f"The file {path} has been edited.\n{excerpt}".rstrip("\n")


def list_directory(episode: Episode, arguments: Arguments) -> str:
    """Answer `list_directory`."""
    path = _path(episode, arguments, "path")
    patterns = arguments.get("ignore") or []
    if not isinstance(patterns, list) or not all(isinstance(pattern, str) for pattern in patterns):
        raise ToolError("Error: ignore must be a list of strings")
    if path in episode.files:
        raise ToolError(f"Path is not a directory: {path}")
    if path not in episode.files.folders and path != "/":
        raise ToolError(f"Directory not found: {path}")
    folders, files = episode.files.names(path)
    rows = [f"[DIR] {name}" for name in folders] + files
    listed = [row for row in rows if not any(glob_matches(p, row.removeprefix("[DIR] ")) for p in patterns[:64])]
    if not listed:
        return f"Directory {path} is empty."
    return "\n".join([f"Directory listing for {path}:", *listed])


def _candidates(episode: Episode, path: str) -> list[str]:
    """Return the files below a path that a search reads: those that git would not ignore."""
    if path in episode.files:
        return [path]
    rules = (
        episode.files[f"{episode.root}/.gitignore"].text.split("\n")
        if f"{episode.root}/.gitignore" in episode.files
        else []
    )
    return [name for name in episode.files.below(path) if not ignored(relative(name, episode.root).lstrip("/"), rules)]


def glob(episode: Episode, arguments: Arguments) -> str:
    """Answer `glob`."""
    pattern, path = _text(arguments, "pattern"), _path(episode, arguments, "path", episode.root)
    if path not in episode.files.folders and path != "/":
        raise ToolError(f"Directory not found: {path}")
    start = len(path.rstrip("/")) + 1
    absolute_pattern = pattern.startswith("/")
    names = [
        name for name in _candidates(episode, path) if glob_matches(pattern, name if absolute_pattern else name[start:])
    ]
    if not names:
        return f'No files found matching pattern "{pattern}" within {path}'
    names.sort(key=lambda name: (-episode.files[name].mtime, name))
    kept = names[: min(perturbations.kept_matches(episode, len(names), False, "glob", pattern, path), MAX_MATCHES)]
    head = f'Found {len(names)} file(s) matching "{pattern}" within {path}, sorted by modification time (newest first):'
    return "\n".join([head, *kept, *_left_out(len(names) - len(kept), "files")])


def grep_search(episode: Episode, arguments: Arguments) -> str:
    """Answer `grep_search`."""
    text, path = _text(arguments, "pattern"), _path(episode, arguments, "path", episode.root)
    names, limit = arguments.get("glob"), _number(arguments, "limit", 1)
    if names is not None and not isinstance(names, str):
        raise ToolError("Error: glob must be a string")
    if path not in episode.files and path not in episode.files.folders and path != "/":
        raise ToolError(f"Path not found: {path}")
    try:
        pattern = Pattern(text)
    except BadPattern:
        raise ToolError(f"Invalid regular expression pattern: {text[:200]}") from None
    matches: list[tuple[str, int, str]] = []
    for name in _candidates(episode, path):
        plain = relative(name, episode.root)
        if names and not (glob_matches(names, plain) or glob_matches(names, name.rpartition("/")[2])):
            continue
        body = episode.files[name].text
        if "\0" not in body:
            matches.extend((plain, number, row) for number, row in enumerate(_rows(body), 1) if pattern.matches(row))
    folder = relative(path, episode.root)
    if not matches:
        return f'No matches found for pattern "{text}" in path "{folder}".'
    kept = perturbations.kept_matches(episode, len(matches), limit is not None, "grep", text, path, names)
    rows = matches[: min(kept, limit or MAX_MATCHES, MAX_MATCHES)]
    noun = "match" if len(matches) == 1 else "matches"
    out = [f'Found {len(matches)} {noun} for pattern "{text}" in path "{folder}":']
    last = ""
    for name, number, row in rows:
        if name != last:
            out.extend((["---"] if last else []) + [f"File: {name}"])
            last = name
        out.append(f"L{number}: {row[:LONGEST_LINE].strip()}")
    return "\n".join([*out, "---", *_left_out(len(matches) - len(rows), "matches")])


def _left_out(count: int, noun: str) -> list[str]:
    return [f"[{count} more {noun} left out: the search reached its limit]"] if count else []


def todo_write(episode: Episode, arguments: Arguments) -> str:
    """Answer `todo_write`."""
    todos = arguments.get("todos")
    if not isinstance(todos, list):
        raise ToolError("Error: todos must be a list")
    entries: list[Todo] = []
    for todo in todos[:200]:
        if not isinstance(todo, Mapping):
            raise ToolError("Error: each todo must be an object with id, content and status")
        entry = Todo(_text(todo, "id"), _text(todo, "content"), _text(todo, "status"))
        if entry.status not in ("pending", "in_progress", "completed") or not entry.content.strip():
            raise ToolError("Error: each todo needs a content and a status of pending, in_progress or completed")
        entries.append(entry)
    if len({entry.id for entry in entries}) < len(entries):
        raise ToolError("Error: the ids of the todos must differ")
    episode.todos = tuple(entries)
    rows = [f"{number}. [{entry.status}] {entry.content}" for number, entry in enumerate(entries, 1)]
    return "\n".join(["Todos have been modified successfully.", *(rows or ["(the list is empty)"])])


Tool = Callable[[Episode, Arguments], str]

TOOLS: dict[str, Tool] = {
    "edit": edit,
    "glob": glob,
    "grep_search": grep_search,
    "list_directory": list_directory,
    "read_file": read_file,
    "todo_write": todo_write,
    "write_file": write_file,
}


def use(tool: Tool, episode: Episode, arguments: Arguments) -> str:
    """Return a tool's answer; a refused call is answered with its message."""
    try:
        return bounded(tool(episode, arguments))
    except ToolError as error:
        return str(error)
