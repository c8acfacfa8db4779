"""`tar`, over the files of the sandbox, with its entries in the order of their names.

Python's `tarfile` writes and reads the archives; options, messages and listings are those of GNU tar.
"""

from __future__ import annotations

import fnmatch
import io
import tarfile
from collections.abc import Iterator
from datetime import UTC, datetime

from bashkit import BuiltinContext, BuiltinResult

from agentworld_gym.domains.terminal.engine.builtins.common import (
    CommandUsageError,
    FileTree,
    mode_bits,
    mode_text,
    options,
)
from agentworld_gym.domains.terminal.engine.context import ShellContext

_SHORT = "cxtruvzjJf:C:kphOaPm"
_LONG = {
    "create": "c",
    "extract": "x",
    "get": "x",
    "list": "t",
    "append": "r",
    "verbose": "v",
    "gzip": "z",
    "bzip2": "j",
    "xz": "J",
    "file=": "f",
    "directory=": "C",
    "exclude=": "exclude",
    "strip-components=": "strip",
    "to-stdout": "O",
    "keep-old-files": "k",
    "wildcards": "wildcards",
}
_TRY = "Try 'tar --help' or 'tar --usage' for more information.\n"
_FAILED = "tar: Exiting with failure status due to previous errors\n"
_FATAL = "tar: Error is not recoverable: exiting now\n"
_TYPES = {"file": tarfile.REGTYPE, "directory": tarfile.DIRTYPE, "symlink": tarfile.SYMTYPE}


class _Fatal(Exception):
    """An error that ends the run at once."""


def tar(context: ShellContext, call: BuiltinContext) -> str | BuiltinResult:
    """`tar`: creates, appends, lists and extracts archives, plain or compressed."""
    argv = list(call.argv)
    if argv and not argv[0].startswith("-"):
        argv = _old_style(argv)
    try:
        flags, operands = options("tar", argv, _SHORT, _LONG, status=2)
    except CommandUsageError as usage:
        text = str(usage).replace("Try 'tar --help' for more information.\n", _TRY)
        return BuiltinResult("", text, 64 if "requires" in text else 2)
    run = _Tar(context, call, flags, operands)
    try:
        run.go()
    except _Fatal as fatal:
        run.errors.append(str(fatal))
        return BuiltinResult("".join(run.out), "".join(run.errors), 2)
    except (tarfile.TarError, OSError, EOFError):
        run.errors.append("tar: This does not look like a tar archive\n" + _FAILED)
        return BuiltinResult("".join(run.out), "".join(run.errors), 2)
    if run.failed or run.spoiled:
        run.errors.append(run.spoiled or _FAILED)
    return BuiltinResult("".join(run.out), "".join(run.errors), 2 if run.failed or run.spoiled else 0)


def _old_style(argv: list[str]) -> list[str]:
    """Return an old-style command line such as `tar czf x.tgz -C d .` as options, each followed by its argument."""
    letters, rest = argv[0], argv[1:]
    words: list[str] = []
    for letter in letters:
        words.append(f"-{letter}")
        if letter in "fC" and rest:
            words.append(rest.pop(0))
    return words + rest


