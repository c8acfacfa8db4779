"""A terminal as plain JSON data, as the view reads it: who uses it, where, the files, and the last answer.

`files` holds what is in the root folder by name. A folder is `{"in": {...}}`, a file `{"text": "..."}`, a link
`{"link": "..."}`, an archive of plain files `{"tar": [{"id": "a.txt", "text": "..."}]}`, and any other file
`{"bytes": "..."}` in base64; `mode` holds permissions that were set. `line` is the line on which the last command was
entered, with its prompt, and `said` what was printed below it. Where a capture is not made of these, `screen` is all of
it.
"""

from __future__ import annotations

import io
import re
import shlex
import tarfile
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from posixpath import join, normpath
from typing import Any

from agentworld_gym.core.domain.view import StructuredState
from agentworld_gym.domains.terminal.engine.keyboard import CONTINUATION
from agentworld_gym.domains.terminal.engine.screen import capture
from agentworld_gym.domains.terminal.engine.shell import SYSTEM, Shell
from agentworld_gym.domains.terminal.engine.state import TerminalFile, TerminalState

Node = dict[str, Any]
"""A file, folder, link or archive as plain data."""
_KINDS = {"in": dict, "text": str, "link": str, "tar": list, "bytes": str}
"""The key that says what a node is, and the type of its value."""
_MOST_LINKS = 40
"""The largest number of links on the way to the working folder."""
_MOST_MODE = 0o7777
"""The largest number that says permissions."""
ANSWER = ("line", "above", "said", "screen")
"""The keys of the last answer: `above` is what stands above `said` while the commands of one line follow each other."""
_SET = re.compile(r"\b([A-Za-z_]\w*)\+?=|\bfor\s+([A-Za-z_]\w*)|\bread\s+(?:-\w+\s+)*((?:[A-Za-z_]\w*[ \t]*)+)")
"""How a line sets a variable."""
_CANDIDATE = re.compile(r"[A-Za-z_]\w*")
_OWN = frozenset(("RANDOM", "SECONDS", "PWD", "OLDPWD", "PATH", "HOME", "USER", "SHELL", "IFS", "PS1", "_"))
"""Variables that are no part of a state, because they follow from it or change by themselves."""


def plain_terminal(shell: Shell, about: Mapping[str, object] | None = None) -> StructuredState:
    """Return what the view reads of a shell, without the last answer.

    Args:
        shell: The shell.
        about: What else there is to say, of which nothing is kept that is empty or 0.
    """
    context = shell.context
    return {
        "user": context.user,
        "host": context.host,
        "home": context.home,
        "clock": datetime.fromtimestamp(context.clock.start, UTC).isoformat(),
        "cwd": shell.cwd,
        "files": _plain_files(shell),
        **({"env": env} if (env := variables_of(shell)) else {}),
        **{key: value for key, value in (about or {}).items() if value},
    }


def variables_of(shell: Shell) -> dict[str, str]:
    """Return the variables that lines of the session have set, by name."""
    names = {name for line in shell.context.history for found in _SET.finditer(line) for name in _names_in(found)}
    if not names - _OWN:
        return {}
    variables = shell.bash.shell_state().variables
    return {name: variables[name] for name in sorted(names - _OWN) if name in variables}


def _names_in(found: re.Match[str]) -> list[str]:
    return _CANDIDATE.findall(" ".join(filter(None, found.groups())))


