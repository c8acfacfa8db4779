"""The files of a sandbox as the tools of a coding agent read and write them, without following links out of it.

Each part of a path is opened on its own and no link is followed by the kernel, so that a link that an agent made leads
to where it leads inside.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress

from agentworld_gym.domains.swe.engine.files import DiskFull, File, Files

_MOST_LINKS = 40
_MOST_BYTES = 8 << 20
"""The largest file that is read."""

_MOST_FILES = 20_000
"""How many files a search looks at."""

_PLACE = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


class SandboxFiles(Files):
    """The files below one folder of a sandbox.

    Args:
        pid: A process inside, whose root they lie below.
        root: The folder that searches begin with.
    """

    def __init__(self, pid: int, root: str) -> None:
        super().__init__({})
        self._pid, self._root = pid, root

    @contextmanager
    def _place(self, path: str) -> Iterator[int]:
        """Yield a descriptor of what lies at a path, links followed inside the sandbox.

        Raises:
            OSError: There is nothing.
        """
        opened = [os.open(f"/proc/{self._pid}/root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)]
        try:
            waiting, links = path.split("/")[::-1], 0
            while waiting:
                part = waiting.pop()
                if part in ("", "."):
                    continue
                if part == "..":
                    if len(opened) > 1:
                        os.close(opened.pop())
                    continue
                if len(opened) == 1 and part in ("proc", "dev"):
                    raise OSError("what the kernel tells is no file: this process may read more of it than one inside")
                number = os.open(part, _PLACE, dir_fd=opened[-1])
                if not stat.S_ISLNK(os.fstat(number).st_mode):
                    opened.append(number)
                    continue
                try:
                    target = os.readlink("", dir_fd=number)
                finally:
                    os.close(number)
                links += 1
                if links > _MOST_LINKS:
                    raise OSError("too many links")
                waiting += target.split("/")[::-1]
                if target.startswith("/"):
                    while len(opened) > 1:
                        os.close(opened.pop())
            yield opened[-1]
        finally:
            for number in opened:
                os.close(number)

    def _read(self, place: int) -> File | None:
        info = os.fstat(place)
        if not stat.S_ISREG(info.st_mode):
            return None
        number = os.open(f"/proc/self/fd/{place}", os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with open(number, "rb") as file:
            data = file.read(_MOST_BYTES)
        text = data.decode("utf-8", "surrogateescape")
        return File(text, int(info.st_mtime), stat.S_IMODE(info.st_mode))

    def get(self, path: str) -> File | None:
        """Return the file at a path; None where there is none."""
        with suppress(OSError, ValueError), self._place(path) as place:
            return self._read(place)
        return None

    def __getitem__(self, path: str) -> File:
        file = self.get(path)
        if file is None:  # It was removed since it was listed.
            return File("", 0)
        return file

    def __contains__(self, path: object) -> bool:
        with suppress(OSError, ValueError), self._place(str(path)) as place:
            return stat.S_ISREG(os.fstat(place).st_mode)
        return False

    def __iter__(self) -> Iterator[str]:
        return iter(self.below(self._root))

    def items(self) -> Iterable[tuple[str, File]]:
        """Return the paths with their files."""
        return ((path, self[path]) for path in self)

    def is_folder(self, path: str) -> bool:
        """Return whether there is a folder at a path."""
        with suppress(OSError, ValueError), self._place(path) as place:
            return stat.S_ISDIR(os.fstat(place).st_mode)
        return False

    def names(self, folder: str) -> tuple[list[str], list[str]]:
        """Return the names of the folders and of the files in a folder, each sorted."""
        folders, files = list[str](), list[str]()
        for name, is_folder in self._listed(folder):
            (folders if is_folder else files).append(name)
        return folders, files

    def _listed(self, folder: str) -> list[tuple[str, bool]]:
        with suppress(OSError, ValueError), self._place(folder) as place:
            number = os.open(f"/proc/self/fd/{place}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                with os.scandir(number) as entries:
                    return sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
            finally:
                os.close(number)
        return []

    def below(self, folder: str) -> list[str]:
        """Return the paths of all files below a folder, sorted, without those of git and caches."""
        found, waiting = list[str](), [folder.rstrip("/")]
        while waiting and len(found) < _MOST_FILES:
            here = waiting.pop()
            for name, is_folder in self._listed(here or "/"):
                if not is_folder:
                    found.append(f"{here}/{name}")
                elif name not in (".git", "__pycache__", ".pytest_cache"):
                    waiting.append(f"{here}/{name}")
        return sorted(found)

    def write(self, path: str, text: str, mtime: int) -> None:
        """Write a file, with missing folders; its permissions stay as they are.

        Raises:
            DiskFull: It cannot be written.
        """
        folder, _, name = path.rpartition("/")
        try:
            self._make(folder)
            with suppress(FileNotFoundError), self._place(path) as place:
                if stat.S_ISREG(os.fstat(place).st_mode):
                    self._fill(os.open(f"/proc/self/fd/{place}", os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC), text)
                    return
            with self._place(folder) as place:
                made = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                self._fill(os.open(name, made, 0o644, dir_fd=place), text)
        except (OSError, ValueError) as error:
            raise DiskFull from error

    def _fill(self, number: int, text: str) -> None:
        with open(number, "wb") as file:
            file.write(text.encode("utf-8", "surrogateescape"))

    def _make(self, folder: str) -> None:
        parts = folder.strip("/").split("/")
        for count in range(1, len(parts) + 1):
            here = "/" + "/".join(parts[:count])
            if not self.is_folder(here):
                with self._place(here.rpartition("/")[0] or "/") as place:
                    os.mkdir(parts[count - 1], 0o755, dir_fd=place)

    def replace(self, files: Mapping[str, File], folders: Iterable[str]) -> None:
        """Refuse: real files are written one by one."""
        raise NotImplementedError
