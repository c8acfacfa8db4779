"""What the commands written in Python share: options, paths, files and the form of an error."""

from __future__ import annotations

from collections.abc import Mapping
from posixpath import normpath
from stat import filemode
from typing import Any
from zlib import crc32

from bashkit import BuiltinContext, BuiltinResult

from agentworld_gym.domains.terminal.engine.context import ShellContext

MISSING = "No such file or directory"
KINDS = {"file": 0o100000, "directory": 0o040000, "symlink": 0o120000, "fifo": 0o010000}
_SYSTEM = ("/bin", "/dev", "/etc", "/proc", "/usr", "/root")

MAX_WIDTH = 10_000
"""The widest field that a command formats, in characters, as of the shell's own `printf`."""

Metadata = dict[str, Any]


class CommandUsageError(Exception):
    """The command refuses its command line."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status

    @property
    def result(self) -> BuiltinResult:
        """Return what the command prints in this case."""
        return BuiltinResult("", str(self), self.status)


def hint(name: str, message: str, status: int = 1) -> CommandUsageError:
    """Return an error that points to `--help`."""
    return CommandUsageError(f"{name}: {message}\nTry '{name} --help' for more information.\n", status)


def width_of(name: str, digits: str) -> int:
    """Return the width that the digits of a format ask for; none is 0.

    Args:
        name: The name of the command.
        digits: The digits.

    Raises:
        Usage: It is wider than `MAX_WIDTH`.

    >>> width_of("date", "12"), width_of("date", "")
    (12, 0)
    """
    if len(digits.lstrip("0")) > len(str(MAX_WIDTH)) or int(digits or 0) > MAX_WIDTH:
        raise CommandUsageError(f"{name}: memory exhausted\n")
    return int(digits or 0)


def options(
    name: str, argv: list[str], short: str, long: Mapping[str, str] = {}, status: int = 1
) -> tuple[list[tuple[str, str]], list[str]]:
    """Split arguments into options and operands as GNU getopt does.

    `long` maps long names to short ones; a name that ends with `=` takes an argument.

    >>> options("ls", ["x", "-la", "--all", "-w", "9"], "law:", {"all": "a"})
    ([('l', ''), ('a', ''), ('a', ''), ('w', '9')], ['x'])
    """
    flags: list[tuple[str, str]] = []
    operands: list[str] = []
    rest = iter(argv)
    for word in rest:
        if word == "--":
            operands.extend(rest)
        elif word.startswith("--"):
            key, equals, value = word[2:].partition("=")
            if key in long:
                flags.append((long[key], value))
            elif key + "=" in long:
                if not equals:
                    following = next(rest, None)
                    if following is None:
                        raise hint(name, f"option '--{key}' requires an argument", status)
                    value = following
                flags.append((long[key + "="], value))
            else:
                raise hint(name, f"unrecognized option '--{key}'", status)
        elif word.startswith("-") and len(word) > 1:
            letters = word[1:]
            while letters:
                letter, letters = letters[0], letters[1:]
                at = short.find(letter)
                if at < 0 or letter == ":":
                    raise hint(name, f"invalid option -- '{letter}'", status)
                if short[at + 1 : at + 2] != ":":
                    flags.append((letter, ""))
                    continue
                following = letters or next(rest, None)
                if following is None:
                    raise hint(name, f"option requires an argument -- '{letter}'", status)
                flags.append((letter, following))
                letters = ""
        else:
            operands.append(word)
    return flags, operands


class FileTree:
    """The files as one command sees them. Each directory is listed once, because listing is slow."""

    def __init__(self, context: ShellContext, call: BuiltinContext) -> None:
        self.context, self.cwd, self.files = context, call.cwd, call.fs
        self._listed: dict[str, dict[str, Metadata] | None] = {}

    def path(self, name: str) -> str:
        """Return the absolute path of an operand."""
        return "/" + normpath(f"{self.cwd}/{name}" if not name.startswith("/") else name).lstrip("/")

    def listing(self, path: str) -> dict[str, Metadata] | None:
        """Return the entries of a directory in order, or `None` if the path is not a directory."""
        if path not in self._listed:
            try:
                entries = self.files.read_dir(path)
            except (RuntimeError, OSError, ValueError):
                self._listed[path] = None
            else:
                self._listed[path] = {e["name"]: e["metadata"] for e in sorted(entries, key=lambda e: str(e["name"]))}
        return self._listed[path]

    def entry(self, path: str) -> Metadata | None:
        """Return the metadata of a path without following links, or `None` if nothing is there."""
        if path == "/":
            return {"file_type": "directory", "size": 0, "mode": 0o755, "modified": self.context.clock.start}
        folder, _, name = path.rpartition("/")
        return (self.listing(folder or "/") or {}).get(name)

    def target(self, path: str) -> Metadata | None:
        """Return the metadata of a path after following links, or `None` if nothing is there."""
        entry = self.entry(path)
        if entry is None or entry["file_type"] != "symlink":
            return entry
        try:
            return dict(self.files.stat(path))
        except (RuntimeError, OSError):
            return None

    def is_directory(self, path: str) -> bool:
        """Return whether a path leads to a directory."""
        target = self.target(path)
        return target is not None and target["file_type"] == "directory"

    def why_missing(self, path: str) -> str:
        """Return the reason why a path cannot be reached."""
        folder = path.rpartition("/")[0] or "/"
        target = self.target(folder)
        return "Not a directory" if target is not None and target["file_type"] != "directory" else MISSING

    def chmod(self, path: str, mode: int) -> None:
        """Set permissions, and remember unusual permissions of files."""
        self.files.chmod(path, mode)
        self.context.modes[path] = mode

    def forget(self, *paths: str) -> None:
        """Forget the cached listings of some paths and of the directories that hold them."""
        for path in paths:
            for stale in [p for p in self._listed if p == path or p.startswith(path + "/")]:
                del self._listed[stale]
            self._listed.pop(path.rpartition("/")[0] or "/", None)

    def link(self, path: str) -> str:
        """Return the target that a symbolic link names."""
        return str(self.files.read_link(path))

    def modified(self, metadata: Metadata) -> float:
        """Return the virtual time at which something was written."""
        return self.context.clock.virtual(float(metadata["modified"]))

    def size(self, path: str, metadata: Metadata) -> int:
        """Return the size in bytes as `ls` counts it."""
        if metadata["file_type"] == "directory":
            return 4096
        if metadata["file_type"] == "symlink":
            return len(self.link(path).encode())
        return int(metadata["size"])

    def owner(self, path: str) -> str:
        """Return the owner of a path: root owns the system's folders, the user owns everything else."""
        return "root" if path == "/" or path.startswith(_SYSTEM) or path in ("/home", "/tmp") else self.context.user

    def links(self, path: str, metadata: Metadata) -> int:
        """Return the number of hard links."""
        if metadata["file_type"] != "directory":
            return 1
        entries = self.listing(path) or {}
        return 2 + len([entry for entry in entries.values() if entry["file_type"] == "directory"])


