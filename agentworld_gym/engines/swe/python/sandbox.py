"""Python in a sandbox: what a run is, and which sandbox this machine has."""

from __future__ import annotations

import atexit
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol

from agentworld_gym.engines import EngineError

SANDBOXES = ("bubblewrap", "monty")
"""Real CPython behind Linux namespaces, and a subset of Python in an interpreter without a host."""


@dataclass(frozen=True, slots=True)
class PythonResult:
    """How a run ended.

    `files` are the text files it wrote or changed, absolute path -> text; `removed` those that are gone.
    """

    stdout: str
    stderr: str
    exit_code: int
    files: dict[str, str] = field(default_factory=dict)
    timed_out: bool = False
    removed: tuple[str, ...] = ()


class PythonSandbox(Protocol):
    """Runs Python over the files of a repository, away from the host.

    One sandbox serves a whole process: a run starts from the files it is given and leaves nothing behind.
    """

    @property
    def name(self) -> str:
        """`bubblewrap` or `monty`."""
        ...

    def run(
        self,
        files: Mapping[str, str],
        argv: Sequence[str],
        *,
        cwd: str,
        stdin: str = "",
        env: Mapping[str, str] = {},
        timeout_s: float = 10.0,
    ) -> PythonResult:
        """Run `python ARGV`; whatever happens inside is told by the result.

        Args:
            files: the files there are, absolute path -> text; nothing else of the run's world exists before it.
            argv: as after `python`: `["script.py", ...]`, `["-c", code]`, `["-m", "pytest", "-q"]`, `["-m", "module"]`.
            cwd: the working directory, an absolute path.
            stdin: what the program can read.
            env: environment variables of the program.
            timeout_s: seconds after which the program is stopped (exit code 124, `timed_out`).
        """
        ...

    def close(self) -> None:
        """Free what is held; twice is fine."""
        ...


def clean(text: str) -> str:
    """A text that any program can read: without halves of characters."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def open_sandbox(name: str = "auto") -> PythonSandbox:
    """The sandbox of that name, one for this process: `bubblewrap`, `monty`, or `auto` for the first that works here.

    >>> open_sandbox("monty").run({"/w/a.py": "print(6 * 7)"}, ["a.py"], cwd="/w").stdout
    '42\\n'

    Raises:
        EngineError: no sandbox has this name, or it cannot run on this machine.
    """
    return _opened(name)


@cache
def _opened(name: str) -> PythonSandbox:
    if name == "auto":
        from agentworld_gym.engines.swe.python.bubblewrap import usable

        return _opened("bubblewrap" if usable() else "monty")
    if name == "bubblewrap":
        from agentworld_gym.engines.swe.python.bubblewrap import Bubblewrap, usable

        if not usable():
            raise EngineError("bubblewrap cannot run Python here (is bwrap installed?); monty can, everywhere")
        return Bubblewrap()
    if name == "monty":
        from agentworld_gym.engines.swe.python.monty import MontySandbox

        sandbox = MontySandbox()
        atexit.register(sandbox.close)
        return sandbox
    raise EngineError(f"no sandbox {name!r}; there are {', '.join(SANDBOXES)} and auto")