def shell_of(shown: Mapping[str, Any]) -> Shell:
    """Return a shell with the files of a state, which is good for nothing but to read them.

    Raises:
        SpecError, LookupError, TypeError, ValueError: The state is none of a terminal.
    """
    require_files(shown)
    files: dict[str, TerminalFile] = {}
    folders: list[str] = []
    links: dict[str, str] = {}
    archives: dict[str, bytes] = {}
    modes: dict[str, int] = {}
    for path, node in _walk("", shown["files"]):
        if "in" in node:
            folders.append(path)
        elif "link" in node:
            links[path] = node["link"]
        elif "text" in node:
            files[path] = TerminalFile(content=node["text"])
        else:
            archives[path] = packed(node["tar"]) if "tar" in node else b64decode(node["bytes"], validate=True)
        if "mode" in node:
            modes[path] = _mode(node["mode"])
    about = {key: shown[key] for key in ("user", "host", "home", "clock")}
    env = {name: str(value) for name, value in shown.get("env", {}).items()}
    state = TerminalState(**about, cwd=_reached(shown), files=files, dirs=tuple(folders), links=links)
    shell = Shell.start(state, 0)
    try:
        if env:
            assigned = [f"{name}={shlex.quote(value)}" for name, value in env.items() if _CANDIDATE.fullmatch(name)]
            shell.context.history.extend(assigned)
            shell.bash.execute_sync("\n".join(assigned))
        for path, content in archives.items():
            shell.files.write_file(path, content)
        shell.context.modes.update(modes)
        for path in modes.keys() - links:
            shell.files.chmod(path, modes[path])
        for path in {shown["home"], "/tmp"}:  # A shell begins with them.
            if not at(shown, path):
                shell.files.remove(path, recursive=True)
        if shell.cwd != shown["cwd"]:
            shell.bash.execute_sync(f"cd {shlex.quote(shown['cwd'])}; unset OLDPWD")
            shell.cwd = shown["cwd"]
    except BaseException:
        shell.close()
        raise
    return shell


def place(path: str) -> tuple[str, ...]:
    """Return where a file stands in a state, by its absolute path.

    >>> place("/srv/a.txt")
    ('files', 'srv', 'in', 'a.txt')
    """
    first, *others = path.strip("/").split("/")
    return ("files", first, *(step for name in others for step in ("in", name))) if first else ("files",)


def at(shown: Mapping[str, Any], path: str) -> Node:
    """Return what stands at an absolute path; empty where nothing does.

    >>> at({"files": {"srv": {"in": {"a.txt": {"text": "hi"}}}}}, "/srv/a.txt"), at({"files": {}}, "/srv")
    ({'text': 'hi'}, {})
    """
    node: Any = {"in": shown["files"]}
    for step in path.strip("/").split("/") if path.strip("/") else ():
        node = node.get("in", {}).get(step, {})
    return dict(node)


def prompt(shown: Mapping[str, Any]) -> str:
    """Return the prompt of a state with what stands on its line, without blanks at its end."""
    return f"{bare_prompt(shown)} {shown.get('typed', '')}".rstrip()


def bare_prompt(shown: Mapping[str, Any]) -> str:
    """Return the prompt of a state, without the blank at its end; that of a script that goes on is `>`."""
    if shown.get("pending"):
        return CONTINUATION.rstrip()
    cwd, home = shown["cwd"], shown["home"]
    if cwd == home or cwd.startswith(f"{home}/"):
        cwd = f"~{cwd.removeprefix(home)}"
    return f"{shown['user']}@{shown['host']}:{cwd}{'#' if shown['user'] == 'root' else '$'}"


def screen_of(shown: Mapping[str, Any]) -> str:
    """Return the capture of a state.

    Raises:
        LookupError, TypeError, AttributeError: The state is none of a terminal.
    """
    if "screen" in shown:
        return str(shown["screen"])
    if "line" not in shown:
        return capture(prompt(shown))
    said = shown.get("said", "")
    if not isinstance(said, str):
        raise TypeError(f"a program prints a text, and not {said!r}")
    return capture(f"{shown['line']}\n{shown.get('above', '')}{said}{prompt(shown)}")


def with_answer(shown: StructuredState, line: str | None, observation: str, printed: str | None) -> StructuredState:
    """Return a state with an answer, from which `screen_of` gives the observation.

    Args:
        shown: The state without an answer.
        line: The line on which a command was entered; None where there is none.
        observation: The capture after it.
        printed: What the programs of the command print if they only read; they answer even where they print nothing.
    """
    if line is None:
        return shown if screen_of(shown) == observation else {**shown, "screen": observation}
    below = observation.removeprefix(f"{line.rstrip()}\n").removesuffix(prompt(shown))
    for said in (printed, below) if printed is not None else (below,):
        state = {**shown, "line": line}
        if said or printed is not None:
            state["said"] = said
        if screen_of(state) == observation:
            return state
    return {**shown, "line": line, "screen": observation}


def require_files(shown: Mapping[str, Any]) -> None:
    """Check that files are files, and that the working folder is there.

    Raises:
        LookupError, TypeError, ValueError: A file is none, or there is no such folder.
    """
    for path, node in _walk("", shown["files"]):
        kinds = [key for key in _KINDS if key in node]
        if len(kinds) != 1 or not isinstance(node[kinds[0]], _KINDS[kinds[0]]):
            raise TypeError(f"{path} is no file, folder or link: {str(node)[:80]}")
    folder = _reached(shown)
    if folder.split("/")[1] not in SYSTEM and "in" not in at(shown, folder):
        raise LookupError(f"there is no folder {shown['cwd']!r} to work in")


