"""What a curious agent types in a terminal in vain: names that are not there, and lines that leave nothing behind."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from posixpath import relpath
from typing import ClassVar

from agentworld_gym.agents.policies.exploring.base import Explorer
from agentworld_gym.agents.policies.exploring.refusals import Phrasing, Refusals
from agentworld_gym.core.domain.task import Task
from agentworld_gym.domains.terminal.explorer import UNKNOWN_COMMANDS


class TerminalRefusals(Refusals, Explorer):
    """Types lines that fail, or that leave the files as they were."""

    def __init__(self, task: Task, rng: random.Random) -> None:
        super().__init__(task, rng)
        cwd = str(task.state.get("cwd", "/"))
        self._files = [relpath(path, cwd) for path in task.state.get("files", {})] or ["notes.txt"]
        self._folders = sorted({name.rsplit("/", 1)[0] for name in self._files if "/" in name})

    def see(self, action: str, observation: str) -> None:
        """Look at nothing: what is missing is missing in the whole task."""

    @property
    def file(self) -> str:
        """A file of the task."""
        return self.rng.choice(self._files)

    @property
    def folder(self) -> str | None:
        """A folder of the task; None where it has none."""
        return self.rng.choice(self._folders) if self._folders else None

    @property
    def missing(self) -> str:
        """A file that is not there, at times one whose name is nearly that of a file."""
        if self.chance(0.3):
            return self.names.near(self.file)
        place = self.folder if self.chance(0.2) else None
        return self.names.file if place is None else f"{place}/{self.names.file}"

    @property
    def nowhere(self) -> str:
        """A folder that is not there."""
        return self.names.word if self.chance(0.8) else f"{self.names.word}/{self.names.word}"

    def in_folder(self, line: str) -> str | None:
        """Return a line with a folder of the task; None where it has none."""
        folder = self.folder
        return None if folder is None else line.format(folder=folder)

    def mistyped(self) -> str:
        """Return the name of a program with an error of typing, and a file."""
        program = self.rng.choice(("grep", "sort", "head", "tail", "touch", "mkdir", "less"))
        return f"{self.names.near(program)} {self.file}"

    def twice(self, line: str) -> str:
        """Return a line with the same file at two places."""
        return line.format(file=self.file)

    def passing(self, line: str) -> str:
        """Return a line that makes things with fresh names and takes them away again."""
        names = [self.names.word for _ in range(3)]
        return line.format(*names, file=self.file, missing=self.missing)

    kinds: ClassVar[Mapping[str, Sequence[Phrasing]]] = {
        "missing folder": (
            lambda t: f"cd {t.nowhere}",
            lambda t: f"cd {t.nowhere}",
            lambda t: f"ls {t.nowhere}",
            lambda t: f"cd /{t.names.word}",
            lambda t: f"cd ../{t.names.word}",
            lambda t: f"cd {t.nowhere} && ls",
            lambda t: f"rmdir {t.nowhere}",
            lambda t: f"ls -l {t.nowhere}/",
        ),
        "missing file": (
            lambda t: f"cat {t.missing}",
            lambda t: f"cat {t.missing}",
            lambda t: f"head -n 2 {t.missing}",
            lambda t: f"wc -l {t.missing}",
            lambda t: f"grep {t.names.word} {t.missing}",
            lambda t: f"rm {t.missing}",
            lambda t: f"mv {t.missing} {t.names.file}",
            lambda t: f"cp {t.missing} {t.names.file}",
            lambda t: f"chmod 600 {t.missing}",
            lambda t: f"sed -i s/a/b/ {t.missing}",
            lambda t: f"sort {t.missing} {t.file}",
            lambda t: f"tail -n 3 {t.missing}",
        ),
        "nowhere to write": (
            lambda t: f"echo {t.names.word} > {t.nowhere}/{t.names.file}",
            lambda t: f"echo {t.names.word} >> {t.nowhere}/{t.names.file}",
            lambda t: f"touch {t.nowhere}/{t.names.file}",
            lambda t: f"mkdir {t.names.word}/{t.names.word}",
            lambda t: f"cp {t.file} {t.nowhere}/{t.names.file}",
            lambda t: f"mv {t.file} {t.nowhere}/",
            lambda t: f"cat {t.file} > {t.nowhere}/{t.names.file}",
            lambda t: t.in_folder(f"echo {t.names.word} > {{folder}}"),
            lambda t: f"sort {t.file} > {t.nowhere}/{t.names.file}",
        ),
        "wrong kind of thing": (
            lambda t: f"cd {t.file}",
            lambda t: f"ls {t.file}/{t.names.word}",
            lambda t: f"cat {t.file}/{t.names.file}",
            lambda t: f"rmdir {t.file}",
            lambda t: t.in_folder("cat {folder}"),
            lambda t: t.in_folder("rm {folder}"),
            lambda t: t.in_folder("mkdir {folder}"),
            lambda t: t.in_folder("head -n 1 {folder}"),
        ),
        "unknown program": (
            lambda t: t.names.word,
            lambda t: f"{t.names.word} {t.file}",
            lambda t: f"{t.names.word} --version",
            lambda t: t.rng.choice(UNKNOWN_COMMANDS),
            lambda t: f"./{t.names.word}.sh",
            lambda t: t.mistyped(),
        ),
        "wrong arguments": (
            lambda t: f"head -n {t.names.word} {t.file}",
            lambda t: f"cp {t.file}",
            lambda t: f"mv {t.file}",
            lambda t: "touch",
            lambda t: "mkdir",
            lambda t: f"chmod {t.names.word} {t.file}",
            lambda t: f"cut {t.file}",
            lambda t: f"ls --{t.names.word}",
            lambda t: f"cd {t.names.word} {t.names.word}",
            lambda t: f"sort --{t.names.word} {t.file}",
        ),
        "nothing to do": (
            lambda t: "cd .",
            lambda t: t.twice("cp {file} {file}"),
            lambda t: t.twice("mv {file} {file}"),
            lambda t: f"rm -f {t.missing}",
            lambda t: t.in_folder("mkdir -p {folder}"),
            lambda t: f"grep {t.names.word} {t.file}",
            lambda t: f"ls *.{t.names.word}",
            lambda t: f"sed -i s/{t.names.word}/{t.names.word}/ {t.file}",
        ),
        "chain": (
            lambda t: t.passing("touch {0} && mv {0} {1} && touch {2} && rm {1}"),
            lambda t: t.passing("touch {0} && mv {0} {1} && rm {1}"),
            lambda t: t.passing("mkdir {0} && cd {0} && cd .. && rmdir {0}"),
            lambda t: t.passing("mkdir {0} && rmdir {0} && ls {0}"),
            lambda t: t.passing("echo {0} > {1} && cat {1} && rm {1}"),
            lambda t: t.passing("cat {missing} && echo {0}"),
            lambda t: t.passing("cat {missing} || echo {0}"),
            lambda t: t.passing("cd {0} && touch {1}"),
            lambda t: t.passing("cd {0}; pwd"),
            lambda t: t.passing("false && rm {file}"),
            lambda t: t.passing("test -f {missing} && rm {file}"),
            lambda t: t.passing("rm {missing} {0} && echo {1}"),
            lambda t: t.passing("touch {0} && cp {0} {1} && rm {0} {1}"),
        ),
    }
    """The kinds of lines."""
