"""What all results of `agentworld eval` share: they are typed, written as JSON, and read back."""

from __future__ import annotations

from pathlib import Path
from typing import Self

import orjson

from agentworld_gym.base.documents.atomic_files import write_atomically
from agentworld_gym.base.documents.strict import Strict, validated
from agentworld_gym.base.errors import SpecError
from agentworld_gym.core.domain.task import Split

FORMAT = 2
"""The version of the results' form; it rises when a key changes its meaning."""

EXCERPT = 2000
"""The number of characters that a result keeps of a text that it quotes."""

Counts = dict[str, int]


class EvaluationResult(Strict):
    """A result that is written and read as JSON."""

    format: int = FORMAT
    """The version of the form."""

    package: str = ""
    """The version of this package."""

    def write(self, path: Path) -> None:
        """Write the result as JSON; a crash leaves the earlier file or the whole of this one."""
        write_atomically(path, self.model_dump_json(indent=1) + "\n")

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a result that `write` wrote.

        Raises:
            SpecError: The file holds something else.
            OSError: The file cannot be read.
        """
        try:
            return validated(cls, orjson.loads(path.read_bytes()), path)
        except orjson.JSONDecodeError as error:
            raise SpecError(path, "file", path.name, f"JSON ({error})") from error


REPORTED = 100
"""The least number of test tasks whose figures are to be reported."""


class TaskDraw(Strict):
    """Which tasks an evaluation plays, and what its figures are good for."""

    split: Split
    """The split of the tasks."""

    seed: int
    """The seed of the tasks."""

    drawn: bool = False
    """Whether the seed was drawn for this evaluation, so that nothing was chosen by its tasks before."""

    tasks: int
    """The least number of tasks that a figure rests on."""

    named: bool = False
    """Whether a user named the tasks, so that split and seed say nothing of them."""

    def __str__(self) -> str:
        """Say in a line what the figures are good for.

        >>> print(TaskDraw(split="validation", seed=0, tasks=100))
        100 validation tasks, seed 0: figures to choose by, not to report.
        >>> print(TaskDraw(split="test", seed=5, drawn=True, tasks=100))
        100 test tasks, seed 5, which was drawn for this run: figures to report.
        >>> print(TaskDraw(split="test", seed=5, tasks=100))
        100 test tasks, seed 5, which was given: to report only if nothing was chosen by these tasks before.
        >>> print(TaskDraw(split="test", seed=5, tasks=24))
        24 test tasks, seed 5: not to report, because these are fewer than 100.
        >>> print(TaskDraw(split="test", seed=0, tasks=2, named=True))
        2 named tasks: figures of these alone.
        """
        if self.named:
            return f"{self.tasks} named tasks: figures of these alone."
        played = f"{self.tasks} {self.split} tasks, seed {self.seed}"
        if self.split != "test":
            return f"{played}: figures to choose by, not to report."
        if self.tasks < REPORTED:
            return f"{played}: not to report, because these are fewer than {REPORTED}."
        if self.drawn:
            return f"{played}, which was drawn for this run: figures to report."
        return f"{played}, which was given: to report only if nothing was chosen by these tasks before."


def excerpt(text: str) -> str:
    r"""Return the beginning of a text that an agent or a world wrote, as UTF-8 can hold it.

    >>> excerpt("a\ud800b")
    'a\\ud800b'
    """
    cut = text if len(text) <= EXCERPT else f"{text[:EXCERPT]}…"
    return cut.encode("utf-8", "backslashreplace").decode()
