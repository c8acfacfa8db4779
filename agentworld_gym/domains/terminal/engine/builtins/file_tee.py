"""`file` and `tee`."""

from __future__ import annotations

import json
import re

from bashkit import BuiltinContext, BuiltinResult

from agentworld_gym.domains.terminal.engine.builtins.common import CommandUsageError, FileTree, Metadata, options
from agentworld_gym.domains.terminal.engine.context import ShellContext

_MAGIC = (
    (b"\x1f\x8b", "gzip compressed data, from Unix"),
    (b"BZh9", "bzip2 compressed data, block size = 900k"),
    (b"\xfd7zXZ\x00", "XZ compressed data"),
    (b"PK\x03\x04", "Zip archive data"),
    (b"\x89PNG\r\n", "PNG image data"),
    (b"%PDF-", "PDF document"),
    (b"\x7fELF", "ELF 64-bit LSB executable"),
)
_SCRIPTS = {
    "bash": "Bourne-Again shell script",
    "sh": "POSIX shell script",
    "python3": "Python script",
    "awk": "awk script",
}


def file(context: ShellContext, call: BuiltinContext) -> str | BuiltinResult:
    """`file`: tells kinds of text, archives, folders and links."""
    try:
        chosen, operands = options("file", call.argv, "biLh", {"brief": "b", "mime-type": "i", "mime": "i"})
    except CommandUsageError as usage:
        return usage.result
    if not operands:
        return BuiltinResult("", "Usage: file [-bcCdEhikLlNnprsSvzZ0] [--apple] [--extension] [--mime-encoding]\n", 1)
    flags = {option for option, _ in chosen}
    tree = FileTree(context, call)
    width = max(len(name) for name in operands) + 2
    out = []
    for name in operands:
        path = tree.path(name)
        metadata = tree.target(path) if "L" in flags else tree.entry(path)
        kind = _kind(tree, path, metadata) if metadata else f"cannot open `{name}' (No such file or directory)"
        out.append(f"{kind}\n" if "b" in flags else f"{name + ':':<{width}}{kind}\n")
    return "".join(out)


def _kind(tree: FileTree, path: str, metadata: Metadata) -> str:
    if metadata["file_type"] == "directory":
        return "directory"
    if metadata["file_type"] == "symlink":
        broken = "" if tree.target(path) else "broken "
        return f"{broken}symbolic link to {tree.link(path)}"
    data = bytes(tree.files.read_file(path))
    if not data:
        return "empty"
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            return kind
    if data[257:262] == b"ustar":
        return "POSIX tar archive (GNU)"
    return _text_kind(data)


def _text_kind(data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return "data"
    if re.search(r"[\x00-\x06\x0e-\x1a\x1c-\x1f]", text):
        return "data"
    coding = "ASCII text" if text.isascii() else "Unicode text, UTF-8 text"
    script = re.match(r"#!\s*\S*?(?:env\s+)?([\w.]+)\s*\n", text)
    if script and script.group(1) in _SCRIPTS:
        return f"{_SCRIPTS[script.group(1)]}, {coding} executable"
    if text.lstrip()[:1] in ("{", "["):
        try:
            json.loads(text)
            return "JSON text data"
        except (ValueError, RecursionError):
            pass
    lines = text.splitlines()
    if len(lines) > 1 and "," in lines[0] and len({line.count(",") for line in lines}) == 1:
        return "CSV text" if text.isascii() else "CSV Unicode text, UTF-8 text"
    ends = ", with CRLF line terminators" if "\r\n" in text else "" if "\n" in text else ", with no line terminators"
    return coding + ends


def tee(context: ShellContext, call: BuiltinContext) -> str | BuiltinResult:
    """`tee`."""
    try:
        flags, operands = options("tee", call.argv, "aip", {"append": "a"})
    except CommandUsageError as usage:
        return usage.result
    tree, text = FileTree(context, call), call.stdin or ""
    append = any(option == "a" for option, _ in flags)
    errors = []
    for name in operands:
        path = tree.path(name)
        try:
            if append and tree.entry(path) is not None:
                tree.files.append_file(path, text.encode("utf-8", "replace"))
            else:
                tree.files.write_file(path, text.encode("utf-8", "replace"))
        except (RuntimeError, OSError):
            why = "Is a directory" if tree.is_directory(path) else tree.why_missing(path)
            errors.append(f"tee: {name}: {why}\n")
    return BuiltinResult(text, "".join(errors), 1 if errors else 0)


COMMANDS = {"file": file, "tee": tee}
