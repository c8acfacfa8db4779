"""The file system of a desktop: one tree of plain data that all programs share."""

from __future__ import annotations

import errno
import os
import posixpath
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

HOME = "/home/user"
TRASH = f"{HOME}/.local/share/Trash/files"
STANDARD = ("Desktop", "Documents", "Downloads", "Music", "Pictures", "Videos")
SYSTEM = ("/", "/etc", "/home", "/opt", "/usr", "/usr/bin", "/usr/share", "/var")

MAX_NODES = 500
MAX_NAME = 255
MAX_PATH = 1_000
MAX_FILE = 200_000
MAX_TOTAL = 2_000_000
MAX_TIME = 4_102_444_800.0
"""The latest time of any clock: the year 2100."""


class FileNode(NamedTuple):
    """A file, or a folder where `content` is None. `mode` holds its permissions, `modified` its time in seconds."""

    content: str | None
    mode: int
    modified: float

    @property
    def size(self) -> int:
        """The size of a file in bytes; 0 for a folder."""
        return len(self.content.encode("utf-8", "replace")) if self.content else 0


class FileSystem:
    """Files by absolute path. An impossible operation raises the `OSError` that Python would raise.

    >>> files = FileSystem(now=0.0)
    >>> files.write("/home/user/a.txt", "milk")
    >>> files.move("/home/user/a.txt", "/home/user/Documents/b.txt")
    >>> files.names("/home/user/Documents"), files.read("/home/user/Documents/b.txt")
    (('b.txt',), 'milk')
    """

    def __init__(self, now: float) -> None:
        self.now = now
        self.version = 0
        self.nodes: dict[str, FileNode] = {path: FileNode(None, 0o555, now) for path in SYSTEM}
        self.trashed: dict[str, str] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self._total = 0
        for path in ("/tmp", HOME, *(f"{HOME}/{name}" for name in STANDARD)):
            self.nodes[path] = FileNode(None, 0o755, now)

    def copy(self) -> FileSystem:
        """Return an exact copy."""
        twin = object.__new__(FileSystem)
        twin.now, twin.version, twin._total = self.now, self.version, self._total
        twin.nodes, twin.trashed, twin._names = dict(self.nodes), dict(self.trashed), dict(self._names)
        return twin

    def fields(self) -> dict[str, Any]:
        """Return all that the file system is, as plain values: the time, the files, and the origins of the trash."""
        return {"now": self.now, "version": self.version, "trashed": dict(self.trashed), "nodes": dict(self.nodes)}

    def restore_from(self, fields: Mapping[str, Any]) -> None:
        """Become the file system of these fields, the inverse of `fields`."""
        self.now, self.version, self.trashed = fields["now"], fields["version"], dict(fields["trashed"])
        self.nodes = {path: FileNode(*parts) for path, parts in fields["nodes"].items()}
        self._total = sum(len(node.content or "") for node in self.nodes.values())
        self._names = {}

    def exists(self, path: str) -> bool:
        """Return whether a file or a folder exists."""
        return path in self.nodes

    def is_folder(self, path: str) -> bool:
        """Return whether a folder exists."""
        node = self.nodes.get(path)
        return node is not None and node.content is None

    def node(self, path: str) -> FileNode:
        """Return the file or folder of a path.

        Raises:
            FileNotFoundError: The path does not exist.
        """
        node = self.nodes.get(path)
        if node is None:
            raise _error(errno.ENOENT, path)
        return node

    def names(self, folder: str) -> tuple[str, ...]:
        """Return the names in a folder, sorted.

        Raises:
            FileNotFoundError: The path does not exist.
            NotADirectoryError: The path is a file.
        """
        if self.node(folder).content is not None:
            raise _error(errno.ENOTDIR, folder)
        names = self._names.get(folder)
        if names is None:
            start = folder.rstrip("/") + "/"
            length = len(start)
            names = tuple(
                sorted(
                    p[length:] for p in self.nodes if len(p) > length and p.startswith(start) and "/" not in p[length:]
                )
            )
            self._names[folder] = names
        return names

    def read(self, path: str) -> str:
        """Return the text of a file.

        Raises:
            OSError: The file does not exist, or may not be read.
        """
        node = self.node(path)
        if node.content is None:
            raise _error(errno.EISDIR, path)
        if not node.mode & 0o400:
            raise _error(errno.EACCES, path)
        return node.content

    def write(self, path: str, text: str) -> None:
        """Write a text into a file, which is made where it does not exist.

        Raises:
            OSError: The folder is missing, writing is not permitted, or the disk is full.
        """
        text = clean(text)
        node = self.nodes.get(path)
        if node is None:
            self._room(path, len(text))
            mode = 0o644
        else:
            if node.content is None:
                raise _error(errno.EISDIR, path)
            if not node.mode & 0o200:
                raise _error(errno.EACCES, path)
            self._space(path, len(text) - len(node.content), len(text))
            mode = node.mode
            self._total -= len(node.content)
        self._total += len(text)
        self._set(path, FileNode(text, mode, self.now))

    def make_folder(self, path: str) -> None:
        """Make a folder.

        Raises:
            OSError: The path exists, its parent is missing, or it is not permitted.
        """
        if path in self.nodes:
            raise _error(errno.EEXIST, path)
        self._room(path, 0)
        self._set(path, FileNode(None, 0o755, self.now))

    def move(self, source: str, target: str) -> None:
        """Move or rename a file or a folder with its content; a file at the target is replaced.

        Raises:
            OSError: The source is missing, the target is a folder or lies within the source, or it is not permitted.
        """
        node = self.node(source)
        self._permit(source)
        if source == target:
            return
        if target.startswith(source + "/"):
            raise _error(errno.EINVAL, source, target)
        there = self.nodes.get(target)
        if there is not None and (there.content is None or node.content is None):
            raise _error(errno.EISDIR if there.content is None else errno.ENOTDIR, source, target)
        if there is None:
            self._room(target, 0, adds=0)
        self._permit(target)
        self._forget(target)
        for path in self.within(source):
            self.nodes[target + path[len(source) :]] = self.nodes.pop(path)
        self._changed()

    def copy_to(self, source: str, target: str) -> None:
        """Copy a file or a folder with its content.

        Raises:
            OSError: The source is missing or unreadable, the target exists or lies in the source, or the disk is full.
        """
        if target in self.nodes:
            raise _error(errno.EEXIST, target)
        self.node(source)
        if target.startswith(source + "/"):
            raise _error(errno.EINVAL, source, target)
        paths = self.within(source)
        if any(not self.nodes[path].mode & 0o400 for path in paths):
            raise _error(errno.EACCES, source)
        chars = sum(len(self.nodes[path].content or "") for path in paths)
        self._room(target, chars, adds=len(paths))
        for path in paths:
            self.nodes[target + path[len(source) :]] = self.nodes[path]._replace(modified=self.now)
        self._total += chars
        self._changed()

    def remove(self, path: str, tree: bool = False) -> None:
        """Remove a file or an empty folder; with `tree`, a folder with its content.

        Raises:
            OSError: The path is missing or not empty, or it is not permitted.
        """
        node = self.node(path)
        self._permit(path)
        if node.content is None and not tree and self.names(path):
            raise _error(errno.ENOTEMPTY, path)
        for inner in self.within(path):
            self._forget(inner)
        self.trashed.pop(path, None)
        self._changed()

    def erase(self, path: str) -> None:
        """Remove a file or a folder with its content.

        Raises:
            OSError: The path is missing, or it is not permitted.
        """
        self.remove(path, tree=True)

    def trash(self, path: str) -> str:
        """Move a file or a folder to the trash, and return its path there.

        Raises:
            OSError: The path is missing, or it is not permitted.
        """
        self.node(path)
        folder = ""
        for part in TRASH.split("/")[1:]:
            folder += f"/{part}"
            if folder not in self.nodes:
                self._set(folder, FileNode(None, 0o755, self.now))
        target = self.free(f"{TRASH}/{posixpath.basename(path)}")
        self.move(path, target)
        self.trashed[target] = path
        return target

    def restore(self, path: str) -> str:
        """Move a file or a folder from the trash back to its place, and return that.

        Raises:
            OSError: The path is missing, or its place is taken or gone.
        """
        target = self.trashed.get(path, f"{HOME}/{posixpath.basename(path)}")
        if target in self.nodes:
            raise _error(errno.EEXIST, target)
        self.move(path, target)
        self.trashed.pop(path, None)
        return target

    def chmod(self, path: str, mode: int) -> None:
        """Set the permissions of a file or a folder.

        Raises:
            OSError: The path is missing or belongs to the system.
        """
        node = self.node(path)
        if path in SYSTEM:
            raise _error(errno.EPERM, path)
        self._set(path, node._replace(mode=mode & 0o777))

    def free(self, path: str) -> str:
        """Return a path that does not exist yet, numbered as a file manager does: `a.txt`, `a (1).txt`, `a (2).txt`.

        >>> files = FileSystem(now=0.0)
        >>> files.write("/tmp/a.txt", ""), files.free("/tmp/a.txt")
        (None, '/tmp/a (1).txt')
        """
        start, ending = posixpath.splitext(path)
        number = 0
        while path in self.nodes:
            number += 1
            path = f"{start} ({number}){ending}"
        return path

    def within(self, path: str) -> list[str]:
        """Return a path and all paths below it."""
        start = path.rstrip("/") + "/"
        return [name for name in self.nodes if name == path or name.startswith(start)]

    def place(self, path: str, content: str | None, mode: int, modified: float) -> None:
        """Make a file or a folder, with the folders above it, whatever the permissions are.

        Raises:
            OSError: The path is impossible, or the disk is full.
        """
        for folder in reversed(list(_above(path))):
            if folder not in self.nodes:
                self.nodes[folder] = FileNode(None, 0o755, self.now)
            elif self.nodes[folder].content is not None:
                raise _error(errno.ENOTDIR, path)
        if content is not None and self.is_folder(path):
            raise _error(errno.EISDIR, path)
        self._space(path, len(content or ""), len(content or ""))
        self._forget(path)
        self._total += len(content or "")
        modified = min(max(modified, 0.0), MAX_TIME)
        self._set(path, FileNode(None if content is None else clean(content), mode, modified))

    def vanish(self, path: str) -> None:
        """Remove a path and all paths below it, whatever the permissions are."""
        for inner in self.within(path):
            self._forget(inner)
            self.trashed.pop(inner, None)
        self._changed()

    def _room(self, path: str, chars: int, adds: int = 1) -> None:
        """Raise an error where a path may not be made."""
        folder, _, name = path.rpartition("/")
        folder = folder or "/"
        if not name or name in (".", "..") or "\0" in path:
            raise _error(errno.EINVAL, path)
        if len(name.encode("utf-8", "replace")) > MAX_NAME or len(path) > MAX_PATH:
            raise _error(errno.ENAMETOOLONG, path)
        if self.node(folder).content is not None:
            raise _error(errno.ENOTDIR, path)
        self._permit(path)
        if len(self.nodes) + adds > MAX_NODES:
            raise _error(errno.ENOSPC, path)
        self._space(path, chars, chars)

    def _space(self, path: str, more: int, chars: int) -> None:
        if chars > MAX_FILE or self._total + more > MAX_TOTAL:
            raise _error(errno.ENOSPC, path)

    def _permit(self, path: str) -> None:
        """Raise an error where the folder of a path may not be changed."""
        if path in SYSTEM or not self.node(path.rpartition("/")[0] or "/").mode & 0o200:
            raise _error(errno.EACCES, path)

    def _forget(self, path: str) -> None:
        node = self.nodes.pop(path, None)
        if node is not None:
            self._total -= len(node.content or "")

    def _set(self, path: str, node: FileNode) -> None:
        self.nodes[path] = node
        self._changed()

    def _changed(self) -> None:
        self.version += 1
        self._names.clear()


def absolute(path: str, folder: str = HOME) -> str:
    """Return a path without `.`, `..`, `~` and doubled slashes.

    >>> absolute("~/Documents/../a.txt"), absolute("b.txt", "/tmp"), absolute("file:///etc")
    ('/home/user/a.txt', '/tmp/b.txt', '/etc')
    """
    path = clean(path.removeprefix("file://")[: MAX_PATH * 2])
    if path == "~" or path.startswith("~/"):
        path = HOME + path[1:]
    return posixpath.normpath("/" + posixpath.join(folder, path).lstrip("/"))


def clean(text: str) -> str:
    """Return a text that can be encoded: without lone surrogates.

    >>> clean("a\\ud800b")
    'a?b'
    """
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def error_reason(error: OSError) -> str:
    """Return the words of a dialog about an error.

    >>> error_reason(PermissionError(13, "Permission denied", "/etc/hosts"))
    'Permission denied'
    """
    return error.strerror or str(error)


def _above(path: str) -> Iterable[str]:
    while path != "/":
        path = path.rpartition("/")[0] or "/"
        yield path


def _error(number: int, path: str, other: str | None = None) -> OSError:
    return (
        OSError(number, os.strerror(number), path, None, other) if other else OSError(number, os.strerror(number), path)
    )
