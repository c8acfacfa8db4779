"""The free agent of repositories: it writes files and reads them back, with the tools, the shell and git."""

from __future__ import annotations

import random
from collections.abc import Callable
from posixpath import basename, dirname, join, normpath, relpath
from shlex import quote

from agentworld_gym.agents.policies.exploring.base import SESSION
from agentworld_gym.agents.policies.exploring.free.contents import Contents
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.domains.swe.explorer import CodeExplorer, tool
from agentworld_gym.domains.swe.shell_lines import ShellLines

_LOST = 0.12
"""The share of the operands that name nothing."""


def free(task: Task, rng: random.Random, slip: float) -> ActionStream:
    """Take some actions of a free agent, which errs by itself."""
    return free_coder(task, rng, rng.randint(*SESSION))


def free_coder(task: Task, rng: random.Random, n: int) -> ActionStream:
    """Take `n` actions of a free agent; equal random numbers and equal observations give equal actions.

    >>> from agentworld_gym.core.tasks import families, generate
    >>> task = generate("swe", sorted(families("swe"))[0], 1, 0)
    >>> next(free_coder(task, random.Random(0), 3)) == next(free_coder(task, random.Random(0), 3))
    True
    """
    agent = FreeCoder(task, rng)
    for _ in range(n):
        (action,) = agent.choices()
        agent.see(action, (yield action))


