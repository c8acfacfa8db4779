"""`cp` and `mv`."""

from __future__ import annotations

from abc import ABC, abstractmethod

from bashkit import BuiltinContext, BuiltinResult

from agentworld_gym.domains.terminal.engine.builtins.common import (
    MISSING,
    CommandUsageError,
    FileTree,
    Metadata,
    hint,
    options,
)
from agentworld_gym.domains.terminal.engine.context import ShellContext

_COPY = {
    "recursive": "r",
    "archive": "a",
    "verbose": "v",
    "force": "f",
    "no-clobber": "n",
    "update": "u",
    "interactive": "i",
    "no-target-directory": "T",
    "target-directory=": "t",
    "preserve": "p",
    "parents": "parents",
}


class _Transfer(ABC):
    """One run of `cp` or `mv`: its target, its options, and what it has printed so far."""

    def __init__(self, name: str, context: ShellContext, call: BuiltinContext) -> None:
        self.name = name
        self.tree = FileTree(context, call)
        self.out: list[str] = []
        self.errors: list[str] = []
        flags, self.operands = options(name, call.argv, "aRrfivpndPLHuTbxlst:", _COPY)
        self.flags = {option for option, _ in flags}
        self.folder: str | None = dict(flags).get("t")

    def run(self) -> BuiltinResult:
        for source, target in self.pairs():
            self.one(source, target)
        return BuiltinResult("".join(self.out), "".join(self.errors), 1 if self.errors else 0)

    def pairs(self) -> list[tuple[str, str]]:
        """Yield every source with the name that it gets."""
        operands = self.operands
        if not operands:
            raise hint(self.name, "missing file operand")
        if self.folder is not None:
            return [(source, _inside(self.folder, source)) for source in operands]
        if len(operands) == 1:
            raise hint(self.name, f"missing destination file operand after '{operands[0]}'")
        *sources, last = operands
        path = self.tree.path(last)
        if self.tree.is_directory(path) and "T" not in self.flags:
            return [(source, _inside(last, source)) for source in sources]
        if len(sources) > 1:
            why = "Not a directory" if self.tree.target(path) is not None else MISSING
            raise CommandUsageError(f"{self.name}: target '{last}': {why}\n")
        return [(sources[0], last)]

    def fail(self, message: str) -> None:
        self.errors.append(f"{self.name}: {message}\n")

    @abstractmethod
    def one(self, source: str, target: str) -> None:
        """Copy or move one entry."""

    def skipped(self, metadata: Metadata, existing: Metadata | None) -> bool:
        """Return whether `-n` or `-u` leaves the target alone."""
        if existing is None:
            return False
        newer = self.tree.modified(existing) >= self.tree.modified(metadata)
        return "n" in self.flags or ("u" in self.flags and newer)


