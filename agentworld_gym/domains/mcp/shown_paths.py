"""The paths of files that the answers of a tool server show, to be used in further calls."""

from __future__ import annotations

import posixpath
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from agentworld_gym.kit.vocabulary import WORDS

KEPT, LONGEST = 64, 120
"""How many paths are kept, and how long they are at most."""

ENDINGS = (".txt", ".md", ".json", ".csv", "")
"""How names of new files end."""

_PATHS = frozenset({"path", "paths", "file", "files", "filename", "folder", "dir", "directory"})
_ENDS = frozenset({"source", "destination", "target"})
"""The last words of the names of parameters that take paths, and of those that do where their tool is of files."""

_LAST_WORD = re.compile(r"[A-Z]?[a-z]+$|[A-Z]+$")
_OF_FILES = re.compile(r"file|dir|folder|path")

_ABSOLUTE = re.compile(
    r"(?<![\w:/<])/[\w.+@~-]+(?:/[\w.+@~-]+)+(?<=\w)|(?<=['\"])/[\w.+@~-]+(?=['\"])|^/[\w.+@~-]+$", re.MULTILINE
)
"""A path of two names; of one, where it stands for itself: `EUR/night` and `</div>` are none."""

_NAME = re.compile(r"[\w.+@~-]*\w")
_LISTED = re.compile(r"^(?:\S+ )?([\w.+@~-]*\w)(?:[ \t]{2,}.*)?\r?$", re.MULTILINE)
"""A line of a listing: a name behind at most one word, and in front of further columns."""

_DRAWN = re.compile(r"[0-9a-f]{12}")
"""What names hold that are drawn anew each time."""

_FOLDERS, _MAKES = re.compile(r"dir|folder|list|tree"), re.compile(r"copy|create|make|move|new|rename|save|write")
"""What the names of tools hold that take folders, and of those that take paths of what is not there yet."""


class ShownPaths:
    """Paths that answers showed, or listed in a folder.

    >>> paths = ShownPaths()
    >>> paths.see("[DIR] src\\n[FILE] README.md", None, ["/home/ada"], refused=False)
    >>> list(paths)
    ['/home/ada', '/home/ada/src', '/home/ada/README.md']
    >>> paths.see("EACCES: '/home/ada/nope' is not in /srv/eve", None, ["nope"], refused=True)
    >>> list(paths)[-1]
    '/srv/eve'
    """

    def __init__(self) -> None:
        self._paths: dict[str, None] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __bool__(self) -> bool:
        return bool(self._paths)

    def see(self, observation: str, told: Any, values: Sequence[Any], refused: bool) -> None:
        """Take in an answer.

        Args:
            observation: The answer.
            told: What it is as JSON; None where it is none.
            values: What its call had.
            refused: Whether it refuses the call, whose own paths then say nothing.
        """
        observation = observation[: KEPT * LONGEST]
        shown = _ABSOLUTE.findall(observation)
        if refused:
            self._add(beyond for path in shown if (beyond := _beyond(path, values)))
            return
        self._add(shown)
        for path in [one for one in values if isinstance(one, str) and "/" in one and "://" not in one]:
            listing = [match[1] for match in _LISTED.finditer(observation)] if told is None else told
            self._add([path, *(_below(listing, path) if _is_folder(path) else ())])

    def _add(self, paths: Iterable[str]) -> None:
        for path in islice(paths, KEPT):
            if 1 < len(path) <= LONGEST and not _DRAWN.search(path):
                self._paths.pop(path, None)  # The latest stand last.
                self._paths[path] = None
        while len(self._paths) > KEPT:
            del self._paths[next(iter(self._paths))]

    def draw(self, tool: str, refused: Mapping[Any, int], rng: random.Random) -> str:
        """Draw a path that was shown, or that of something new beside one.

        Args:
            tool: The name of the tool that takes it.
            refused: How often a tool refused a path, by both.
            rng: The source of the draw.

        Raises:
            IndexError: No path was shown.
        """
        folders = _FOLDERS.search(tool) is not None
        weights = [
            (3.0 if folders == _is_folder(one) else 1.0) / (1 + refused.get((tool, one), 0)) ** 2 for one in self._paths
        ]
        path = rng.choices(list(self._paths), weights)[0]
        if rng.random() >= (0.5 if _MAKES.search(tool) else 0.1):
            return path
        folder = path if _is_folder(path) else posixpath.dirname(path)
        return f"{folder.rstrip('/')}/{rng.choice(WORDS)}{rng.choice(ENDINGS)}"


def takes_path(name: str, tool: str) -> bool:
    """Return whether a parameter of a tool takes the path of a file.

    >>> takes_path("repo_path", "log"), takes_path("source", "move_file"), takes_path("source", "search_news")
    (True, True, False)
    """
    word = _LAST_WORD.search(name)
    last = word[0].lower() if word else ""
    return last in _PATHS or (last in _ENDS and _OF_FILES.search(tool) is not None)


def _beyond(path: str, values: Sequence[Any]) -> str | None:
    """Return what a path of an answer tells beyond the values of its call; None where it tells nothing.

    >>> _beyond("/home/a.txt", ["a.txt"]), _beyond("/home", ["a.txt"]), _beyond("/home", ["/home"])
    ('/home', '/home', None)
    """
    given = [value.lstrip("/") for value in values if isinstance(value, str)]
    ends = [value for value in given if value and path.endswith(f"/{value}")]
    return path.removesuffix(max(ends, key=len)).rstrip("/") or None if ends else path


def _is_folder(path: str) -> bool:
    return posixpath.splitext(path)[1] == ""


def _below(listing: Any, folder: str) -> Iterator[str]:
    """Yield the paths of what a listing of a folder names, and of what it holds in turn.

    >>> list(_below([{"name": "src", "children": [{"name": "a.py"}]}, "README.md"], "/home"))
    ['/home/src', '/home/src/a.py', '/home/README.md']
    """
    match listing:
        case dict():
            name = listing.get("name")
            path = f"{folder.rstrip('/')}/{name}" if isinstance(name, str) and "/" not in name else folder
            if path != folder:
                yield path
            for inner in listing.values():
                if isinstance(inner, dict | list):
                    yield from _below(inner, path)
        case list():
            for inner in listing:
                yield from _below(inner, folder)
        case str() if _NAME.fullmatch(listing):
            yield f"{folder.rstrip('/')}/{listing}"
