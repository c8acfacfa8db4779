"""Replaces the files that the sandbox fills from its host: random bytes, a random name, the time since the start."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from uuid import UUID

from bashkit import Bash, FileSystem

from agentworld_gym.domains.terminal.engine.context import ShellContext

_NAMED = re.compile(r"random|uptime|/proc\b|/dev\b(?!/(?:null|zero|full|tty|fd|std\w+)\b)")
_RANDOM_BYTES = 65_536
_ZEROS = bytes(1 << 20)


def names_host(text: str) -> bool:
    """Return whether a text may lead to a file that the sandbox fills from its host.

    >>> names_host("head -c 4 /dev/urandom"), names_host("cat /etc/passwd")
    (True, False)
    """
    return _NAMED.search(text) is not None


@contextmanager
def replaced_host_files(bash: Bash, context: ShellContext) -> Iterator[None]:
    """Replace `/dev` and `/proc` for a while by copies whose files follow the seed and the virtual clock.

    A script is run as it was typed; it reads another file of the same name.
    """
    elapsed = context.clock.now - context.clock.start + 300.0
    data = context.random.randbytes(_RANDOM_BYTES)
    name = UUID(int=context.random.getrandbits(128), version=4)
    contents: dict[str, dict[str, bytes]] = {
        "/dev": {"/random": data, "/urandom": data, "/zero": _ZEROS},
        "/proc": {
            "/sys/kernel/random/uuid": f"{name}\n".encode(),
            "/uptime": f"{elapsed:.2f} {elapsed * 4:.2f}\n".encode(),
        },
    }
    copies = {place: _copy(bash.fs(), place, files) for place, files in contents.items()}
    for place, copy in copies.items():
        bash.mount(place, copy)
    try:
        yield
    finally:
        for place in copies:
            bash.unmount(place)


def _copy(source: FileSystem, place: str, contents: Mapping[str, bytes]) -> FileSystem:
    """Copy the files below a folder, some of them with other contents."""
    made = FileSystem()
    for entry in made.read_dir("/"):
        made.remove(f"/{entry['name']}", recursive=True)
    folders = [""]
    while folders:
        folder = folders.pop()
        for entry in source.read_dir(place + folder):
            path, kind = f"{folder}/{entry['name']}", entry["metadata"]["file_type"]
            if kind == "directory":
                made.mkdir(path, recursive=True)
                folders.append(path)
            elif kind == "symlink":
                made.symlink(source.read_link(place + path), path)
            else:
                made.write_file(path, contents[path] if path in contents else source.read_file(place + path))
                made.chmod(path, int(entry["metadata"]["mode"]) & 0o7777)
    return made