def mode_bits(metadata: Metadata) -> int:
    """Return the permission bits; a symbolic link has all of them."""
    bits: int = 0o777 if metadata["file_type"] == "symlink" else int(metadata["mode"]) & 0o7777
    return bits


def mode_text(metadata: Metadata) -> str:
    """Return type and permissions as `ls -l` shows them."""
    return filemode(KINDS.get(metadata["file_type"], 0o100000) | mode_bits(metadata))


def blocks(metadata: Metadata) -> int:
    """Return the size in kibibytes on a disk with blocks of four kibibytes."""
    if metadata["file_type"] == "directory":
        return 4
    size: int = 0 if metadata["file_type"] == "symlink" else int(metadata["size"])
    return -(-size // 4096) * 4


def inode(path: str) -> int:
    """Return a stable number for a path."""
    return 131_073 + crc32(path.encode("utf-8", "replace")) % 900_000


def human(size: float) -> str:
    """Format a size as `-h` prints it, rounded up.

    >>> human(38), human(5100), human(4096), human(1_500_000)
    ('38', '5.0K', '4.0K', '1.5M')
    """
    unit = ""
    for unit in ("", "K", "M", "G", "T"):
        if size < 1024 or unit == "T":
            break
        size /= 1024
    if unit and size < 10:
        tenths = -(-int(size * 1_000_000) // 100_000)
        return f"{tenths / 10:.1f}{unit}" if tenths < 100 else f"10{unit}"
    return f"{-(-int(size * 1_000_000) // 1_000_000)}{unit}"
