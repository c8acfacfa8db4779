"""What a line of the shell leaves behind where all of its steps succeed: texts and places that a change can name.

Nothing here is what happens. Whether a file is written, and whether a step fails, is for a world model to say; names
spare it the letters. The texts are printed by programs that only read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from posixpath import basename, dirname
from typing import Any

from agentworld_gym.base.text.envelope import Envelope
from agentworld_gym.core.engines import Controls
from agentworld_gym.domains.swe.engine.episode import RepositoryEpisode
from agentworld_gym.domains.swe.engine.files import DiskFull, File, absolute
from agentworld_gym.domains.swe.engine.git.call import GitCall
from agentworld_gym.domains.swe.engine.git.objects import Tree
from agentworld_gym.domains.swe.engine.git.program import run_git
from agentworld_gym.domains.swe.engine.structured_state.command_list import PipelineStep, steps_of
from agentworld_gym.domains.swe.engine.structured_state.files import entry_at, plain_tree
from agentworld_gym.domains.swe.engine.tools import SHELL, use

MOST = 6
"""The largest number of files of which it is known what a line leaves."""
LONGEST = 40
"""The largest number of steps of a line that are followed."""


@dataclass
class ShellEffects:
    """What a line of the shell leaves, if it succeeds."""

    entries: dict[str, Any] = field(default_factory=dict)
    """The texts of files by path, and folders as objects."""
    gone: dict[str, None] = field(default_factory=dict)
    """The paths of what goes."""
    work: Tree = field(default_factory=dict)
    """The files of the repository by their paths from its root."""
    staged: Tree | None = None
    """What would be committed; None where there is no version control."""


def left_by(episode: RepositoryEpisode, command: str, folder: str) -> ShellEffects:
    """Return what a line leaves, step by step; what is not plain leaves nothing, and so do steps behind the first 40.

    Args:
        episode: The episode before the line, which stays as it is.
        command: The line.
        folder: The folder in which it runs.
    """
    steps, left = steps_of(command), ShellEffects()
    if all(step.kind == "reads" and not step.target for step in steps):
        left.work = episode.work()
        left.staged = None if episode.history is None else episode.history.index
        return left
    twin = episode.copy()
    twin.controls = Controls({}, 0)
    with suppress(DiskFull):
        for step in steps[:LONGEST]:
            if step.words[:1] == ("cd",) and step.operands:
                folder = absolute(step.operands[0], folder)
            else:
                _take(twin, step, folder, left)
            if len(left.entries) + len(left.gone) > MOST:
                break
    left.work = twin.work()
    left.staged = None if twin.history is None else twin.history.index
    return left


def folder_of_steps(command: str, folder: str) -> str:
    """Return the folder in which the steps of a line run; one that begins with `cd` goes there first.

    >>> folder_of_steps("cd src && touch a.py", "/repo"), folder_of_steps("touch a.py", "/repo")
    ('/repo/src', '/repo')
    """
    steps = steps_of(command)
    if len(steps) > 1 and steps[0].words[:1] == ("cd",) and steps[0].operands:
        return absolute(steps[0].operands[0], folder)
    return folder


def _take(twin: RepositoryEpisode, step: PipelineStep, folder: str, left: ShellEffects) -> None:
    """Note what one step leaves."""
    if step.target and step.kind in ("reads", "silent"):
        path = absolute(step.target, folder)
        old = twin.files.get(path)
        before = old.text if old is not None and step.appends else ""
        _write(twin, path, before + (_printed(twin, step.source, folder) if step.words else ""), left)
    elif step.words[0] == "git":
        _take_git(twin, step, folder, left)
    elif step.kind == "silent" and step.edits:
        for path in _paths(twin, step.operands[1 if "-e" not in step.words else 0 :], folder):
            if path in twin.files:
                script = step.source.replace(" -i", "", 1)
                names = [word for word in step.operands if absolute(word, folder) in twin.files]
                one = script if len(names) == 1 else _without(script, names, basename(path))
                _write(twin, path, _printed(twin, one, folder), left)
    elif step.kind == "silent" and step.words[0] in _WRITERS:
        _WRITERS[step.words[0]](twin, step, folder, left)


def _without(script: str, names: list[str], kept: str) -> str:
    """Return a script of `sed` with one of its files."""
    words = script.split(" ")
    return " ".join(word for word in words if word not in names or basename(word) == kept)


def _printed(twin: RepositoryEpisode, source: str, folder: str) -> str:
    """Return what a program that only reads writes to its standard output."""
    result = use(twin.copy(), SHELL, {"command": f"{{ {source}\n}} 2>/dev/null", "directory": folder})
    return result.output if isinstance(result, Envelope) else ""


def _paths(twin: RepositoryEpisode, operands: tuple[str, ...], folder: str) -> list[str]:
    """Return the paths that operands name, with those that match a pattern instead of it."""
    paths: dict[str, None] = {}
    for operand in operands:
        path = absolute(operand.replace("\0", ""), folder)
        above, pattern = dirname(path), basename(path)
        if any(sign in pattern for sign in "*?["):
            names = sorted(name for group in twin.files.names(above) for name in group)
            paths.update({f"{above.rstrip('/')}/{name}": None for name in names if fnmatchcase(name, pattern)})
        else:
            paths[path] = None
    return list(paths)


def _write(twin: RepositoryEpisode, path: str, text: str, left: ShellEffects) -> None:
    old = twin.files.get(path)
    mode = 0o644 if old is None else old.mode
    twin.files.replace({**dict(twin.files.items()), path: File(text, twin.now, mode)}, twin.files.folders)
    left.gone.pop(path, None)
    left.entries[path] = text


def _remove(twin: RepositoryEpisode, path: str, left: ShellEffects) -> None:
    start = f"{path}/"
    kept = {name: file for name, file in twin.files.items() if name != path and not name.startswith(start)}
    folders = {name for name in twin.files.folders if name != path and not name.startswith(start)}
    twin.files.replace(kept, folders)
    for name in [name for name in left.entries if name == path or name.startswith(start)]:
        del left.entries[name]
    left.gone[path] = None


def _rm(twin: RepositoryEpisode, step: PipelineStep, folder: str, left: ShellEffects) -> None:
    for path in _paths(twin, step.operands, folder)[:MOST]:
        if _stands(twin, path):
            _remove(twin, path, left)


def _mkdir(twin: RepositoryEpisode, step: PipelineStep, folder: str, left: ShellEffects) -> None:
    for path in _paths(twin, step.operands, folder)[:MOST]:
        if not _stands(twin, path):
            twin.files.replace(dict(twin.files.items()), {*twin.files.folders, path})
            left.gone.pop(path, None)
            left.entries[path] = {}


def _touch(twin: RepositoryEpisode, step: PipelineStep, folder: str, left: ShellEffects) -> None:
    for path in _paths(twin, step.operands, folder)[:MOST]:
        if not _stands(twin, path):
            _write(twin, path, "", left)


def _copy(twin: RepositoryEpisode, step: PipelineStep, folder: str, left: ShellEffects) -> None:
    """Note the copies of `cp` and `mv`; what is moved goes."""
    *sources, target = _paths(twin, step.operands, folder) or [""]
    for path in sources[:MOST]:
        entry = _entry(twin, path)
        if entry is None or path == "/":
            continue
        place = f"{target.rstrip('/')}/{basename(path)}" if target in twin.files.folders else target
        if "mv" in step.words[:2]:
            _remove(twin, path, left)
        for name, text in _texts(entry, place):
            if text is None:
                twin.files.replace(dict(twin.files.items()), {*twin.files.folders, name})
            else:
                twin.files.write(name, text, twin.now)
        left.gone.pop(place, None)
        left.entries[place] = entry


def _take_git(twin: RepositoryEpisode, step: PipelineStep, folder: str, left: ShellEffects) -> None:
    """Note what commands of git stage, and the files that `git rm` and `git mv` take away and make."""
    verb, history = step.words[1:2], twin.history
    if history is None or verb not in (("add",), ("mv",), ("rm",)):
        return
    work = twin.work()
    run_git(GitCall(history, work, twin.root, folder, twin.now), list(step.words[1:]))
    inner = PipelineStep((step.words[1:],), step.span)
    if verb == ("rm",) and "--cached" not in step.words:
        _rm(twin, inner, folder, left)
    elif verb == ("mv",):
        _copy(twin, inner, folder, left)


_WRITERS = {"cp": _copy, "mkdir": _mkdir, "mv": _copy, "rm": _rm, "rmdir": _rm, "touch": _touch}


def _stands(twin: RepositoryEpisode, path: str) -> bool:
    return path in twin.files or path in twin.files.folders or path == "/"


def _entry(twin: RepositoryEpisode, path: str) -> Any:
    """Return the text of a file, or a folder as an object of its entries; None where nothing stands."""
    file = twin.files.get(path)
    return file.text if file is not None else _plain(entry_at(plain_tree(twin.files), path))


def _plain(entry: Any) -> Any:
    if isinstance(entry, Mapping):
        return {name: _plain(inner) for name, inner in entry.items()}
    return entry[0] if isinstance(entry, list) else entry


def _texts(entry: Any, path: str) -> Iterator[tuple[str, str | None]]:
    """Yield the texts of an entry by their paths, and None for each folder."""
    if isinstance(entry, Mapping):
        yield path, None
        for name, inner in entry.items():
            yield from _texts(inner, f"{path}/{name}")
    elif isinstance(entry, str):
        yield path, entry
