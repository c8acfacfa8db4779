"""Commands that make, remove and protect files: `mkdir`, `rm`, `chmod`."""

from __future__ import annotations

import re

from bashkit import BuiltinContext, BuiltinResult

from agentworld_gym.domains.terminal.engine.builtins.common import (
    MISSING,
    CommandUsageError,
    FileTree,
    Metadata,
    hint,
    mode_bits,
    mode_text,
    options,
)
from agentworld_gym.domains.terminal.engine.context import ShellContext

_CLAUSE = re.compile(r"([ugoa]*)((?:[-+=](?:[rwxXst]*|[ugo]))+)")
_CHANGE = re.compile(r"([-+=])([rwxXst]*|[ugo])")
_SHIFT = {"u": 6, "g": 3, "o": 0}


def mkdir(context: ShellContext, call: BuiltinContext) -> str | BuiltinResult:
    """`mkdir`."""
    try:
        flags, operands = options("mkdir", call.argv, "pvm:", {"parents": "p", "verbose": "v", "mode=": "m"})
        if not operands:
            raise hint("mkdir", "missing operand")
    except CommandUsageError as usage:
        return usage.result
    tree, chosen = FileTree(context, call), dict(flags)
    out: list[str] = []
    errors: list[str] = []
    mode = changed_mode(chosen["m"], 0o777, True, umask=False) if "m" in chosen else None
    if "m" in chosen and mode is None:
        return BuiltinResult("", f"mkdir: invalid mode '{chosen['m']}'\n", 1)
    for name in operands:
        path = tree.path(name)
        steps = _ancestors(name, path) if "p" in chosen else [(name, path)]
        for typed, step in steps:
            existing = tree.target(step)
            if existing is not None and (existing["file_type"] != "directory" or "p" not in chosen):
                why = "File exists" if step == path else "Not a directory"
                errors.append(f"mkdir: cannot create directory '{name if step == path else typed}': {why}\n")
                break
            if existing is None:
                if not tree.is_directory(step.rpartition("/")[0] or "/"):
                    errors.append(f"mkdir: cannot create directory '{typed}': {tree.why_missing(step)}\n")
                    break
                tree.files.mkdir(step)
                if mode is not None and step == path:
                    tree.chmod(step, mode)
                tree.forget(step)
                if "v" in chosen:
                    out.append(f"mkdir: created directory '{typed}'\n")
    return BuiltinResult("".join(out), "".join(errors), 1 if errors else 0)


def _ancestors(name: str, path: str) -> list[tuple[str, str]]:
    """Yield the leading folders of an operand, outermost first, each as typed and as an absolute path."""
    parts = [part for part in name.split("/") if part]
    steps = []
    for count in range(len(parts), 0, -1):
        typed = ("/" if name.startswith("/") else "") + "/".join(parts[:count])
        steps.append((typed, path))
        path = path.rpartition("/")[0] or "/"
        if parts[count - 1] in (".", ".."):
            break
    return steps[::-1]


def rm(context: ShellContext, call: BuiltinContext) -> str | BuiltinResult:
    """`rm`."""
    try:
        chosen, operands = options(
            "rm", call.argv, "rRfvidI", {"recursive": "r", "force": "f", "verbose": "v", "dir": "d", "interactive": "i"}
        )
        flags = {option for option, _ in chosen}
        if not operands and "f" not in flags:
            raise hint("rm", "missing operand")
    except CommandUsageError as usage:
        return usage.result
    tree = FileTree(context, call)
    recursive = bool(flags & {"r", "R"})
    out: list[str] = []
    errors: list[str] = []
    for name in operands:
        path = tree.path(name)
        metadata = tree.entry(path)
        if name.rstrip("/").rpartition("/")[2] in (".", "..") and recursive:
            errors.append(f"rm: refusing to remove '.' or '..' directory: skipping '{name}'\n")
        elif path == "/" and recursive:
            errors.append("rm: it is dangerous to operate recursively on '/'\n")
            errors.append("rm: use --no-preserve-root to override this failsafe\n")
        elif metadata is None:
            if "f" not in flags:
                errors.append(f"rm: cannot remove '{name}': {tree.why_missing(path)}\n")
        elif metadata["file_type"] == "directory" and not recursive:
            if "d" in flags and not tree.listing(path):
                tree.files.remove(path)
                tree.forget(path)
            else:
                why = "Directory not empty" if "d" in flags else "Is a directory"
                errors.append(f"rm: cannot remove '{name}': {why}\n")
        else:
            if "v" in flags:
                _tell_removed(tree, name, path, metadata, out)
            tree.files.remove(path, recursive=recursive)
            tree.forget(path)
            context.modes.pop(path, None)
    return BuiltinResult("".join(out), "".join(errors), 1 if errors else 0)


