"""Replaces the files that the sandbox fills from its host (random bytes, a random name, the time since the start), and
those that name the sandbox."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import reduce
from uuid import UUID

from bashkit import Bash, FileSystem

from agentworld_gym.domains.terminal.engine.context import ShellContext
from agentworld_gym.domains.terminal.engine.state import OS_RELEASE, UNAME

_NAMED = re.compile(r"random|uptime|/proc\b|/dev\b(?!/(?:null|zero|full|tty|fd|std\w+)\b)")
_RELEASE = re.compile(r"release|/etc/\S*[*?\[]")
_KEPT = r"[\"']?/etc(?:/?(?=[\s;&|\"']|$)|/\S*[*?\[]|/(?:group|hostname|hosts|os-release|passwd|shells|ssl|timezone)\b)"
_REFUSED = re.compile(
    rf"\b(?:rm|mv|ln|rmdir|unlink|touch|tee|truncate|chmod|chown|install|shred|sed\s+-\w*i)\b[^;|&\n]*\s{_KEPT}|>\s*{_KEPT}"
)
"""A change of `/etc` itself, or of what stands in it from the start, which the sandbox refuses."""
_RANDOM_BYTES = 65_536
_ZEROS = bytes(1 << 20)
_VERSION = "Linux version {r} (debian-kernel@lists.debian.org) (gcc-12 (Debian 12.2.0-14) 12.2.0) {v}\n"
_MOUNTS = b"/dev/sda1 / ext4 rw,relatime 0 0\n"
_CALLED = ((b"Bashkit Virtual CPU", b"Intel(R) Xeon(R) Processor"), (b"Bashkit", b"GenuineIntel"))
"""What the sandbox calls its processors, and what they are called instead."""


def names_host(text: str) -> bool:
    """Return whether a text may lead to a file that the sandbox fills from its host.

    >>> names_host("head -c 4 /dev/urandom"), names_host("cat /etc/passwd")
    (True, False)
    """
    return _NAMED.search(text) is not None


def names_release(text: str) -> bool:
    """Return whether a text may read `/etc/os-release`, in which the sandbox names itself, and changes no such file.

    >>> names_release("cat /etc/*elease"), names_release("cat /etc/passwd"), names_release("rm -rf /etc/*")
    (True, False, False)
    """
    return _RELEASE.search(text) is not None and _REFUSED.search(text) is None


@contextmanager
def replaced_release(bash: Bash) -> Iterator[None]:
    """Replace `/etc` for a while by a copy that names an ordinary system; what is changed in it is changed in `/etc`.

    The sandbox lets nobody write to its own `/etc/os-release`, nor does a change of that file last.
    """
    files = bash.fs()
    copy = _copy(files, "/etc", {"/os-release": OS_RELEASE.encode()})
    before = _contents(copy)
    bash.mount("/etc", copy)
    try:
        yield
    finally:
        bash.unmount("/etc")
        after = _contents(copy)
        changed = {path for path in {*before, *after} - {"/os-release"} if before.get(path) != after.get(path)}
        for path in sorted(changed & before.keys(), reverse=True):
            if path not in after or after[path][0] != before[path][0] or after[path][0] == "symlink":
                with suppress(RuntimeError, OSError):  # It may have gone with its folder.
                    files.remove(f"/etc{path}", recursive=True)
        for path in sorted(changed & after.keys()):
            with suppress(RuntimeError, OSError):  # The sandbox keeps its own files as they are.
                _put(files, f"/etc{path}", *after[path])


def _put(files: FileSystem, path: str, kind: str, content: bytes, mode: int) -> None:
    if kind == "symlink":
        files.symlink(content.decode(), path)
        return
    if kind == "directory":
        files.mkdir(path, recursive=True)
    else:
        files.write_file(path, content)
    files.chmod(path, mode)


def _contents(files: FileSystem) -> dict[str, tuple[str, bytes, int]]:
    """Return the kind, the content and the permissions of everything in some files."""
    found: dict[str, tuple[str, bytes, int]] = {}
    folders = [""]
    while folders:
        folder = folders.pop()
        for entry in files.read_dir(folder or "/"):
            path, kind = f"{folder}/{entry['name']}", str(entry["metadata"]["file_type"])
            content = b""
            if kind == "directory":
                folders.append(path)
            else:
                content = files.read_link(path).encode() if kind == "symlink" else files.read_file(path)
            found[path] = (kind, content, int(entry["metadata"]["mode"]) & 0o7777)
    return found


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
            "/version": _VERSION.format(**UNAME).encode(),
            "/cpuinfo": reduce(lambda text, names: text.replace(*names), _CALLED, bash.fs().read_file("/proc/cpuinfo")),
            "/mounts": _MOUNTS,
            "/1/mounts": _MOUNTS,
            "/self/mounts": _MOUNTS,
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
