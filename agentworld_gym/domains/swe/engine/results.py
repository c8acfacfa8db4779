"""What a call of a tool has done, as data; a scaffold prints it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from agentworld_gym.base.text.envelope import Envelope

Reason = Literal[
    "argument",
    "bad pattern",
    "binary",
    "exists",
    "is a directory",
    "many",
    "no call",
    "no change",
    "no directory",
    "no file",
    "no path",
    "no space",
    "no text",
    "no tool",
    "not a directory",
    "not in a directory",
    "permission",
    "relative",
    "too long",
]
"""Why a call is refused."""


class Refused(Exception):
    """A call is refused; a scaffold has a sentence for each reason.

    Args:
        reason: The reason.
        details: What the sentence names.
    """

    def __init__(self, reason: Reason, **details: object) -> None:
        super().__init__(reason)
        self.reason: Reason = reason
        self.details = details


class Match(NamedTuple):
    """A line that a search found."""

    path: str
    """The absolute path of the file."""
    number: int
    """The number of the line, counted from 1."""
    row: str
    """The line."""


@dataclass(frozen=True, slots=True)
class Said:
    """A text that is the same in every scaffold, such as what the episode shows at its start."""

    text: str


@dataclass(frozen=True, slots=True)
class Read:
    """A file was read."""

    path: str
    rows: Sequence[str]
    """All lines of the file."""
    start: int
    """The first line that was asked for, counted from 0."""
    count: int
    """How many lines were asked for at most."""


@dataclass(frozen=True, slots=True)
class ReadMany:
    """Several files were read as a whole."""

    files: Sequence[tuple[str, Sequence[str]]]
    """The path and the lines of each file."""


@dataclass(frozen=True, slots=True)
class Written:
    """A file was written."""

    path: str
    there: bool
    """Whether there was one before."""


@dataclass(frozen=True, slots=True)
class Edited:
    """A text was replaced in a file."""

    path: str
    old: str
    new: str
    everywhere: bool
    """Whether the call asked for every place where the text stands."""
    count: int
    """How often the text was replaced."""
    first: int
    """The line of the first replacement, counted from 0."""
    rows: Sequence[str]
    """All lines of the file after it."""


@dataclass(frozen=True, slots=True)
class EditedTogether:
    """Several texts were replaced in a file by one call."""

    path: str
    edits: Sequence[tuple[str, str]]
    """The old and the new text of each replacement."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A folder was listed."""

    path: str
    folders: Sequence[str]
    files: Sequence[str]


@dataclass(frozen=True, slots=True)
class FilesFound:
    """Files were searched by their paths."""

    pattern: str
    path: str
    total: int
    """How many there are, also behind the limit of the search."""
    paths: Sequence[str]


@dataclass(frozen=True, slots=True)
class LinesFound:
    """Lines of files were searched."""

    pattern: str
    path: str
    place: str
    """The path relative to the root of the repository."""
    only: str
    """The pattern for names of files that was asked for; empty for all files."""
    mode: str
    """What the search shows: `content`, `files_with_matches` or `count`."""
    numbers: bool
    """Whether lines are shown with their numbers."""
    total: int
    """How many there are, also behind the limit of the search."""
    matches: Sequence[Match]
    names: Sequence[str]
    """The paths of the files with a match relative to the root, in the order of the matches."""
    newest: Sequence[str]
    """The absolute paths of the files with a match, the newest first."""


@dataclass(frozen=True, slots=True)
class TodosWritten:
    """The to-do list was replaced."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """A fact was saved."""

    fact: str


@dataclass(frozen=True, slots=True)
class Started:
    """A command was left in the background."""

    name: str
    """The name under which its output can be read."""
    outcome: Envelope


@dataclass(frozen=True, slots=True)
class BackgroundRead:
    """The output of a command in the background was read."""

    status: Literal["running", "completed", "failed", "killed"]
    exit_code: int | None
    output: str
    time: str


@dataclass(frozen=True, slots=True)
class Killed:
    """A command in the background was ended."""

    name: str
    command: str


Result = (
    Said
    | Read
    | ReadMany
    | Written
    | Edited
    | EditedTogether
    | Listed
    | FilesFound
    | LinesFound
    | TodosWritten
    | Remembered
    | Envelope
    | Started
    | BackgroundRead
    | Killed
    | Refused
)
"""What a call has done, or why it was refused."""