class _Copy(_Transfer):
    def one(self, source: str, target: str) -> None:
        tree, flags = self.tree, self.flags
        start, end = tree.path(source), tree.path(target)
        recursive = bool(flags & {"r", "R", "a"})
        kept_link = bool(flags & {"a", "d", "P"}) or (recursive and "L" not in flags)
        metadata = tree.entry(start) if kept_link and not source.endswith("/") else tree.target(start)
        if metadata is None:
            self.fail(f"cannot stat '{source}': {tree.why_missing(start)}")
            return
        if metadata["file_type"] == "directory":
            if not recursive:
                self.fail(f"-r not specified; omitting directory '{source}'")
            elif end == start or end.startswith(start.rstrip("/") + "/"):
                self.fail(f"cannot copy a directory, '{source}', into itself, '{target}'")
            else:
                self.directory(source, start, target, end, metadata)
            return
        self.file(source, start, target, end, metadata)

    def directory(self, source: str, start: str, target: str, end: str, metadata: Metadata) -> None:
        existing = self.tree.target(end)
        if existing is not None and existing["file_type"] != "directory":
            self.fail(f"cannot overwrite non-directory '{target}' with directory '{source}'")
            return
        if existing is None:
            if not self.tree.is_directory(end.rpartition("/")[0] or "/"):
                self.fail(f"cannot create directory '{target}': {self.tree.why_missing(end)}")
                return
            self.tree.files.mkdir(end)
            self.tree.forget(end)
            if int(metadata["mode"]) & 0o777 != 0o755:
                self.tree.files.chmod(end, int(metadata["mode"]) & 0o777)
            self.say(source, target)
        for name, child in list((self.tree.listing(start) or {}).items()):
            below = f"{start.rstrip('/')}/{name}", f"{end.rstrip('/')}/{name}"
            names = _joined(source, name), _joined(target, name)
            if child["file_type"] == "directory":
                self.directory(names[0], below[0], names[1], below[1], child)
            else:
                self.file(names[0], below[0], names[1], below[1], child)
        self.tree.forget(end)

    def file(self, source: str, start: str, target: str, end: str, metadata: Metadata) -> None:
        files, existing = self.tree.files, self.tree.target(end)
        if existing is not None and existing["file_type"] == "directory":
            self.fail(f"cannot overwrite directory '{target}' with non-directory")
            return
        if start == end or (existing is not None and self.tree.entry(end) != existing and self.linked(end) == start):
            self.fail(f"'{source}' and '{target}' are the same file")
            return
        if existing is None and not self.tree.is_directory(end.rpartition("/")[0] or "/"):
            self.fail(f"cannot create regular file '{target}': {self.tree.why_missing(end)}")
            return
        if existing is None and target.endswith("/"):
            self.fail(f"cannot create regular file '{target}': Not a directory")
            return
        if self.skipped(metadata, existing):
            return
        if metadata["file_type"] == "symlink":
            if existing is not None:
                files.remove(end)
            files.symlink(self.tree.link(start), end)
        elif self.flags & {"p", "a"}:
            if existing is not None:
                files.remove(end)
            files.copy(start, end)
            if start in self.tree.context.modes:
                self.tree.context.modes[end] = self.tree.context.modes[start]
        else:
            mode = int((existing or metadata)["mode"]) & 0o777
            files.write_file(end, files.read_file(start))
            if mode != 0o644:
                self.tree.chmod(end, mode if existing is not None else mode & ~0o022)
        self.tree.forget(end)
        self.say(source, target)

    def linked(self, path: str) -> str:
        entry = self.tree.entry(path)
        if entry is None or entry["file_type"] != "symlink":
            return path
        target = self.tree.link(path)
        return target if target.startswith("/") else f"{path.rpartition('/')[0]}/{target}"

    def say(self, source: str, target: str) -> None:
        if "v" in self.flags:
            self.out.append(f"'{source}' -> '{target}'\n")


class _Move(_Transfer):
    def one(self, source: str, target: str) -> None:
        tree = self.tree
        start, end = tree.path(source), tree.path(target)
        metadata = tree.entry(start)
        if metadata is None:
            self.fail(f"cannot stat '{source}': {tree.why_missing(start)}")
            return
        existing = tree.entry(end)
        directory = metadata["file_type"] == "directory"
        if directory and (end == start or end.startswith(start.rstrip("/") + "/")):
            self.fail(f"cannot move '{source}' to a subdirectory of itself, '{target}'")
            return
        if start == end:
            self.fail(f"'{source}' and '{target}' are the same file")
            return
        if existing is not None and (existing["file_type"] == "directory") != directory:
            wrong = "non-directory '{}' with directory '{}'" if directory else "directory '{}' with non-directory"
            self.fail("cannot overwrite " + wrong.format(target, source))
            return
        if existing is None and not tree.is_directory(end.rpartition("/")[0] or "/"):
            self.fail(f"cannot move '{source}' to '{target}': {tree.why_missing(end)}")
            return
        if existing is None and target.endswith("/") and not directory:
            self.fail(f"cannot move '{source}' to '{target}': Not a directory")
            return
        if self.skipped(metadata, existing):
            return
        if existing is not None and directory and tree.listing(end):
            self.fail(f"cannot move '{source}' to '{target}': Directory not empty")
            return
        if existing is not None:
            tree.files.remove(end)
        tree.files.rename(start, end)
        modes = tree.context.modes
        for path in [path for path in modes if path == start or path.startswith(start + "/")]:
            modes[end + path[len(start) :]] = modes.pop(path)
        tree.forget(start, end)
        if "v" in self.flags:
            self.out.append(f"renamed '{source}' -> '{target}'\n")


def _inside(folder: str, source: str) -> str:
    name = source.rstrip("/").rpartition("/")[2]
    return _joined(folder, name) if name != "." else folder.rstrip("/") + "/."


def _joined(folder: str, name: str) -> str:
    return f"{folder}{name}" if folder.endswith("/") else f"{folder}/{name}"


def cp(context: ShellContext, call: BuiltinContext) -> str | BuiltinResult:
    """`cp`."""
    try:
        return _Copy("cp", context, call).run()
    except CommandUsageError as usage:
        return usage.result


def mv(context: ShellContext, call: BuiltinContext) -> str | BuiltinResult:
    """`mv`."""
    try:
        return _Move("mv", context, call).run()
    except CommandUsageError as usage:
        return usage.result


COMMANDS = {"cp": cp, "mv": mv}
