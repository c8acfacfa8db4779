"""What tools do with files: reading, writing, replacing, listing and searching."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentworld_gym.domains.swe.engine import faults
from agentworld_gym.domains.swe.engine.episode import RepositoryEpisode
from agentworld_gym.domains.swe.engine.files import DiskFull, absolute, relative
from agentworld_gym.domains.swe.engine.git.diff import lines
from agentworld_gym.domains.swe.engine.patterns import BadPattern, LinearPattern, glob_matches, ignored
from agentworld_gym.domains.swe.engine.results import Match, Refused
from agentworld_gym.domains.swe.engine.state import SYSTEM

MAX_LINES = 2_000
MAX_MATCHES = 200

Arguments = Mapping[str, Any]


def text_of(arguments: Arguments, key: str, default: str | None = None) -> str:
    """Return an argument that is a text.

    Raises:
        Refused: It is missing or no text.
    """
    value = arguments.get(key, default)
    if value is None:
        raise Refused("argument", problem=f"missing required argument: {key}")
    if not isinstance(value, str):
        raise Refused("argument", problem=f"{key} must be a string")
    if "\0" in value:
        raise Refused("argument", problem=f"{key} must not hold null characters")
    return value.encode("utf-8", "replace").decode()


def number_of(arguments: Arguments, key: str, least: int) -> int | None:
    """Return an argument that is a number; None where it is absent.

    Raises:
        Refused: It is no number, or too small.
    """
    value = arguments.get(key)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise Refused("argument", problem=f"{key} must be an integer of at least {least}")
    return value


def path_of(arguments: Arguments, key: str, default: str | None = None) -> str:
    """Return an argument that is an absolute path.

    Raises:
        Refused: It is none.
    """
    value = text_of(arguments, key, default)
    if not value.startswith("/"):
        raise Refused("relative", path=value)
    if len(value) > 4_000:
        raise Refused("too long", path=value[:80])
    return absolute(value)


def rows_of(text: str) -> list[str]:
    """Return the lines of a text without their line feeds."""
    return [line.removesuffix("\n") for line in lines(text)]


def read(episode: RepositoryEpisode, path: str) -> list[str]:
    """Return the lines of a file.

    Raises:
        Refused: There is no such file, or it is no text.
    """
    file = episode.files.get(path)
    if file is None:
        raise _missing(episode, path)
    if file.display_text != file.text or "\0" in file.text:
        raise Refused("binary", path=path)
    return rows_of(file.text)


def _missing(episode: RepositoryEpisode, path: str) -> Refused:
    if episode.files.is_folder(path):
        return Refused("is a directory", path=path)
    return Refused("no file", path=path)


def write(episode: RepositoryEpisode, path: str, text: str) -> bool:
    """Write a file, with missing folders, and return whether there was one before.

    Raises:
        Refused: It cannot be written.
    """
    file = episode.files.get(path)
    if file is not None and not file.writable:
        raise Refused("permission", path=path)
    if episode.files.is_folder(path):
        raise Refused("is a directory", path=path)
    if path.split("/")[1] in SYSTEM or path.startswith(f"{episode.root}/.git/"):
        raise Refused("permission", path=path)
    place = path
    while place := place.rpartition("/")[0]:
        if place in episode.files:
            raise Refused("not in a directory", path=path)
    try:
        episode.files.write(path, text, episode.now)
    except DiskFull:
        raise Refused("no space", path=path) from None
    return file is not None


def exists(episode: RepositoryEpisode, path: str) -> bool:
    """Return whether there is a file.

    Raises:
        Refused: A folder has the path.
    """
    if episode.files.is_folder(path) and path != "/":
        raise _missing(episode, path)
    return path in episode.files


def replaced(path: str, text: str, old: str, new: str, expected: int | None = 1) -> tuple[str, int, int]:
    """Return a text after a replacement, how often the old piece stood there, and the line of the first one.

    Raises:
        Refused: It stands there another number of times than expected.
    """
    if not old:
        raise Refused("exists", path=path)
    if old == new:
        raise Refused("no change", path=path)
    count = text.count(old)
    if not count:
        raise Refused("no text", path=path, old=old)
    if expected is not None and count != expected:
        noun = "occurrence" if expected == 1 else "occurrences"
        raise Refused("many", path=path, old=old, count=count, expected=expected, noun=noun)
    return text.replace(old, new), count, text[: text.index(old)].count("\n")


def names(episode: RepositoryEpisode, path: str) -> tuple[list[str], list[str]]:
    """Return the names of the folders and of the files in a folder, each sorted.

    Raises:
        Refused: There is no such folder.
    """
    if path in episode.files:
        raise Refused("not a directory", path=path)
    _need_folder(episode, path)
    return episode.files.names(path)


def _need_folder(episode: RepositoryEpisode, path: str) -> None:
    if not episode.files.is_folder(path):
        raise Refused("no directory", path=path)


def _candidates(episode: RepositoryEpisode, path: str) -> list[str]:
    """Return the files below a path that a search reads: those that git would not ignore."""
    if path in episode.files:
        return [path]
    rules = (
        episode.files[f"{episode.root}/.gitignore"].text.split("\n")
        if f"{episode.root}/.gitignore" in episode.files
        else []
    )
    return [name for name in episode.files.below(path) if not ignored(relative(name, episode.root).lstrip("/"), rules)]


def find(episode: RepositoryEpisode, pattern: str, path: str) -> tuple[int, list[str]]:
    """Return how many files below a folder match a pattern, and the paths that a search returns, the newest first.

    Raises:
        Refused: There is no such folder.
    """
    _need_folder(episode, path)
    start = 0 if pattern.startswith("/") else len(path.rstrip("/")) + 1
    paths = [name for name in _candidates(episode, path) if glob_matches(pattern, name[start:])]
    paths.sort(key=lambda name: (-episode.files[name].mtime, name))
    kept = min(faults.kept_matches(episode, len(paths), "glob", pattern, path), MAX_MATCHES)
    return len(paths), paths[:kept]


def search(
    episode: RepositoryEpisode, text: str, path: str, only: str | None = None, ignore_case: bool = False
) -> tuple[int, list[Match]]:
    """Return how many lines below a path match a regular expression, and those that a search returns, by file.

    Args:
        episode: The episode.
        text: The regular expression.
        path: A file or folder.
        only: A pattern that the names of the files have to match.
        ignore_case: Whether upper and lower case are the same.

    Raises:
        Refused: There is no such path, or the text is no regular expression.
    """
    if path not in episode.files and not episode.files.is_folder(path):
        raise Refused("no path", path=path)
    try:
        pattern = LinearPattern(text, ignore_case)
    except BadPattern:
        raise Refused("bad pattern", pattern=text[:200]) from None
    matches: list[Match] = []
    for name in _candidates(episode, path):
        plain = relative(name, episode.root)
        if only and not (glob_matches(only, plain) or glob_matches(only, name.rpartition("/")[2])):
            continue
        body = episode.files[name].text
        if "\0" not in body:
            found = enumerate(rows_of(body), 1)
            matches.extend(Match(name, number, row) for number, row in found if pattern.matches(row))
    kept = faults.kept_matches(episode, len(matches), "grep", text, path, only)
    return len(matches), matches[: min(kept, MAX_MATCHES)]
