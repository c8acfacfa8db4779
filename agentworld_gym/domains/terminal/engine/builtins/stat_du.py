"""`stat` and `du`: commands about files rather than their contents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from bashkit import BuiltinContext, BuiltinResult

from agentworld_gym.domains.terminal.engine.builtins.common import (
    KINDS,
    MISSING,
    CommandUsageError,
    FileTree,
    Metadata,
    blocks,
    hint,
    human,
    inode,
    mode_bits,
    mode_text,
    options,
    width_of,
)
from agentworld_gym.domains.terminal.engine.context import ShellContext

_DIRECTIVE = re.compile(r"%([-0-9.]*)([a-zA-Z%])")
_ESCAPE = {"\\n": "\n", "\\t": "\t", "\\\\": "\\", '\\"': '"'}


def stat(context: ShellContext, call: BuiltinContext) -> str | BuiltinResult:
    """`stat`, for files."""
    try:
        flags, operands = options(
            "stat", call.argv, "c:Lft", {"format=": "c", "printf=": "printf", "dereference": "L", "terse": "t"}
        )
        if not operands:
            raise hint("stat", "missing operand")
    except CommandUsageError as usage:
        return usage.result
    try:
        return _stat_files(FileTree(context, call), dict(flags), operands)
    except CommandUsageError as usage:
        return usage.result


def _stat_files(tree: FileTree, chosen: Mapping[str, str], operands: Sequence[str]) -> BuiltinResult:
    out, errors = [], []
    for name in operands:
        path = tree.path(name)
        metadata = tree.target(path) if "L" in chosen or name.endswith("/") else tree.entry(path)
        if metadata is None:
            errors.append(f"stat: cannot statx '{name}': {tree.why_missing(path)}\n")
        elif "printf" in chosen:
            form = re.sub(r"\\[nt\\\"]", lambda m: _ESCAPE[m.group()], chosen["printf"])
            out.append(_formatted(tree, form, name, path, metadata))
        elif "c" in chosen:
            out.append(_formatted(tree, chosen["c"], name, path, metadata) + "\n")
        else:
            out.append(_formatted(tree, _default(metadata), name, path, metadata))
    return BuiltinResult("".join(out), "".join(errors), 1 if errors else 0)


def _default(metadata: Metadata) -> str:
    name = "%N" if metadata["file_type"] == "symlink" else "%n"
    return (
        f"  File: {name}\n"
        "  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\n"
        "Device: %Hd,%Ld\tInode: %-10i  Links: %h\n"
        "Access: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\n"
        "Access: %x\nModify: %y\nChange: %z\n Birth: %w\n"
    )


def _formatted(tree: FileTree, form: str, name: str, path: str, metadata: Metadata) -> str:
    owner = tree.owner(path)
    identity = 0 if owner == "root" else tree.context.uid
    modified = tree.modified(metadata)
    size = tree.size(path, metadata)
    kind = {"directory": "directory", "symlink": "symbolic link", "fifo": "fifo"}.get(metadata["file_type"])
    moment = _moment(modified)

    def value(directive: str) -> str:
        match directive:
            case "n":
                return name
            case "N":
                return f"'{name}' -> '{tree.link(path)}'" if metadata["file_type"] == "symlink" else f"'{name}'"
            case "s":
                return str(size)
            case "a":
                return f"{mode_bits(metadata):o}"
            case "A":
                return mode_text(metadata)
            case "f":
                return f"{KINDS.get(metadata['file_type'], 0o100000) | mode_bits(metadata):x}"
            case "F":
                return kind or ("regular file" if size else "regular empty file")
            case "U" | "G":
                return owner
            case "u" | "g":
                return str(identity)
            case "y" | "x" | "z" | "w":
                return moment
            case "Y" | "X" | "Z" | "W":
                return str(int(modified))
            case "h":
                return str(tree.links(path, metadata))
            case "i":
                return str(inode(path))
            case "b":
                return str(blocks(metadata) * 2)
            case "B":
                return "512"
            case "o":
                return "4096"
            case "m":
                return "/"
            case "d":
                return "2049"
            case "D":
                return "801"
            case "t" | "T":
                return "0"
            case "%":
                return "%"
        return "?"

    form = form.replace("%Hd,%Ld", "8,1")
    return _DIRECTIVE.sub(lambda match: _justified(match.group(1), value(match.group(2))), form)


def _justified(flags: str, text: str) -> str:
    digits, _, precision = flags.lstrip("-").partition(".")
    if precision:
        text = text[: min(int(precision[:9]), len(text))]
    width = width_of("stat", digits)
    if not width:
        return text
    if flags.startswith("0") and text.isdigit():
        return text.zfill(width)
    return text.ljust(width) if flags.startswith("-") else text.rjust(width)


def _moment(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M:%S.%f") + "000 +0000"


def du(context: ShellContext, call: BuiltinContext) -> str | BuiltinResult:
    """`du`, on a disk with blocks of four kibibytes."""
    try:
        flags, operands = options(
            "du",
            call.argv,
            "ashbckmd:x0S",
            {
                "all": "a",
                "summarize": "s",
                "human-readable": "h",
                "bytes": "b",
                "total": "c",
                "max-depth=": "d",
                "apparent-size": "A",
            },
        )
    except CommandUsageError as usage:
        return usage.result
    chosen = dict(flags)
    apparent = "b" in chosen or "A" in chosen
    depth = int(chosen["d"]) if chosen.get("d", "").isdigit() else 1 << 30
    tree = FileTree(context, call)
    out: list[str] = []
    errors: list[str] = []

    def text(size: int) -> str:
        if "h" in chosen:
            return human(size)
        if "b" in chosen:
            return str(size)
        return str(-(-size // (1 << 20))) if "m" in chosen else str(-(-size // 1024))

    total = 0
    for name in operands or ["."]:
        path = tree.path(name)
        if tree.entry(path) is None:
            errors.append(f"du: cannot access '{name}': {MISSING}\n")
            continue
        size = 0
        for entry_name, kind, level, size in _usage(tree, name, path, apparent, 0):
            summary = level == 0
            wanted = level <= depth and "s" not in chosen and (kind == "directory" or "a" in chosen)
            if summary or wanted:
                out.append(f"{text(size)}\t{entry_name}\n")
        total += size
    if "c" in chosen:
        out.append(f"{text(total)}\ttotal\n")
    return BuiltinResult("".join(out), "".join(errors), 1 if errors else 0)


def _usage(tree: FileTree, name: str, path: str, apparent: bool, level: int) -> Iterator[tuple[str, str, int, int]]:
    """Yield name, kind, depth and size of everything below an operand, children first and the operand last."""
    metadata = tree.entry(path)
    if metadata is None:
        return
    size = tree.size(path, metadata) if apparent else blocks(metadata) * 1024
    if metadata["file_type"] == "directory":
        base = "" if path == "/" else path
        for child in tree.listing(path) or ():
            for row in _usage(tree, f"{name.rstrip('/')}/{child}", f"{base}/{child}", apparent, level + 1):
                if row[2] == level + 1:
                    size += row[3]
                yield row
    yield name, metadata["file_type"], level, size


COMMANDS = {"stat": stat, "du": du}
