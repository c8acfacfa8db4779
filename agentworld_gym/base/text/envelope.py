"""What a command did, and the envelope in which the CLI reports it: every field, always in the same order."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

MAX_OUTPUT = 20_000


@dataclass(frozen=True, slots=True)
class Envelope:
    """The outcome of a command.

    >>> print(Envelope("false", exit_code=1).text)
    Command: false
    Directory: (root)
    Output: (none)
    Error: (none)
    Exit Code: 1
    Signal: (none)
    Background PIDs: (none)
    Process Group PGID: 26215
    """

    command: str
    """The command line."""
    directory: str = ""
    """The folder in which the command ran, relative to the root."""
    output: str = ""
    """What the command printed."""
    error: str = ""
    """The error of the tool, if there is one."""
    exit_code: int | None = None
    """The exit status, or `None` where a signal ended the command."""
    signal: int | None = None
    """The number of the signal that ended the command, if one did."""
    pids: Sequence[int] = ()
    """The numbers of the processes in the background."""
    timeout: int | None = None
    """The time in milliseconds after which the command was stopped, if it was."""

    @property
    def printed(self) -> str:
        """What the command printed, without the last line feeds and without the middle of a long text."""
        return bounded(self.output.rstrip("\n"))

    @property
    def text(self) -> str:
        """The envelope as text."""
        report = "\n".join(
            (
                f"Command: {self.command}",
                f"Directory: {self.directory or '(root)'}",
                f"Output: {self.printed or '(none)'}",
                f"Error: {self.error or '(none)'}",
                f"Exit Code: {'(none)' if self.exit_code is None else self.exit_code}",
                f"Signal: {'(none)' if self.signal is None else self.signal}",
                f"Background PIDs: {', '.join(map(str, self.pids)) or '(none)'}",
            )
        )
        return f"{report}\nProcess Group PGID: {_process_group(report)}"


def bounded(text: str, limit: int = MAX_OUTPUT) -> str:
    """Return a text without its middle where it is too long, and with question marks for bytes that are not text.

    >>> bounded("abcdefgh", 4)
    'ab\\n[... 4 characters left out ...]\\ngh'
    """
    text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"


def _process_group(report: str) -> int:
    """Return the number of the process group for all of a report that stands before it.

    The number belongs to the moment of a run, and nothing follows from it. It is a digest of the report, so that a
    short form of the report can leave it out and get it back.
    """
    digest = hashlib.blake2b(report.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return 2_000 + int.from_bytes(digest) % 60_000
