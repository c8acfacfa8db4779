"""The initial state of a terminal, as a task's `state` gives it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import Field, ValidationInfo, field_validator

from agentworld_gym.base.documents.strict import Strict, validated

_USER, _HOST = re.compile(r"[a-z_][a-z0-9_-]{0,31}"), re.compile(r"[a-z0-9_][a-z0-9_-]{0,31}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def moment(text: str) -> datetime:
    """Parse an ISO time; a time without an offset is in UTC.

    >>> moment("2026-03-02T09:00:00").isoformat()
    '2026-03-02T09:00:00+00:00'
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("an ISO time such as 2026-03-02T09:00:00") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _absolute(path: str) -> str:
    if not path.startswith("/") or "\0" in path or ".." in path.split("/"):
        raise ValueError("an absolute path without `..`")
    return "/" + "/".join(part for part in path.split("/") if part not in ("", "."))


class TerminalFile(Strict):
    """One file of a terminal's initial state."""

    content: str = ""
    """The text of the file."""
    mode: str = Field(default="644", pattern=r"^[0-7]{3,4}$")
    """The permissions in octal."""
    mtime: str | None = None
    """The ISO time at which the file was last written; by default the start of the episode."""

    @field_validator("mtime")
    @classmethod
    def _is_time(cls, value: str | None) -> str | None:
        if value is not None:
            moment(value)
        return value


class TerminalState(Strict):
    """The initial state of a terminal, as a task's `state` gives it.

    >>> TerminalState.of({"files": {"/home/dev/a.txt": "hi\\n"}}).cwd
    '/home/dev'
    """

    user: str = "dev"
    """The name of the user."""
    host: str = "box"
    """The name of the machine."""
    home: str = ""
    """The user's home folder; by default `/home/` and the name of the user."""
    cwd: str = ""
    """The working directory; by default the home folder."""
    clock: str = "2026-03-02T09:00:00"
    """The ISO time at which the episode starts."""
    files: dict[str, TerminalFile] = Field(default_factory=dict)
    """The files by absolute path, each as a mapping or as its text alone."""
    dirs: tuple[str, ...] = ()
    """Folders that exist beside those of the files."""
    links: dict[str, str] = Field(default_factory=dict)
    """The targets of symbolic links, by the absolute path of the link."""
    env: dict[str, str] = Field(default_factory=dict)
    """Environment variables that are set beside those of a login shell."""

    @classmethod
    def of(cls, state: Mapping[str, Any]) -> TerminalState:
        """Validate a state that was read from a task.

        Raises:
            SpecError: the state is wrong; the error names the key, its value and what was expected.
        """
        data = dict(state)
        user = data.get("user", "dev")
        data.setdefault("home", "/root" if user == "root" else f"/home/{user}")
        data.setdefault("cwd", data["home"])
        return validated(cls, data, "task state")

    @field_validator("user", "host")
    @classmethod
    def _is_name(cls, value: str, info: ValidationInfo) -> str:
        if not (_USER if info.field_name == "user" else _HOST).fullmatch(value):
            raise ValueError("a short lower-case name")
        return value

    @field_validator("home", "cwd")
    @classmethod
    def _is_absolute(cls, value: str) -> str:
        return _absolute(value)

    @field_validator("clock")
    @classmethod
    def _is_time(cls, value: str) -> str:
        moment(value)
        return value

    @field_validator("files", mode="before")
    @classmethod
    def _texts(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {path: {"content": file} if isinstance(file, str) else file for path, file in value.items()}

    @field_validator("files", "links")
    @classmethod
    def _paths(cls, value: dict[str, Any]) -> dict[str, Any]:
        return {_absolute(path): entry for path, entry in value.items()}

    @field_validator("dirs")
    @classmethod
    def _folders(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_absolute(path) for path in value)

    @field_validator("env")
    @classmethod
    def _variables(cls, value: dict[str, str]) -> dict[str, str]:
        for name in value:
            if not _VARIABLE.fullmatch(name):
                raise ValueError(f"variable names such as LANG, not {name!r}")
        return value


UNAME = {
    "s": "Linux",
    "r": "6.1.0-18-amd64",
    "v": "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1",
    "m": "x86_64",
    "o": "GNU/Linux",
}
"""The words of `uname`, by its options."""

OS_RELEASE = """\
PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
NAME="Debian GNU/Linux"
VERSION_ID="12"
VERSION="12 (bookworm)"
VERSION_CODENAME=bookworm
ID=debian
HOME_URL="https://www.debian.org/"
SUPPORT_URL="https://www.debian.org/support"
BUG_REPORT_URL="https://bugs.debian.org/"
"""
"""The text of `/etc/os-release`, of the same system."""


def system_files(state: TerminalState) -> dict[str, str]:
    """Return the files of the system that hold the names of the user and the machine."""
    user = "" if state.user == "root" else f"{state.user}:x:1000:1000::{state.home}:/bin/bash\n"
    group = "" if state.user == "root" else f"{state.user}:x:1000:\n"
    return {
        "/etc/group": f"root:x:0:\n{group}nogroup:x:65534:\n",
        "/etc/hostname": f"{state.host}\n",
        "/etc/hosts": f"127.0.0.1\tlocalhost\n127.0.1.1\t{state.host}\n",
        "/etc/passwd": f"root:x:0:0:root:/root:/bin/bash\n{user}nobody:x:65534:65534:nobody:/nonexistent:/bin/false\n",
    }
