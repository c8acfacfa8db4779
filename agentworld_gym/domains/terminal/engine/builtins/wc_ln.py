"""`wc` and `ln`, whose errors and totals the sandbox words differently."""

from __future__ import annotations

from bashkit import BuiltinContext, BuiltinResult

from agentworld_gym.domains.terminal.engine.builtins.common import CommandUsageError, FileTree, hint, options
from agentworld_gym.domains.terminal.engine.context import ShellContext

_COLUMNS = "lwmcL"
_LONG = {"lines": "l", "words": "w", "chars": "m", "bytes": "c", "max-line-length": "L"}


def wc(context: ShellContext, call: BuiltinContext) -> str | BuiltinResult:
    """`wc`, in the C locale."""
    try:
        flags, operands = options("wc", call.argv, "lwcmL", _LONG)
    except CommandUsageError as usage:
        return usage.result
    wanted = {option for option, _ in flags} or {"l", "w", "c"}
    columns = [column for column in _COLUMNS if column in wanted]
    if not operands:
        counts = _counts((call.stdin or "").encode("utf-8", "replace"))
        width = 1 if len(columns) == 1 else 7
        return " ".join(f"{counts[column]:>{width}}" for column in columns) + "\n"
    tree = FileTree(context, call)
    rows: list[tuple[str, dict[str, int]]] = []
    lines: list[tuple[str, bool]] = []
    sizes, odd = 0, False
    for name in operands:
        if name == "-":
            data, odd = (call.stdin or "").encode("utf-8", "replace"), True
        else:
            try:
                data = bytes(tree.files.read_file(tree.path(name)))
            except (RuntimeError, OSError):
                path = tree.path(name)
                if not tree.is_directory(path):
                    lines.append((f"wc: {name}: {tree.why_missing(path)}\n", True))
                    continue
                lines.append((f"wc: {name}: Is a directory\n", True))
                data, odd = b"", True
        sizes += len(data)
        rows.append((name, _counts(data)))
        lines.append((name, False))
    width = max(len(str(sizes)), 7 if odd else 1) if len(operands) > 1 or len(columns) > 1 else 1
    total = {column: sum(counts[column] for _, counts in rows) for column in _COLUMNS}
    total["L"] = max((counts["L"] for _, counts in rows), default=0)
    counted = iter([*rows, ("total", total)] if len(operands) > 1 else rows)
    out: list[str] = []
    errors: list[str] = []
    for text, wrong in lines:
        if wrong:
            errors.append(text)
        else:
            out.append(_row(*next(counted), columns, width))
    out.extend(_row(name, counts, columns, width) for name, counts in counted)
    return BuiltinResult("".join(out), "".join(errors), 1 if errors else 0)


def _row(name: str, counts: dict[str, int], columns: list[str], width: int) -> str:
    return " ".join([*(f"{counts[column]:>{width}}" for column in columns), name]) + "\n"


def _counts(data: bytes) -> dict[str, int]:
    longest = max((len(line.expandtabs(8)) for line in data.split(b"\n")), default=0)
    return {"l": data.count(b"\n"), "w": len(data.split()), "m": len(data), "c": len(data), "L": longest}


def ln(context: ShellContext, call: BuiltinContext) -> str | BuiltinResult:
    """`ln`; a hard link is a copy, because the sandbox cannot give a file a second name."""
    try:
        chosen, operands = options(
            "ln", call.argv, "sfnvrTt:bi", {"symbolic": "s", "force": "f", "no-dereference": "n", "verbose": "v"}
        )
        if not operands:
            raise hint("ln", "missing file operand")
    except CommandUsageError as usage:
        return usage.result
    flags = {option for option, _ in chosen}
    tree = FileTree(context, call)
    *targets, last = operands if len(operands) > 1 else [operands[0], "."]
    path = tree.path(last)
    entry = tree.entry(path)
    inside = tree.is_directory(path) and not ("n" in flags and entry is not None and entry["file_type"] == "symlink")
    if len(targets) > 1 and not inside:
        return BuiltinResult("", f"ln: target '{last}': {tree.why_missing(path)}\n", 1)
    out: list[str] = []
    errors: list[str] = []
    kind = "symbolic link" if "s" in flags else "hard link"
    for target in targets:
        name = f"{last.rstrip('/')}/{target.rstrip('/').rpartition('/')[2]}" if inside else last
        end, start = tree.path(name), tree.path(target)
        source = tree.target(start)
        if "s" not in flags and source is None:
            errors.append(f"ln: failed to access '{target}': {tree.why_missing(start)}\n")
            continue
        if "s" not in flags and source is not None and source["file_type"] == "directory":
            errors.append(f"ln: {target}: hard link not allowed for directory\n")
            continue
        if tree.entry(end) is not None:
            if "f" not in flags:
                errors.append(f"ln: failed to create {kind} '{name}': File exists\n")
                continue
            tree.files.remove(end)
        elif not tree.is_directory(end.rpartition("/")[0] or "/"):
            errors.append(f"ln: failed to create {kind} '{name}': {tree.why_missing(end)}\n")
            continue
        if "s" in flags:
            tree.files.symlink(target, end)
        else:
            tree.files.copy(start, end)
        tree.forget(end)
        if "v" in flags:
            out.append(f"'{name}' {'->' if 's' in flags else '=>'} '{target}'\n")
    return BuiltinResult("".join(out), "".join(errors), 1 if errors else 0)


COMMANDS = {"ln": ln, "wc": wc}
