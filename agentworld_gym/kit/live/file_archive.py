"""The files of a sandbox at one moment, as an archive."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from agentworld_gym.base.fingerprint import digest_of
from agentworld_gym.core.engines import EngineError, Scalar

LONGEST_TEXT = 100_000
"""How many bytes of a file are told as its text; of a longer one only its size and a digest."""


NO_LINKS: Mapping[str, bytes] = MappingProxyType({})

TOLD_CHARS = 60_000
"""How many characters of files are told to a language world that plays the system."""


class ArchivedFile(NamedTuple):
    """One file, folder or link of an archive."""

    path: str
    """The absolute path."""

    kind: str
    """`file`, `folder` or `link`."""

    mode: int
    """The permissions."""

    data: bytes
    """The content of a file, or the target of a link."""


class FileArchive:
    """The files of a sandbox: an archive in the format of tar, whose paths begin at the root.

    Args:
        data: The bytes of the archive.

    >>> archive = FileArchive.of({"/home/user/a.txt": "hi"})
    >>> archive.state()
    {'/home/user/a.txt': 'hi'}
    """

    def __init__(self, data: bytes) -> None:
        self.data = data

    @classmethod
    def of(cls, texts: dict[str, str]) -> FileArchive:
        """Return an archive of some texts by their absolute paths."""
        return cls.of_files({path: (text.encode("utf-8", "surrogateescape"), 0o644) for path, text in texts.items()})

    @classmethod
    def of_files(cls, files: Mapping[str, tuple[bytes, int]], links: Mapping[str, bytes] = NO_LINKS) -> FileArchive:
        """Return an archive of some files and links by their absolute paths: the content and the permissions of each,
        and their targets.
        """
        held, now = io.BytesIO(), int(time.time())
        with tarfile.open(fileobj=held, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for path, (data, mode) in files.items():
                info = tarfile.TarInfo(path.lstrip("/"))
                info.size, info.mode, info.mtime = len(data), mode, now
                archive.addfile(info, io.BytesIO(data))
            for path, target in links.items():
                info = tarfile.TarInfo(path.lstrip("/"))
                info.type, info.linkname, info.mtime = tarfile.SYMTYPE, target.decode("utf-8", "surrogateescape"), now
                archive.addfile(info)
        return cls(held.getvalue())

    @classmethod
    def of_folder(cls, folder: Path, inside: str, most: int) -> FileArchive:
        """Return an archive of a folder of this machine.

        Args:
            folder: The folder. Links in it stay links.
            inside: The absolute path that it has in the archive.
            most: How many bytes it may hold.

        Raises:
            EngineError: It holds more.
            OSError: It cannot be read.
        """
        held, size = io.BytesIO(), 0

        def plain(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
            nonlocal size
            size += info.size
            if size > most:
                told = f"{folder} holds more than {most >> 20} MiB, the limit of a session's files"
                raise EngineError(f"{told}; see the key limits.disk_mb")
            return info if info.isfile() or info.isdir() or info.issym() or info.islnk() else None

        with tarfile.open(fileobj=held, mode="w", format=tarfile.GNU_FORMAT) as archive:
            archive.add(folder, inside.lstrip("/"), filter=plain)
        return cls(held.getvalue())

    def with_modes(self, modes: Mapping[str, int]) -> FileArchive:
        """Return the archive with other permissions.

        Args:
            modes: The permissions by path from the root, without a slash before it.

        >>> archive = FileArchive.of({"/home/user/a.txt": "hi"}).with_modes({"home/user/a.txt": 0})
        >>> archive.state()["/home/user/a.txt#mode"]
        '0'
        """
        held = io.BytesIO()
        with (
            tarfile.open(fileobj=io.BytesIO(self.data), mode="r:") as given,
            tarfile.open(fileobj=held, mode="w", format=tarfile.GNU_FORMAT) as archive,
        ):
            for info in given:
                info.mode = modes.get(info.name.strip("/"), info.mode)
                archive.addfile(info, given.extractfile(info) if info.isfile() else None)
        return FileArchive(held.getvalue())

    def descriptor(self) -> int:
        """Return a descriptor from which the archive can be read, which the caller closes."""
        number = os.memfd_create("agentworld-live")
        view = memoryview(self.data)
        while view:
            view = view[os.write(number, view) :]
        os.lseek(number, 0, os.SEEK_SET)
        return number

    def entries(self) -> Iterator[ArchivedFile]:
        """Yield all that lies in the archive.

        Raises:
            EngineError: It is no archive.
        """
        try:
            with tarfile.open(fileobj=io.BytesIO(self.data), mode="r:") as archive:
                for info in archive:
                    path = "/" + info.name.strip("/")
                    if info.isdir():
                        yield ArchivedFile(path, "folder", info.mode, b"")
                    elif info.issym():
                        yield ArchivedFile(path, "link", info.mode, info.linkname.encode("utf-8", "surrogateescape"))
                    elif info.isfile() or info.islnk():
                        file = archive.extractfile(info)
                        yield ArchivedFile(path, "file", info.mode, b"" if file is None else file.read())
        except (tarfile.TarError, OSError, KeyError, ValueError) as error:
            raise EngineError(f"the files of the sandbox cannot be read: {error}") from error

    def texts(self, below: str = "/") -> dict[str, str]:
        """Return the texts below a folder by path, as many as a language world is told; those of git are left out."""
        told, chars = dict[str, str](), 0
        for entry in self.entries():
            if entry.kind != "file" or not entry.path.startswith(below) or "/.git/" in entry.path:
                continue
            with suppress(UnicodeDecodeError):
                text = entry.data.decode("utf-8")
                chars += len(text) + len(entry.path)
                if chars > TOLD_CHARS:
                    break
                told[entry.path] = text
        return told

    def state(self) -> dict[str, Scalar]:
        """Return flat fields: texts of files by their paths, folders, links, and permissions that are not usual.

        The field of a binary file, or a long one, holds its length and a digest.
        """
        fields: dict[str, Scalar] = {}
        for entry in self.entries():
            if entry.kind == "folder":
                fields[f"{entry.path}/"] = True
                usual = 0o755
            elif entry.kind == "link":
                fields[f"{entry.path}#link"] = entry.data.decode("utf-8", "replace")
                continue
            else:
                fields[entry.path] = told_content(entry.data)
                usual = 0o644
            if entry.mode != usual and entry.path != "/tmp":
                fields[f"{entry.path}#mode"] = f"{entry.mode:o}"
        return fields

    @cached_property
    def digest(self) -> str:
        """The digest of all paths, contents and permissions, without times."""
        return digest_of([[entry.path, entry.kind, entry.mode, _short(entry.data)] for entry in self.entries()])


def told_content(data: bytes) -> str:
    """Return the text of a file, or its length and a digest where it is no text, or a long one.

    >>> told_content(b"hi"), told_content(b"\\xff")[:9]
    ('hi', '1 bytes, ')
    """
    if len(data) <= LONGEST_TEXT:
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            pass
    return f"{len(data)} bytes, {_short(data)[:8]}"


def _short(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
