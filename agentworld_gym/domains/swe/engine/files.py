"""The files of an episode: plain data that is copied when something changes and never before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from posixpath import normpath

from agentworld_gym.domains.swe.engine.state import parents

READ_ONLY = 0o444
MAX_FILES = 2_000
MAX_CHARS = 8_000_000


class DiskFull(Exception):
    """There are more files, or longer ones, than an episode may hold."""


@dataclass(frozen=True, slots=True)
class File:
    """A file: its text, the time of its last change, and its permissions.

    Bytes that are not UTF-8 are lone surrogates in the text.
    """

    text: str
    mtime: int
    mode: int = 0o644

    @property
    def writable(self) -> bool:
        """Whether the owner may write to the file."""
        return bool(self.mode & 0o200)

    @property
    def display_text(self) -> str:
        """The text, or a note in place of bytes that are not text."""
        try:
            self.text.encode()
        except UnicodeEncodeError:
            return f"<{len(self.text.encode('utf-8', 'surrogateescape'))} bytes that are no text>"
        return self.text


class Files:
    """Files by absolute path, and folders that exist without any file in them.

    >>> files = Files({"/repo/a.py": File("x\\n", 0)})
    >>> twin = files.copy()
    >>> twin.write("/repo/b/c.py", "y\\n", 1)
    >>> sorted(twin), sorted(files), twin.names("/repo")
    (['/repo/a.py', '/repo/b/c.py'], ['/repo/a.py'], (['b'], ['a.py']))
    """

    def __init__(self, files: Mapping[str, File], folders: Iterable[str] = ()) -> None:
        self._files = dict(files)
        self._folders = frozenset(folders)
        self._above: frozenset[str] | None = None

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __contains__(self, path: object) -> bool:
        return path in self._files

    def __getitem__(self, path: str) -> File:
        return self._files[path]

    def get(self, path: str) -> File | None:
        """Return the file at a path, or `None` if there is none."""
        return self._files.get(path)

    def items(self) -> Iterable[tuple[str, File]]:
        """Return the paths with their files."""
        return self._files.items()

    @property
    def folders(self) -> frozenset[str]:
        """Every folder: those above a file and the empty ones."""
        if self._above is None:
            above = {parent for path in self._files for parent in parents(path)}
            for folder in self._folders:
                above.update((folder, *parents(folder)))
            self._above = frozenset(above)
        return self._above

    def is_folder(self, path: str) -> bool:
        """Return whether there is a folder at a path."""
        return path in self.folders or path == "/"

    @property
    def kept_folders(self) -> frozenset[str]:
        """The folders that stay where nothing is in them."""
        return self._folders

    def names(self, folder: str) -> tuple[list[str], list[str]]:
        """Return the names of the folders and of the files in a folder, each sorted."""
        start = folder.rstrip("/") + "/"
        inside = (path[len(start) :] for path in self._files if path.startswith(start))
        files = sorted(name for name in inside if "/" not in name)
        below = {path[len(start) :].partition("/")[0] for path in self.folders if path.startswith(start)}
        return sorted(below), files

    def below(self, folder: str) -> list[str]:
        """Return the paths of all files below a folder, sorted."""
        start = folder.rstrip("/") + "/"
        return sorted(path for path in self._files if path.startswith(start))

    def texts(self) -> dict[str, str]:
        """Return the texts by path."""
        return {path: file.text for path, file in self._files.items()}

    def write(self, path: str, text: str, mtime: int) -> None:
        """Write a file, whose permissions stay as they are.

        Raises:
            DiskFull: the episode would hold too much.
        """
        old = self._files.get(path)
        self.replace({**self._files, path: File(text, mtime, old.mode if old else 0o644)}, self._folders)

    def replace(self, files: Mapping[str, File], folders: Iterable[str]) -> None:
        """Replace all files and folders.

        Raises:
            DiskFull: the episode would hold too much.
        """
        if len(files) > MAX_FILES or sum(len(file.text) for file in files.values()) > MAX_CHARS:
            raise DiskFull
        self._files, self._folders, self._above = dict(files), frozenset(folders), None

    def copy(self) -> Files:
        """Return an exact copy."""
        twin = object.__new__(Files)
        twin._files, twin._folders, twin._above = self._files, self._folders, self._above
        return twin


def absolute(path: str, folder: str = "/") -> str:
    """Return an absolute path without dots; a relative path starts at the folder.

    >>> absolute("../b.py", "/repo/a"), absolute("//x/./y/")
    ('/repo/b.py', '/x/y')
    """
    return "/" + normpath(path if path.startswith("/") else f"{folder}/{path}").lstrip("/")


def relative(path: str, root: str) -> str:
    """Return a path relative to the root of the repository, or unchanged where it does not lie below the root.

    >>> relative("/repo/a/b.py", "/repo"), relative("/repo", "/repo"), relative("/tmp/x", "/repo")
    ('a/b.py', '.', '/tmp/x')
    """
    if path == root:
        return "."
    return path[len(root) + 1 :] if path.startswith(root + "/") else path
