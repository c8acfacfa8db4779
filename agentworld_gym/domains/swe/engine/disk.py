"""Moves an episode's files to the shell's virtual disk and back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from bashkit import Bash

from agentworld_gym.domains.swe.engine.episode import RepositoryEpisode
from agentworld_gym.domains.swe.engine.files import File, Files
from agentworld_gym.domains.swe.engine.git.history import GitHistory
from agentworld_gym.domains.swe.engine.state import FOLDERS, SYSTEM

MAX_FILE = 4_000_000


def texts_of(files: Files) -> dict[str, str | Callable[[], str]]:
    """Return the files that can be given to the shell as text."""
    return {path: file.text for path, file in files.items() if file.display_text == file.text}


def fill(bash: Bash, episode: RepositoryEpisode) -> None:
    """Write to the disk what the shell's constructor could not: folders, binary files, permissions, `.git`."""
    disk = bash.fs()
    for folder in sorted({*FOLDERS, *episode.files.folders}):
        disk.mkdir(folder, recursive=True)
    for path, file in episode.files.items():
        if file.display_text != file.text:
            disk.write_file(path, file.text.encode("utf-8", "surrogateescape"))
        if file.mode != 0o644:
            disk.chmod(path, file.mode)
    if episode.history is not None:
        for name, text in git_folder(episode.history).items():
            path = f"{episode.root}/.git/{name}"
            disk.mkdir(path.rpartition("/")[0], recursive=True)
            disk.write_file(path, text.encode())


def git_folder(history: GitHistory) -> dict[str, str]:
    """Return the few files of `.git` that people look at."""
    head = f"ref: refs/heads/{history.branch}\n" if history.branch is not None else f"{history.detached}\n"
    config = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"
    if history.remote:
        refs = f"+refs/heads/*:refs/remotes/{history.remote}/*"
        config += f'[remote "{history.remote}"]\n\turl = {history.reached_at(False)}\n\tfetch = {refs}\n'
    for key, value in history.settings.items():
        section, _, rest = key.partition(".")
        middle, _, last = rest.rpartition(".")
        if key != f"remote.{history.remote}.url":
            config += f'[{section} "{middle}"]\n' if middle else f"[{section}]\n"
            config += f"\t{last} = {value}\n"
    return {
        "HEAD": head,
        "config": config,
        **{f"refs/heads/{name}": f"{id}\n" for name, id in history.branches.items()},
    }


def has_git(episode: RepositoryEpisode, disk: Any) -> bool:
    """Return whether the disk still holds version control."""
    return bool(disk.exists(f"{episode.root}/.git/HEAD"))


def times(episode: RepositoryEpisode) -> Iterator[str]:
    """Yield commands that give the files their times, one command for each time."""
    from shlex import quote

    by_time: dict[int, list[str]] = {}
    for path, file in episode.files.items():
        by_time.setdefault(file.mtime, []).append(quote(path))
    for when, paths in by_time.items():
        yield f"\\touch -d @{when} {' '.join(paths)}"


def walk(disk: Any, git: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield all paths outside the system's folders, each folder before its contents; `.git` only if `git` is true."""
    folders = ["/"]
    while folders:
        folder = folders.pop()
        for entry in sorted(disk.read_dir(folder), key=lambda entry: str(entry["name"])):
            name = entry["name"]
            if (folder == "/" and name in SYSTEM) or (name == ".git" and not git):
                continue
            path = f"{folder.rstrip('/')}/{name}"
            yield path, entry["metadata"]
            if entry["metadata"]["file_type"] == "directory":
                folders.append(path)


def read(disk: Any) -> tuple[dict[str, tuple[str, int]], set[str]]:
    """Return texts and permissions by path, and all folders. Links and other special files are left out."""
    files: dict[str, tuple[str, int]] = {}
    folders: set[str] = set()
    for path, metadata in walk(disk):
        if metadata["file_type"] == "directory":
            folders.add(path)
        elif metadata["file_type"] == "file" and metadata["size"] <= MAX_FILE:
            text = disk.read_file(path).decode("utf-8", "surrogateescape")
            files[path] = (text, metadata["mode"] & 0o777)
    return files, folders


def take_back(episode: RepositoryEpisode, disk: Any, modes: Mapping[str, int], free: Collection[str]) -> list[str]:
    """Make the disk's files those of the episode, and return the read-only files whose change was undone.

    Args:
        episode: the episode that takes the files.
        disk: the shell's virtual disk.
        modes: the permissions that commands left, because the disk forgets them when a file is written.
        free: the files that replaced others.

    Raises:
        DiskFull: the disk holds more than an episode may; the episode keeps its files.
    """
    texts, folders = read(disk)
    refused: list[str] = []
    files: dict[str, File] = {}
    for path, (text, on_disk) in texts.items():
        old = episode.files.get(path)
        mode = on_disk if path in free else modes.get(path, on_disk)
        if old is None:
            files[path] = File(text, episode.now, mode)
        elif old.text == text:
            files[path] = old if old.mode == mode else File(text, old.mtime, mode)
        elif old.writable or mode & 0o200 or path in free:
            files[path] = File(text, episode.now, mode)
        else:
            files[path] = old
            refused.append(path)
    unchanged = len(files) == len(list(episode.files)) and all(episode.files.get(p) is f for p, f in files.items())
    if not unchanged or folders != episode.files.folders:
        episode.files.replace(files, folders)
    return refused


def modes_of(files: Files) -> dict[str, int]:
    """Return the permissions that differ from the usual ones."""
    return {path: file.mode for path, file in files.items() if file.mode != 0o644}
