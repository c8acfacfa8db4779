"""The interface of a Python sandbox: what a run takes and how it ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from agentworld_gym.core.engines import EngineError


@dataclass(frozen=True, slots=True)
class PythonResult:
    """The outcome of a run."""

    stdout: str
    """What the program printed on standard output."""
    stderr: str
    """What the program printed on standard error."""
    exit_code: int
    """The exit code of the program."""
    files: dict[str, str] = field(default_factory=dict)
    """The text files that the program wrote or changed, absolute path -> text."""
    timed_out: bool = False
    """Whether the program was stopped because its time was up."""
    removed: tuple[str, ...] = ()
    """The paths of the files that the program removed."""


class PythonSandbox(Protocol):
    """Runs Python over the files of a repository, away from the host.

    One sandbox serves a whole process: a run starts from the files that it is given and leaves nothing behind.
    """

    @property
    def name(self) -> str:
        """The name of the sandbox: `bubblewrap` or `monty`."""
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
        """Run `python ARGV`; the result describes whatever happens inside.

        Args:
            files: all files of the run, absolute path -> text.
            argv: the words after `python`: `["script.py", ...]`, `["-c", code]`, `["-m", "pytest", "-q"]`, `["-m",
                "module"]`.
            cwd: the working directory, an absolute path.
            stdin: the text that the program can read.
            env: the environment variables of the program.
            timeout_s: the number of seconds after which the program is stopped (exit code 124, `timed_out`).
        """
        ...

    def close(self) -> None:
        """Free what the sandbox holds; a second call does nothing."""
        ...


def clean(text: str) -> str:
    """Return a text that any program can read, with question marks for lone surrogates."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


class _NoSandbox:
    """Runs no Python: a view computes nothing."""

    name = "none"

    def run(self, *_given: Any, **_named: Any) -> PythonResult:
        """Refuse."""
        raise EngineError("a view runs no Python")

    def close(self) -> None:
        """Do nothing."""


NO_SANDBOX = _NoSandbox()