def _tell_removed(tree: FileTree, name: str, path: str, metadata: Metadata, out: list[str]) -> None:
    if metadata["file_type"] == "directory":
        for child, below in (tree.listing(path) or {}).items():
            _tell_removed(tree, f"{name.rstrip('/')}/{child}", f"{path}/{child}", below, out)
        out.append(f"removed directory '{name}'\n")
    else:
        out.append(f"removed '{name}'\n")


def chmod(context: ShellContext, call: BuiltinContext) -> str | BuiltinResult:
    """`chmod`, with octal and symbolic modes."""
    argv = list(call.argv)
    minus = next((word for word in argv if re.fullmatch(r"-[rwxXst]+([,+=-].*)?", word) and word != "-R"), None)
    if minus is not None:  # a word such as -w is a mode and not an option
        argv.remove(minus)
    try:
        flags, operands = options(
            "chmod", argv, "Rvcf", {"recursive": "R", "verbose": "v", "changes": "c", "reference=": "reference"}
        )
        chosen = dict(flags)
        if minus is not None:
            operands.insert(0, minus)
        if not operands:
            raise hint("chmod", "missing operand")
        if len(operands) == 1 and "reference" not in chosen:
            raise hint("chmod", f"missing operand after '{operands[0]}'")
    except CommandUsageError as usage:
        return usage.result
    tree = FileTree(context, call)
    if "reference" in chosen:
        model = tree.target(tree.path(chosen["reference"]))
        if model is None:
            return BuiltinResult("", f"chmod: failed to get attributes of '{chosen['reference']}': {MISSING}\n", 1)
        operands.insert(0, f"{mode_bits(model):o}")
    text = operands.pop(0)
    if changed_mode(text, 0, False) is None:
        return hint("chmod", f"invalid mode: '{text}'").result
    out: list[str] = []
    errors: list[str] = []
    for name in operands:
        path = tree.path(name)
        metadata = tree.target(path)
        if metadata is None:
            if tree.entry(path) is not None:
                errors.append(f"chmod: cannot operate on dangling symlink '{name}'\n")
            else:
                errors.append(f"chmod: cannot access '{name}': {tree.why_missing(path)}\n")
            continue
        _chmod(tree, text, name, path, metadata, chosen, out)
    return BuiltinResult("".join(out), "".join(errors), 1 if errors else 0)


def _chmod(
    tree: FileTree, text: str, name: str, path: str, metadata: Metadata, chosen: dict[str, str], out: list[str]
) -> None:
    before = mode_bits(metadata)
    after = changed_mode(text, before, metadata["file_type"] == "directory")
    if after is not None and after != before:
        tree.chmod(path, after)
    if after is not None and ("v" in chosen or ("c" in chosen and after != before)):
        new = mode_text({**metadata, "mode": after})[1:]
        if after == before:
            out.append(f"mode of '{name}' retained as {before:04o} ({new})\n")
        else:
            old = mode_text(metadata)[1:]
            out.append(f"mode of '{name}' changed from {before:04o} ({old}) to {after:04o} ({new})\n")
    if "R" in chosen and metadata["file_type"] == "directory":
        for child, below in (tree.listing(path) or {}).items():
            if below["file_type"] != "symlink":
                _chmod(tree, text, f"{name.rstrip('/')}/{child}", f"{path.rstrip('/')}/{child}", below, chosen, out)


def changed_mode(text: str, mode: int, directory: bool, umask: bool = True) -> int | None:
    """Return a mode after a change in the notation of `chmod`, or `None` if the text is not in that notation.

    >>> f"{changed_mode('u+x,g-r', 0o644, False):o}", f"{changed_mode('a=r', 0o755, False):o}"
    ('704', '444')
    """
    if re.fullmatch(r"[0-7]{1,4}", text):
        return int(text, 8)
    for clause in text.split(","):
        match = _CLAUSE.fullmatch(clause)
        if match is None:
            return None
        who = match.group(1)
        classes = "ugo" if not who or "a" in who else who
        masked = 0o022 if not who and umask else 0
        for operator, letters in _CHANGE.findall(match.group(2)):
            mode = _changed(mode, classes, operator, letters, directory, masked)
    return mode


def _changed(mode: int, classes: str, operator: str, letters: str, directory: bool, masked: int) -> int:
    for who in classes:
        shift = _SHIFT[who]
        if letters and letters in "ugo":
            bits = mode >> _SHIFT[letters] & 7
        else:
            bits = ("r" in letters) * 4 | ("w" in letters) * 2 | ("x" in letters) * 1
            if "X" in letters and (directory or mode & 0o111):
                bits |= 1
        bits = (bits << shift) & ~masked
        if operator == "+":
            mode |= bits
        elif operator == "-":
            mode &= ~bits
        else:
            mode = mode & ~(7 << shift) | bits
    return mode


COMMANDS = {"mkdir": mkdir, "rm": rm, "chmod": chmod}