def packed(members: Sequence[Mapping[str, Any]]) -> bytes:
    """Return the bytes of an archive.

    Raises:
        LookupError, TypeError, ValueError: These are no members of an archive.
    """
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for member in members:
            info = tarfile.TarInfo(str(member["id"]))
            if "in" in member:
                info.type = tarfile.DIRTYPE
                archive.addfile(info)
                continue
            content = member["text"].encode("utf-8", "replace")
            info.size, info.mode = len(content), int(str(member.get("mode", "644")), 8)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def members_of(name: str, node: Mapping[str, Any]) -> Iterator[Node]:
    """Yield a file, or a folder with all that is in it, as the members of an archive.

    >>> [*members_of("d", {"in": {"a": {"text": "1"}}})]
    [{'id': 'd/', 'in': {}}, {'id': 'd/a', 'text': '1'}]
    """
    if "in" not in node:
        yield {"id": name, **node}
        return
    yield {"id": f"{name}/", "in": {}}
    for inner in sorted(node["in"]):
        yield from members_of(f"{name}/{inner}", node["in"][inner])


def _reached(shown: Mapping[str, Any]) -> str:
    """Return the working folder without links on the way to it."""
    names, path, links = shown["cwd"].split("/"), "/", 0
    while names:
        inner = normpath(join(path, names.pop(0)))
        link = at(shown, inner).get("link")
        if link is None:
            path = inner
        elif (links := links + 1) > _MOST_LINKS:
            raise LookupError(f"too many links lead to {shown['cwd']!r}")
        else:
            path, names = ("/" if link.startswith("/") else path), [*link.split("/"), *names]
    return path


def _mode(text: Any) -> int:
    mode = int(text, 8) if isinstance(text, str) else -1
    if not 0 <= mode <= _MOST_MODE:
        raise ValueError(f"no permissions: {text!r}")
    return mode


def _plain_files(shell: Shell) -> dict[str, Any]:
    files, modes = shell.files, shell.context.modes
    root: dict[str, Any] = {}
    folders: dict[str, dict[str, Any]] = {"": root}
    for path, metadata in shell.walk():
        kind = metadata["file_type"]
        node: Node
        if kind == "directory":
            node = {"in": {}}
            folders[path] = node["in"]
        elif kind == "symlink":
            node = {"link": str(files.read_link(path))}
        else:
            node = _plain_file(bytes(files.read_file(path)) if kind == "file" else b"")
        if path in modes:
            node["mode"] = f"{modes[path]:o}"
        folder, _, name = path.rpartition("/")
        folders[folder][name] = node
    return root


def _plain_file(content: bytes) -> Node:
    try:
        text = content.decode("utf-8")
        if "\0" not in text:
            return {"text": text}
    except UnicodeDecodeError:
        pass
    members = _members(content)
    return {"bytes": b64encode(content).decode()} if members is None else {"tar": members}


def _members(content: bytes) -> list[Node] | None:
    """Return the members of an archive of plain files of their usual permissions; None for anything else."""
    members: list[Node] = []
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:") as archive:
            for info in archive:
                if info.isdir():
                    members.append({"id": f"{info.name.rstrip('/')}/", "in": {}})
                    continue
                stream = archive.extractfile(info) if info.isreg() else None
                if stream is None:
                    return None
                member = {"id": info.name, "text": stream.read().decode("utf-8")}
                members.append(member if info.mode == 0o644 else {**member, "mode": f"{info.mode:o}"})
    except (tarfile.TarError, OSError, EOFError, UnicodeDecodeError, ValueError):
        return None
    ids = [member["id"] for member in members]
    distinct = len({*ids}) == len(ids)
    return members if distinct and (members or content == packed([])) else None


def _walk(path: str, folder: Mapping[str, Any]) -> Iterator[tuple[str, Node]]:
    for name, node in folder.items():
        if "/" in name or name in ("", ".", ".."):
            raise ValueError(f"no file has the name {name!r}")
        inner = f"{path}/{name}"
        yield inner, node
        if "in" in node:
            yield from _walk(inner, node["in"])
