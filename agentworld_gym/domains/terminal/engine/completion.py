"""What the key Tab adds to a command line: the rest of a path, as far as it is unambiguous."""

from __future__ import annotations

import re

from agentworld_gym.domains.terminal.engine.shell import Shell

_WORD = re.compile(r"(?:\\.|[^\s\\'\"<>|;&()=])*\Z")
_SPECIAL = re.compile(r"([\s\\'\"<>|;&()$`*?\[\]#!])")


def completion(shell: Shell, line: str) -> str:
    """Return what Tab inserts behind a line: the rest of a name, and a slash or a blank where there is only one.

    The last word is read as a path. After `cd` and `rmdir` only folders count, and names that begin with a dot count
    where the word does too.
    """
    match = _WORD.search(line)
    folder, slash, start = re.sub(r"\\(.)", r"\1", match[0] if match else "").rpartition("/")
    if folder == "~" or folder.startswith("~/"):
        folder = shell.context.home + folder[1:]
    place = folder if folder.startswith("/") else f"{shell.cwd.rstrip('/')}/{folder}" if folder or not slash else "/"
    try:
        entries = shell.files.read_dir(place.rstrip("/") or "/")
    except (RuntimeError, OSError, ValueError):
        return ""
    folders = {str(entry["name"]) for entry in entries if entry["metadata"]["file_type"] == "directory"}
    names = folders if line.split()[:1] in (["cd"], ["rmdir"]) else {str(entry["name"]) for entry in entries}
    names = {name for name in names if name.startswith(start) and (start or not name.startswith("."))}
    if not names:
        return ""
    first, last = min(names), max(names)
    agreed = next((n for n, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    rest = _SPECIAL.sub(r"\\\1", first[len(start) : agreed])
    return rest if len(names) > 1 else rest + ("/" if names <= folders else " ")
