"""Commands about the user, the machine and the session."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from datetime import UTC, datetime
from uuid import UUID

from bashkit import BuiltinContext, BuiltinResult

from agentworld_gym.domains.terminal.engine.builtins.common import MISSING, CommandUsageError, FileTree, options
from agentworld_gym.domains.terminal.engine.context import ShellContext
from agentworld_gym.domains.terminal.engine.state import UNAME

ABSENT = (
    "make",
    "nano",
    "openssl",
    "ssh",
    "sudo",
    "tree",
    "vi",
    "vim",
    "watch",
    "http",
    "wget",
    "curl",
    "zip",
    "unzip",
)
_LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def identity(context: ShellContext, call: BuiltinContext) -> str | BuiltinResult:
    """`id`."""
    try:
        chosen, operands = options("id", call.argv, "ugGnra", {"user": "u", "group": "g", "groups": "G", "name": "n"})
    except CommandUsageError as usage:
        return usage.result
    flags = {option for option, _ in chosen}
    name, number = context.user, context.uid
    if operands and operands[0] != name:
        if operands[0] != "root":
            return BuiltinResult("", f"id: '{operands[0]}': no such user\n", 1)
        name, number = "root", 0
    if flags & {"u", "g", "G"}:
        return f"{name if 'n' in flags else number}\n"
    return f"uid={number}({name}) gid={number}({name}) groups={number}({name})\n"


def groups(context: ShellContext, call: BuiltinContext) -> str:
    """`groups`."""
    return f"{context.user}\n"


def uname(context: ShellContext, call: BuiltinContext) -> str | BuiltinResult:
    """`uname`."""
    try:
        chosen, _ = options("uname", call.argv, "asnrvmpio", {"all": "a"})
    except CommandUsageError as usage:
        return usage.result
    flags = {option for option, _ in chosen} or {"s"}
    parts = {**UNAME, "n": context.host}
    order = [letter for letter in "snrvmo" if "a" in flags or letter in flags]
    return " ".join(parts[letter] for letter in order) + "\n"


def refused(context: ShellContext, call: BuiltinContext) -> BuiltinResult:
    """`__refused`: the error of a program, which is the first word, and nothing else."""
    return BuiltinResult("", f"{call.argv[0]}\n", 1)


def history(context: ShellContext, call: BuiltinContext) -> str | BuiltinResult:
    """`history`."""
    if call.argv[:1] == ["-c"]:
        context.history.clear()
        return ""
    lines = list(enumerate(context.history, 1))
    if call.argv and call.argv[0].isdigit():
        lines = lines[-int(call.argv[0]) :] if int(call.argv[0]) else []
    return "".join(f"{number:5}  {line}\n" for number, line in lines)


def mktemp(context: ShellContext, call: BuiltinContext) -> str | BuiltinResult:
    """`mktemp`, whose names follow the seed."""
    try:
        flags, operands = options(
            "mktemp", call.argv, "dup:tq", {"directory": "d", "dry-run": "u", "tmpdir=": "p", "suffix=": "suffix"}
        )
    except CommandUsageError as usage:
        return usage.result
    chosen = dict(flags)
    template = operands[0] if operands else "tmp.XXXXXXXXXX"
    stem = template.rstrip("X")
    count = len(template) - len(stem)
    if count < 3:
        return BuiltinResult("", f"mktemp: too few X's in template '{template}'\n", 1)
    if not operands or "p" in chosen or "t" in chosen:
        stem = f"{chosen.get('p', '/tmp').rstrip('/')}/{stem}"
    name = stem + "".join(context.random.choices(_LETTERS, k=count)) + chosen.get("suffix", "")
    tree = FileTree(context, call)
    path = tree.path(name)
    if not tree.is_directory(path.rpartition("/")[0] or "/"):
        kind = "directory" if "d" in chosen else "file"
        return BuiltinResult("", f"mktemp: failed to create {kind} via template '{stem}{'X' * count}': {MISSING}\n", 1)
    if "u" not in chosen:
        if "d" in chosen:
            tree.files.mkdir(path)
        else:
            tree.files.write_file(path, b"")
        tree.files.chmod(path, 0o700 if "d" in chosen else 0o600)
    return f"{name}\n"


def shuf(context: ShellContext, call: BuiltinContext) -> str | BuiltinResult:
    """`shuf`, whose order follows the seed."""
    try:
        flags, operands = options(
            "shuf", call.argv, "en:i:ro:z", {"echo": "e", "head-count=": "n", "input-range=": "i", "repeat": "r"}
        )
    except CommandUsageError as usage:
        return usage.result
    chosen = dict(flags)
    if "i" in chosen:
        low, _, high = chosen["i"].partition("-")
        if not (low.isdigit() and high.isdigit()):
            return BuiltinResult("", f"shuf: invalid input range: '{chosen['i']}'\n", 1)
        lines = [str(n) for n in range(int(low), min(int(high), int(low) + 100_000) + 1)]
    elif "e" in chosen:
        lines = operands
    elif operands and operands[0] != "-":
        tree = FileTree(context, call)
        try:
            lines = tree.files.read_file(tree.path(operands[0])).decode("utf-8", "replace").splitlines()
        except RuntimeError:
            return BuiltinResult("", f"shuf: {operands[0]}: {MISSING}\n", 1)
    else:
        lines = (call.stdin or "").splitlines()
    count = min(int(chosen["n"]), 100_000) if chosen.get("n", "").isdigit() else len(lines)
    picked = context.random.choices(lines, k=count) if "r" in chosen and lines else _shuffled(context, lines)[:count]
    return "".join(f"{line}\n" for line in picked)


def _shuffled(context: ShellContext, lines: list[str]) -> list[str]:
    return context.random.sample(lines, len(lines))


def zcat(context: ShellContext, call: BuiltinContext) -> str | BuiltinResult:
    """`zcat`, of text files."""
    tree = FileTree(context, call)
    out: list[str] = []
    errors: list[str] = []
    for name in call.argv:
        try:
            data = tree.files.read_file(tree.path(name))
        except RuntimeError:
            errors.append(f"gzip: {name}: {MISSING}\n")
            continue
        try:
            out.append(gzip.decompress(data).decode("utf-8", "replace"))
        except (OSError, EOFError):
            errors.append(f"\ngzip: {name}: not in gzip format\n")
    return BuiltinResult("".join(out), "".join(errors), 1 if errors else 0)


def df(context: ShellContext, call: BuiltinContext) -> str:
    """`df`: there is one disk that is never full."""
    if "-h" in call.argv:
        return "Filesystem      Size  Used Avail Use% Mounted on\n/dev/sda1        20G  4.0G   15G  22% /\n"
    return (
        "Filesystem     1K-blocks    Used Available Use% Mounted on\n"
        "/dev/sda1       20509264 4194304  15247808  22% /\n"
    )


def ps(context: ShellContext, call: BuiltinContext) -> str:
    """`ps`: there are a shell and `ps` itself."""
    if call.argv and call.argv[0].lstrip("-").startswith(("a", "e", "f")):
        return (
            "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n"
            f"{context.user:<8}       1  0.0  0.0   7196  3712 pts/0    Ss   09:00   0:00 -bash\n"
            f"{context.user:<8}     412  0.0  0.0  11084  4352 pts/0    R+   09:00   0:00 ps {' '.join(call.argv)}\n"
        )
    return "    PID TTY          TIME CMD\n      1 pts/0    00:00:00 bash\n    412 pts/0    00:00:00 ps\n"


def uptime(context: ShellContext, call: BuiltinContext) -> str:
    """`uptime`."""
    now = datetime.fromtimestamp(context.clock.now, UTC)
    minutes = int(context.clock.now - context.clock.start) // 60 + 5
    return f" {now:%H:%M:%S} up {minutes} min,  1 user,  load average: 0.00, 0.00, 0.00\n"


def uuidgen(context: ShellContext, call: BuiltinContext) -> str:
    """`uuidgen`, whose identifiers follow the seed."""
    return f"{UUID(int=context.random.getrandbits(128), version=4)}\n"


def hashes(context: ShellContext, call: BuiltinContext) -> str:
    """`hash`: its table is always empty."""
    return "" if call.argv else "hash: hash table empty\n"


def absent(context: ShellContext, call: BuiltinContext) -> BuiltinResult:
    """Answer for a program that is not installed."""
    return BuiltinResult("", f"bash: {call.name}: command not found\n", 127)


COMMANDS: dict[str, Callable[[ShellContext, BuiltinContext], str | BuiltinResult]] = {
    "df": df,
    **dict.fromkeys(ABSENT, absent),
    "groups": groups,
    "hash": hashes,
    "__history": history,
    "__refused": refused,
    "id": identity,
    "mktemp": mktemp,
    "ps": ps,
    "shuf": shuf,
    "uname": uname,
    "uptime": uptime,
    "uuidgen": uuidgen,
    "zcat": zcat,
}
