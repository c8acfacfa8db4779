"""Python in a sandbox: what a run is, and which sandbox this machine has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol


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
