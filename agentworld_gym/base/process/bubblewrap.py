"""The command of a sandbox of Linux namespaces around a Python interpreter, as bubblewrap makes it.

What runs inside sees no host file but those of the interpreter, no network and no other process.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from posixpath import basename, join
from typing import NamedTuple

PREFIX = "/usr/local"
"""The folder inside the sandbox of an interpreter that does not lie in /usr."""


class HostPython(NamedTuple):
    """A CPython of the host.

    >>> HostPython.current().version == sys.version_info[:2]
    True
    """

    executable: str
    """The real path of the program, all links resolved."""

    prefix: str
    """The folder of the installation, with the standard library; for a virtual environment, that of its base."""

    version: tuple[int, int]
    """The major and the minor version."""

    @classmethod
    def current(cls) -> HostPython:
        """Return the interpreter of this process."""
        return cls(os.path.realpath(sys.executable), sys.base_prefix, sys.version_info[:2])

    @property
    def foreign(self) -> bool:
        """Whether the interpreter lies outside /usr, and so gets a folder of its own inside."""
        return not self.executable.startswith("/usr/bin/")

    @property
    def inside(self) -> str:
        """The path of the program inside the sandbox."""
        return join(PREFIX if self.foreign else "/usr", "bin", basename(self.executable))


@cache
def sandbox_command(interpreter: HostPython) -> tuple[str, ...]:
    """Return the `bwrap` command with everything that does not depend on the run; what follows are further options.

    Args:
        interpreter: The interpreter that runs inside. Its packages are hidden.
    """
    command = [shutil.which("bwrap") or "bwrap", "--unshare-all", "--unshare-user", "--uid", "1000", "--gid", "1000"]
    command += ["--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL", "--hostname", "sandbox"]
    if knows("--disable-userns"):
        command += ["--disable-userns"]
    # `bwrap` itself must not be visible inside: its environment is the host's, and its output is the answer.
    command += ["--as-pid-1"]
    command += ["--ro-bind", "/usr", "/usr"]
    for name in ("lib", "lib64", "bin"):
        if os.path.islink(f"/{name}"):
            command += ["--symlink", f"usr/{name}", f"/{name}"]
        elif os.path.isdir(f"/{name}"):
            command += ["--ro-bind", f"/{name}", f"/{name}"]
    prefix = "/usr"
    if interpreter.foreign:
        prefix = PREFIX
        command += ["--ro-bind", interpreter.prefix, PREFIX, "--setenv", "LD_LIBRARY_PATH", f"{PREFIX}/lib"]
    version = "python{}.{}".format(*interpreter.version)
    packages = (f"lib/{version}/site-packages", f"lib/{version}/dist-packages", "lib/python3/dist-packages")
    for folder in packages:
        if os.path.isdir(join(interpreter.prefix, folder)):
            command += ["--tmpfs", join(prefix, folder), "--remount-ro", join(prefix, folder)]
    # The folders of `--dev` lie in memory without a bound, so nothing may be written there. The user inside is that of
    # the host; if that is root, the settings of its kernel are files in /proc that the user may write.
    return (*command, "--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev", "--remount-ro", "/dev")


@cache
def knows(option: str) -> bool:
    """Return whether the installed `bwrap` has an option.

    What older versions cannot forbid, a filter of system calls has to refuse as well.

    Args:
        option: The option, such as `--disable-userns`.
    """
    usage = subprocess.run(["bwrap", "--help"], capture_output=True, text=True, check=False)
    return option in usage.stdout