class _Tar:
    def __init__(
        self, context: ShellContext, call: BuiltinContext, flags: list[tuple[str, str]], operands: list[str]
    ) -> None:
        self.context, self.tree = context, FileTree(context, call)
        self.flags = flags
        self.chosen = dict(flags)
        self.operands = operands
        self.base = self.tree.path(self.chosen["C"]) if "C" in self.chosen else call.cwd
        self.out: list[str] = []
        self.errors: list[str] = []
        self.failed = False
        self.spoiled = ""

    def go(self) -> None:
        modes = [option for option, _ in self.flags if option in ("c", "x", "t", "r", "u")]
        if not modes:
            raise _Fatal(f"tar: You must specify one of the '-Acdtrux', '--delete' or '--test-label' options\n{_TRY}")
        if len(set(modes)) > 1:
            raise _Fatal(
                f"tar: You may not specify more than one '-Acdtrux', '--delete' or  '--test-label' option\n{_TRY}"
            )
        if "f" not in self.chosen or self.chosen["f"] == "-":
            raise _Fatal(
                f"tar: Refusing to read or write archive contents on a terminal (missing -f option?)\n{_FATAL}"
            )
        if "C" in self.chosen and not self.tree.is_directory(self.base):
            raise _Fatal(f"tar: {self.chosen['C']}: Cannot open: {self.tree.why_missing(self.base)}\n{_FATAL}")
        self.archive = self.tree.path(self.chosen["f"])
        {"c": self.create, "r": self.append, "u": self.append, "x": self.extract, "t": self.list}[modes[0]]()

    def open_archive(self) -> tarfile.TarFile:
        metadata = self.tree.target(self.archive)
        name = self.chosen["f"]
        if metadata is None or metadata["file_type"] == "directory":
            why = "Cannot read: Is a directory" if metadata else f"Cannot open: {self.tree.why_missing(self.archive)}"
            raise _Fatal(f"tar: {name}: {why}\n{_FATAL}")
        data = bytes(self.tree.files.read_file(self.archive))
        if data and not any(data):
            raise _Fatal("")
        if "z" in self.chosen and data[:2] != b"\x1f\x8b":
            raise _Fatal(f"\ngzip: stdin: not in gzip format\ntar: Child returned status 1\n{_FATAL}")
        if data[:2] == b"\x1f\x8b" and _trailing(data):
            ignored = "\ngzip: stdin: decompression OK, trailing garbage ignored\n"
            self.spoiled = f"{ignored}tar: Child returned status 2\n{_FATAL}"
        return tarfile.open(fileobj=io.BytesIO(data))

    def create(self) -> None:
        if not self.operands:
            raise _Fatal(f"tar: Cowardly refusing to create an empty archive\n{_TRY}")
        name = self.chosen["f"]
        packed = next((m for letter, m in (("z", "gz"), ("j", "bz2"), ("J", "xz")) if letter in self.chosen), "")
        if "a" in self.chosen:
            packed = "gz" if name.endswith(("gz", "tgz")) else "xz" if name.endswith("xz") else packed
        if not self.tree.is_directory(self.archive.rpartition("/")[0] or "/"):
            raise _Fatal(f"tar: {name}: Cannot open: {self.tree.why_missing(self.archive)}\n{_FATAL}")
        self.write([], packed)

    def append(self) -> None:
        with self.open_archive() as old:
            members = [(member, old.extractfile(member)) for member in old.getmembers()]
            kept = [(member, data.read() if data else b"") for member, data in members]
        self.write(kept, "")

    def write(self, kept: list[tuple[tarfile.TarInfo, bytes]], packed: str) -> None:
        raw = io.BytesIO()
        with tarfile.open(fileobj=raw, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for member, data in kept:
                archive.addfile(member, io.BytesIO(data))
            for operand in self.operands:
                for member, data in self.members(operand):
                    archive.addfile(member, io.BytesIO(data))
                    if "v" in self.chosen:
                        self.out.append(self.member_label(member) + "\n")
        self.tree.files.write_file(self.archive, _packed(raw.getvalue(), packed))

    def members(self, operand: str) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
        path = operand if operand.startswith("/") else f"{self.base.rstrip('/')}/{operand}"
        path = self.tree.path(path)
        if self.tree.entry(path) is None:
            self.errors.append(f"tar: {operand}: Cannot stat: {self.tree.why_missing(path)}\n")
            self.failed = True
            return
        name = operand.rstrip("/") or "/"
        if name.startswith("/"):
            self.errors.append("tar: Removing leading `/' from member names\n")
            name = name.lstrip("/")
        yield from self.below(name, path)

    def below(self, name: str, path: str) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
        metadata = self.tree.entry(path)
        if metadata is None or any(_matches(name, p) for o, p in self.flags if o == "exclude"):
            return
        if path == self.archive:
            self.errors.append(f"tar: {name}: file is the archive; not dumped\n")
            return
        kind = metadata["file_type"]
        data = bytes(self.tree.files.read_file(path)) if kind == "file" else b""
        member = tarfile.TarInfo(name)
        member.type = _TYPES.get(kind, tarfile.REGTYPE)
        member.size, member.mode = len(data), mode_bits(metadata)
        member.mtime = int(self.tree.modified(metadata))
        member.uname = member.gname = self.tree.owner(path)
        member.uid = member.gid = 0 if member.uname == "root" else self.context.uid
        if kind == "symlink":
            member.linkname = self.tree.link(path)
        yield member, data
        if kind == "directory":
            for child in self.tree.listing(path) or ():
                yield from self.below(f"{name}/{child}", f"{path.rstrip('/')}/{child}")

    def chosen_members(self, archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
        wanted = [operand.rstrip("/") for operand in self.operands]
        seen: set[str] = set()
        for member in archive:
            name = member.name.rstrip("/")
            hits = [
                w
                for w in wanted
                if name == w
                or name.startswith(w + "/")
                or ("wildcards" in self.chosen and fnmatch.fnmatchcase(name, w))
            ]
            seen.update(hits)
            if (hits or not wanted) and not any(_matches(name, p) for o, p in self.flags if o == "exclude"):
                yield member
        for operand, want in zip(self.operands, wanted, strict=True):
            if want not in seen:
                self.errors.append(f"tar: {operand}: Not found in archive\n")
                self.failed = True

    def list(self) -> None:
        with self.open_archive() as archive:
            self.out.extend(self.member_label(member) + "\n" for member in self.chosen_members(archive))

    def member_label(self, member: tarfile.TarInfo) -> str:
        name = member.name + ("/" if member.isdir() and not member.name.endswith("/") else "")
        if "v" not in self.chosen or ("t" not in self.chosen and sum(o == "v" for o, _ in self.flags) < 2):
            return name
        kind = "directory" if member.isdir() else "symlink" if member.issym() else "file"
        mode = mode_text({"file_type": kind, "mode": member.mode})
        owner = f"{member.uname}/{member.gname}"
        when = datetime.fromtimestamp(member.mtime, UTC).strftime("%Y-%m-%d %H:%M")
        name += f" -> {member.linkname}" if member.issym() else ""
        return f"{mode} {owner} {member.size:>{max(18 - len(owner), 1)}} {when} {name}"

    def extract(self) -> None:
        strip = int(self.chosen["strip"]) if self.chosen.get("strip", "").isdigit() else 0
        with self.open_archive() as archive:
            for member in self.chosen_members(archive):
                parts = [part for part in member.name.split("/") if part not in ("", ".")][strip:]
                if ".." in parts:
                    self.errors.append(f"tar: {member.name}: Member name contains '..', skipping\n")
                    self.failed = True
                    continue
                if "v" in self.chosen:
                    self.out.append(self.member_label(member) + "\n")
                path = "/".join([self.base.rstrip("/"), *parts])
                if parts:
                    self.place(archive, member, path)

    def place(self, archive: tarfile.TarFile, member: tarfile.TarInfo, path: str) -> None:
        source = archive.extractfile(member) if member.isfile() else None
        data = source.read() if source else b""
        if "O" in self.chosen:
            self.out.append(data.decode("utf-8", "replace"))
            return
        tree, files = self.tree, self.tree.files
        existing = tree.entry(path)
        if member.isdir():
            if existing is None:
                files.mkdir(path, recursive=True)
                files.chmod(path, member.mode & 0o777)
                tree.forget(path)
            return
        if existing is not None and "k" in self.chosen:
            self.errors.append(f"tar: {member.name}: Cannot open: File exists\n")
            self.failed = True
            return
        if existing is not None:
            files.remove(path, recursive=True)
        files.mkdir(path.rpartition("/")[0] or "/", recursive=True)
        if member.issym():
            files.symlink(member.linkname, path)
        else:
            files.write_file(path, data)
            if member.mode & 0o777 != 0o644:
                tree.chmod(path, member.mode & 0o777)
            if "m" not in self.chosen:
                self.context.times[path] = float(member.mtime)
        tree.forget(path)


def _matches(name: str, pattern: str) -> bool:
    return any(fnmatch.fnmatchcase(part, pattern) for part in (name, *name.split("/")))


def _trailing(data: bytes) -> bool:
    """Return whether bytes follow gzip's own data that are neither more gzip data nor zeros."""
    import zlib

    unpacked = zlib.decompressobj(wbits=31)
    try:
        unpacked.decompress(data)
    except zlib.error:
        return False
    rest = unpacked.unused_data
    return any(rest) and rest[:2] != b"\x1f\x8b"


def _packed(data: bytes, packed: str) -> bytes:
    if packed == "gz":
        import gzip

        return gzip.compress(data, mtime=0)
    if packed == "bz2":
        import bz2

        return bz2.compress(data)
    if packed == "xz":
        import lzma

        return lzma.compress(data)
    return data


COMMANDS = {"tar": tar}