class FreeCoder(CodeExplorer):
    """A coding agent without a task: what it makes it often looks at, and at times it errs."""

    def __init__(self, task: Task, rng: random.Random) -> None:
        super().__init__(task, rng)
        self._contents = Contents(self._words, rng)
        self._made: list[str] = []
        self._lines = ShellLines(self, self._contents, rng)

    def draft(self) -> str:
        """Draft one call, and plan what looks at its effect."""
        return self.weighted(_KINDS)(self)

    @property
    def root(self) -> str:
        """The folder of the repository."""
        return self._root

    @property
    def file(self) -> str:
        """A file that was there at the start, was made, or was never there."""
        if self.chance(_LOST):
            return join(self.folder, self._contents.name)
        return self.rng.choice(self._made) if self._made and self.chance(0.5) else self._file()

    @property
    def folder(self) -> str:
        """A folder that was there or may have been made, and at times one that was never there."""
        if self.chance(0.08):
            return join(self._root, self._contents.word)
        if self._made and self.chance(0.25):
            return dirname(self.rng.choice(self._made))
        return self._folder() if self.chance(0.5) else self._root

    @property
    def fresh(self) -> str:
        """A path that is not taken, mostly at the root or in a folder that is there."""
        name = self._contents.name
        if self.chance(0.12):
            return join(self._root, self._contents.word, name)
        return join(self._root if self.chance(0.55) else self._folder(), name)

    def text_of(self, path: str) -> str:
        """Return the text that a file had when it was last seen; it is empty where that is not known."""
        return self._files.get(path, "")

    def symbol(self) -> str:
        """Return a name that stands in some file."""
        return self._name()

    def made(self, path: str) -> str:
        """Note that a file may have been made, and return its path."""
        if path not in self._made:
            self._made.append(path)
        return path

    def spelled(self, path: str) -> str:
        """Return a path as a word of a command: mostly relative to the root."""
        chance = self.rng.random()
        if chance < 0.1:
            return quote(path)
        return quote(f"./{relpath(path, self._root)}" if chance < 0.13 else relpath(path, self._root))

    def shell(self) -> str:
        """Run a line that reads."""
        return self.run(self._lines.reading())

    def change(self) -> str:
        """Run a line that changes files, and mostly look at them."""
        line, looks = self._lines.changing()
        self._plan_looks(looks)
        return self.run(line)

    def commit(self) -> str:
        """Run commands of git."""
        return self.run(self._lines.versioning())

    def execute(self) -> str:
        """Run a program of Python, tests, or a program that is not there."""
        return self.run(self._lines.executing())

    def run(self, line: str) -> str:
        """Return the call that runs a line."""
        more = {"directory": self.folder} if self.chance(0.02) else {}
        if self.chance(0.05):
            more["description"] = self._words.phrase
        return tool("run_shell_command", command=line, **more)

    def write(self) -> str:
        """Write a file, or another content into one that is there, and mostly look at it."""
        path = self.file if self.chance(0.3) else self.fresh
        self._plan_looks([self.made(path)])
        return tool("write_file", file_path=path, content=self._contents.text(basename(path)))

    def edit(self) -> str:
        """Replace a text that occurs once, several times, or not at all; at times make a file in this way."""
        if self.chance(0.1):
            path = self.made(self.fresh)
            self._plan_looks([path])
            return tool("edit", file_path=path, old_string="", new_string=self._contents.text(basename(path)))
        path = self.file
        lines = [line for line in self.text_of(path).split("\n") if line.strip()]
        if not lines or self.chance(0.3):
            old = self.rng.choice((self.symbol(), self._contents.line, " ", "e"))
            more = {"expected_replacements": self.rng.randint(1, 3)} if self.chance(0.2) else {}
            self._plan_looks([path])
            return tool("edit", file_path=path, old_string=old, new_string=self._contents.word, **more)
        self._plan_looks([path])
        start = self.rng.randrange(len(lines))
        old = "\n".join(lines[start : start + self.rng.choice((1, 1, 1, 2))])
        forms = (self._altered(old), self._contents.line, old.upper(), "", f"{old}\n{self._contents.line}")
        return tool("edit", file_path=path, old_string=old, new_string=self.rng.choice(forms))

    def look(self) -> str:
        """Read, list or search files and folders, which at times are not there."""
        return self.look_at(self.file)

    def look_at(self, path: str) -> str:
        """Return a call that shows something of a file."""
        rng, folder = self.rng, dirname(path)
        start, count = rng.randint(0, 6), rng.randint(1, 8)
        looks = (
            (tool("read_file", absolute_path=path), 6),
            (tool("read_file", absolute_path=path, offset=start, limit=count), 1.5),
            (tool("read_file", absolute_path=path, limit=count), 0.7),
            (tool("read_many_files", paths=[relpath(path, self._root), self._pattern()]), 0.5),
            (tool("list_directory", path=folder if self.chance(0.7) else self.folder), 1.5),
            (tool("glob", pattern=f"**/*.{path.rpartition('.')[2]}" if self.chance(0.5) else self._pattern()), 0.7),
            (tool("search_file_content", pattern=self.symbol(), path=path if self.chance(0.5) else self.folder), 1),
            (tool("search_file_content", pattern=rng.choice(("[a-z]+ing", "^#", r"\d+", "("))), 0.3),
            (self.run(self._lines.look(path)), 6),
        )
        return self.weighted(looks)

    def slip(self) -> str:
        """Draft a call that cannot be carried out."""
        path = self.file
        return self.rng.choice(
            (
                tool("list_directory", path=join(self._root, self._contents.word)),
                tool("list_directory", path=path),
                tool("read_file", absolute_path=self.folder),
                tool("read_file", absolute_path=self.fresh),
                tool("read_file", absolute_path=relpath(path, self._root)),
                tool("read_file", absolute_path=normpath(f"/{self._contents.word}/{basename(path)}")),
                tool("write_file", file_path=relpath(path, self._root), content=self._contents.line),
                tool("write_file", file_path=self.folder, content=self._contents.line),
                tool("write_file", file_path=f"{path}/{self._contents.name}", content=self._contents.line),
                tool("edit", file_path=self.fresh, old_string=self.symbol(), new_string=self._contents.word),
                tool("edit", file_path=path, old_string=self._contents.line, new_string=self._contents.line),
                tool("edit", file_path=path, old_string=self.symbol(), new_string=self._contents.word),
                tool("search_file_content", pattern=self.symbol(), path=join(self._root, self._contents.word)),
                tool("run_shell_command", command="ls", directory=join(self._root, self._contents.word)),
                tool("run_shell_command", command="   "),
                tool(self._contents.word, path=path),
                tool("read_file", path=path),
            )
        )

    def _plan_looks(self, paths: list[str]) -> None:
        """Plan to look at paths: mostly once, at times not at all or again in another way."""
        for path in paths[:2]:
            for probability in (0.75, 0.35):
                if self.chance(probability):
                    self.plan(self.look_at(path))


_KINDS: tuple[tuple[Callable[[FreeCoder], str], float], ...] = (
    (FreeCoder.write, 0.13),
    (FreeCoder.edit, 0.12),
    (FreeCoder.change, 0.3),
    (FreeCoder.look, 0.1),
    (FreeCoder.shell, 0.11),
    (FreeCoder.commit, 0.1),
    (FreeCoder.execute, 0.06),
    (FreeCoder.slip, 0.06),
    (FreeCoder.todo, 0.01),
    (FreeCoder.wrong, 0.01),
)
