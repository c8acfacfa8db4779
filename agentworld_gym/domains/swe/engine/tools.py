"""The tools of the repository, under the names of the CLI and of Claude Code where the CLI has none.

A call changes the episode and gives a result. What it prints is up to the scaffold in whose dialect it is shown.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from agentworld_gym.domains.swe.engine.episode import BackgroundShell, RepositoryEpisode, Todo
from agentworld_gym.domains.swe.engine.file_operations import (
    MAX_LINES,
    Arguments,
    exists,
    find,
    names,
    number_of,
    path_of,
    read,
    replaced,
    rows_of,
    search,
    text_of,
    write,
)
from agentworld_gym.domains.swe.engine.files import relative
from agentworld_gym.domains.swe.engine.patterns import glob_matches
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
    Refused,
    Remembered,
    Result,
    Started,
    TodosWritten,
    Written,
)

SHELL = "run_shell_command"
MODES = ("content", "files_with_matches", "count")
_STATUSES = ("pending", "in_progress", "completed")


def read_file(episode: RepositoryEpisode, arguments: Arguments) -> Result:
    """Read a file from the line `offset` on, which is counted from 0."""
    path = path_of(arguments, "absolute_path")
    start, count = number_of(arguments, "offset", -1), number_of(arguments, "limit", 1)
    return Read(path, read(episode, path), max(start or 0, 0), min(count or MAX_LINES, MAX_LINES))


def read_many_files(episode: RepositoryEpisode, arguments: Arguments) -> Result:
    """Read all files that match one of the paths or patterns, which begin at the root of the repository."""
    paths: dict[str, None] = {}
    for pattern in _texts(arguments, "paths"):
        paths.update(dict.fromkeys(sorted(find(episode, pattern, episode.root)[1])))
    files = []
    for path in paths:
        try:
            files.append((path, read(episode, path)))
        except Refused:
            continue
    return ReadMany(files)


def _texts(arguments: Arguments, key: str) -> list[str]:
    texts = arguments.get(key) or []
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise Refused("argument", problem=f"{key} must be a list of strings")
    return texts[:64]


def write_file(episode: RepositoryEpisode, arguments: Arguments) -> Result:
    """Write a file, with missing folders."""
    path = path_of(arguments, "file_path")
    return Written(path, write(episode, path, text_of(arguments, "content")))


def edit(episode: RepositoryEpisode, arguments: Arguments) -> Result:
    """Replace a text in a file, once, as often as expected, or everywhere; an empty text creates the file."""
    path = path_of(arguments, "file_path")
    old, new = text_of(arguments, "old_string"), text_of(arguments, "new_string")
    everywhere = arguments.get("replace_all") is True
    expected = None if everywhere else number_of(arguments, "expected_replacements", 1) or 1
    if not old and not exists(episode, path):
        return Written(path, write(episode, path, new))
    read(episode, path)
    text, count, first = replaced(path, episode.files[path].text, old, new, expected)
    write(episode, path, text)
    return Edited(path, old, new, everywhere, count, first, rows_of(text))


def multi_edit(episode: RepositoryEpisode, arguments: Arguments) -> Result:
    """Make all replacements of a list in a file, or none."""
    path, edits = path_of(arguments, "file_path"), arguments.get("edits")
    if not isinstance(edits, list) or not edits or not all(isinstance(entry, Mapping) for entry in edits):
        raise Refused("argument", problem="edits must be a list of objects with old_string and new_string")
    read(episode, path)
    text = episode.files[path].text
    made = []
    for entry in edits[:200]:
        old, new = text_of(entry, "old_string"), text_of(entry, "new_string")
        text, _, _ = replaced(path, text, old, new, None if entry.get("replace_all") is True else 1)
        made.append((old, new))
    write(episode, path, text)
    return EditedTogether(path, made)


def list_directory(episode: RepositoryEpisode, arguments: Arguments) -> Result:
    """List a folder without the names that match a pattern."""
    path, patterns = path_of(arguments, "path"), _texts(arguments, "ignore")
    folders, files = (
        [name for name in group if not any(glob_matches(pattern, name) for pattern in patterns)]
        for group in names(episode, path)
    )
    return Listed(path, folders, files)


def glob(episode: RepositoryEpisode, arguments: Arguments) -> Result:
    """Search files by their paths."""
    pattern, path = text_of(arguments, "pattern"), path_of(arguments, "path", episode.root)
    return FilesFound(pattern, path, *find(episode, pattern, path))


def search_file_content(episode: RepositoryEpisode, arguments: Arguments) -> Result:
    """Search the lines of files."""
    text, path = text_of(arguments, "pattern"), path_of(arguments, "path", episode.root)
    only = text_of(arguments, "include", "")
    mode = text_of(arguments, "output_mode") if arguments.get("output_mode") is not None else _default_mode(arguments)
    if mode not in MODES:
        raise Refused("argument", problem=f"output_mode must be one of {', '.join(MODES)}")
    total, matches = search(episode, text, path, only, arguments.get("ignore_case") is True)
    files = list(dict.fromkeys(match.path for match in matches))
    return LinesFound(
        text,
        path,
        relative(path, episode.root),
        only,
        mode,
        arguments.get("line_numbers") is not False,
        total,
        matches,
        [relative(name, episode.root) for name in files],
        sorted(files, key=lambda name: (-episode.files[name].mtime, name)),
    )


def _default_mode(arguments: Arguments) -> str:
    """Return what a search shows that does not say it: lines, and names of files where the key says nothing."""
    return "files_with_matches" if "output_mode" in arguments else "content"


def todo_write(episode: RepositoryEpisode, arguments: Arguments) -> Result:
    """Replace the to-do list; entries without an id are numbered."""
    todos = arguments.get("todos")
    if not isinstance(todos, list):
        raise Refused("argument", problem="todos must be a list")
    entries = []
    for number, todo in enumerate(todos[:200], 1):
        if not isinstance(todo, Mapping):
            raise Refused("argument", problem="each todo must be an object with content and status")
        entry = Todo(text_of(todo, "id", str(number)), text_of(todo, "content"), text_of(todo, "status"))
        if entry.status not in _STATUSES or not entry.content.strip():
            problem = "each todo needs a content and a status of pending, in_progress or completed"
            raise Refused("argument", problem=problem)
        entries.append(entry)
    if len({entry.id for entry in entries}) < len(entries):
        raise Refused("argument", problem="the ids of the todos must differ")
    episode.todos = tuple(entries)
    return TodosWritten()


def save_memory(episode: RepositoryEpisode, arguments: Arguments) -> Result:
    """Save a fact."""
    fact = text_of(arguments, "fact").strip()
    if not fact:
        raise Refused("argument", problem="fact must be a non-empty string")
    episode.memories = (*episode.memories, fact)
    return Remembered(fact)


def run_shell_command(episode: RepositoryEpisode, arguments: Arguments) -> Result:
    """Run a command, which may be left in the background."""
    # The shell is a compiled library; only episodes that run a command load it.
    from agentworld_gym.domains.swe.engine.shell import folder_of, run

    background = arguments.get("is_background") is True
    outcome = run(episode, arguments, folder_of(episode, arguments.get("directory")), background)
    if not background or not outcome.pids:
        return outcome
    name, pid = f"bash_{len(episode.shells) + 1}", outcome.pids[-1]
    shell = BackgroundShell(outcome.command, outcome.printed, outcome.exit_code, pid in episode.processes, pid)
    episode.shells = {**episode.shells, name: shell}
    return Started(name, outcome)


def read_background(episode: RepositoryEpisode, arguments: Arguments) -> Result:
    """Read what a command in the background printed since the last time."""
    name, shell = _shell(episode, text_of(arguments, "bash_id"))
    read_out = BackgroundShell(shell.command, "", shell.exit_code, shell.running, shell.pid)
    episode.shells = {**episode.shells, name: read_out}
    time = datetime.fromtimestamp(episode.now, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    if shell.running:
        return BackgroundRead("running" if shell.pid in episode.processes else "killed", None, shell.output, time)
    return BackgroundRead("failed" if shell.exit_code else "completed", shell.exit_code, shell.output, time)


def kill_background(episode: RepositoryEpisode, arguments: Arguments) -> Result:
    """End a command in the background."""
    name, shell = _shell(episode, text_of(arguments, "shell_id"))
    if shell.pid not in episode.processes:
        raise Refused("argument", problem=f"Shell {name} is not running, so cannot be killed")
    episode.processes = {pid: command for pid, command in episode.processes.items() if pid != shell.pid}
    return Killed(name, shell.command)


def _shell(episode: RepositoryEpisode, name: str) -> tuple[str, BackgroundShell]:
    if name not in episode.shells:
        raise Refused("argument", problem=f"No shell found with ID: {name[:100]}")
    return name, episode.shells[name]


TOOLS: Mapping[str, Callable[[RepositoryEpisode, Arguments], Result]] = {
    "BashOutput": read_background,
    "KillShell": kill_background,
    "MultiEdit": multi_edit,
    "edit": edit,
    "glob": glob,
    "list_directory": list_directory,
    "read_file": read_file,
    "read_many_files": read_many_files,
    SHELL: run_shell_command,
    "save_memory": save_memory,
    "search_file_content": search_file_content,
    "todo_write": todo_write,
    "write_file": write_file,
}
"""The tools by name."""


def use(episode: RepositoryEpisode, name: str, arguments: Arguments) -> Result:
    """Call a tool; a refused call is a result too."""
    tool = TOOLS.get(name)
    if tool is None:
        return Refused("no tool", name=name[:100])
    try:
        return tool(episode, arguments)
    except Refused as refused:
        return refused.with_traceback(None)


def read_call(call: Any) -> tuple[Any, Any]:
    """Return name and arguments of a call; the arguments may be JSON in a string."""
    if not isinstance(call, Mapping):
        return None, None
    arguments = call.get("arguments", {})
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except (ValueError, RecursionError):
            return None, None
    return call.get("name"), {} if arguments is None else arguments
