"""The explorer of repositories, which uses the tools of a coding assistant."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping
from posixpath import basename, dirname, relpath
from typing import Any

from agentworld_gym.agents.policies.exploring.base import Explorer, RandomWords
from agentworld_gym.core.domain.task import Task

TODOS = ("Read the code", "Reproduce the problem", "Repair it", "Run the tests", "Look at the history", "Write it down")
_NAME = re.compile(r"[A-Za-z_]\w{3,}")
_NUMBER = re.compile(r"\d+")
_DONE = ("Successfully ", "The file ", "File created ")
"""How both scaffolds begin to say that a file was changed."""


class CodeExplorer(Explorer):
    """An explorer that reads, lists and searches, edits lines that exist and some that do not, and looks at the
    result."""

    def __init__(self, task: Task, rng: random.Random) -> None:
        super().__init__(task, rng)
        self._root = str(task.state.get("root", "/repo"))
        files: Mapping[str, Any] = task.state.get("files", {})
        texts = {path: file if isinstance(file, str) else (file or {}).get("content") for path, file in files.items()}
        self._files: dict[str, str] = {path: text for path, text in texts.items() if isinstance(text, str)}
        self._words = RandomWords(task, rng)
        self._todos: list[dict[str, str]] = []

    def see(self, action: str, observation: str) -> None:
        """Keep track of the texts of files that were edited or written."""
        try:
            outer = json.loads(action)
            arguments = outer["arguments"]
            arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
            path = arguments["file_path"]
            if not observation.startswith(_DONE):
                return
            if outer["name"] == "write_file":
                self._files[path] = arguments["content"]
            elif outer["name"] == "edit" and path in self._files:
                self._files[path] = self._files[path].replace(arguments["old_string"], arguments["new_string"])
        except (ValueError, KeyError, TypeError, AttributeError):
            return

    def draft(self) -> str:
        """Draft one call."""
        return self.weighted(_KINDS)(self)

    def read(self) -> str:
        """Read a file, as a whole or in part; at times the file does not exist."""
        path = self._file() if self.chance(0.92) else self._missing()
        if self.chance(0.35):
            lines = max(1, self._files.get(path, "").count("\n"))
            part = {"offset": self.rng.randint(0, lines + 1), "limit": self.rng.randint(1, 12)}
            if self.chance(0.3):
                del part[self.rng.choice(("offset", "limit"))]
            return tool("read_file", absolute_path=path, **part)
        return tool("read_file", absolute_path=path)

    def listing(self) -> str:
        """List a folder, which at times does not exist."""
        path = self._folder() if self.chance(0.9) else self.rng.choice((self._missing(), self._file()))
        if self.chance(0.15):
            return tool("list_directory", path=path, ignore=[self._pattern()])
        return tool("list_directory", path=path)

    def glob(self) -> str:
        """Find files by a pattern."""
        if self.chance(0.3):
            return tool("glob", pattern=self._pattern(), path=self._folder())
        return tool("glob", pattern=self._pattern())

    def grep(self) -> str:
        """Find lines by a name or a short expression that stands in some file."""
        pattern = self._name()
        if self.chance(0.25):
            pattern = self.rng.choice(
                ("def ", "class ", "import ", "^from ", "return ", r"= \d+", "TODO", f"{pattern}\\(")
            )
        more: dict[str, Any] = {}
        if self.chance(0.3):
            more["path"] = self.rng.choice((self._file(), self._folder()))
        if self.chance(0.2):
            more["include"] = self.rng.choice(("*.py", "*.md", "test_*.py", "*.toml"))
        return tool("search_file_content", pattern=pattern, **more)

    def edit(self) -> str:
        """Change a line that exists, and often look at it afterwards."""
        path = self._file()
        lines = [line for line in self._files.get(path, "").split("\n") if line.strip()]
        if not lines:
            return self.read()
        text = self._files[path]
        old = self.rng.choice(lines)
        if self.chance(0.12):
            return tool("edit", file_path=path, old_string=self._altered(old) + "~", new_string=old)
        if self.chance(0.12):
            words = [word for word in _NAME.findall(text) if text.count(word) > 1]
            if words:
                word = self.rng.choice(words)
                more = {"expected_replacements": text.count(word)} if self.chance(0.5) else {}
                return tool("edit", file_path=path, old_string=word, new_string=self._words.word.lower(), **more)
        if self.chance(0.6):
            self.plan(self._check(path, old))
        return tool("edit", file_path=path, old_string=old, new_string=self._altered(old))

    def write(self) -> str:
        """Write a small file, mostly a fresh one, and look at it afterwards."""
        name = self._words.word.lower()
        path, content = self.rng.choice(
            (
                (f"{self._folder()}/{name}.txt", f"{self._words.phrase}\n"),
                (f"{self._folder()}/{name}.py", f"{name.upper()} = {self.rng.randint(1, 99)}\n"),
                (
                    f"{self._root}/{name}/{self._words.word.lower()}.md",
                    f"# {self._words.phrase}\n\n{self._words.text}\n",
                ),
            )
        )
        if self.chance(0.8):
            looks = (
                tool("read_file", absolute_path=path),
                tool("read_file", absolute_path=path),
                tool("list_directory", path=dirname(path)),
                tool("run_shell_command", command=f"cat {relpath(path, self._root)}"),
                tool("run_shell_command", command="git status --short"),
            )
            self.plan(self.rng.choice(looks))
        return tool("write_file", file_path=path, content=content)

    def todo(self) -> str:
        """Write a list of things to do, or how far they are."""
        if self._todos:
            self._todos = [{**entry, "status": self._status()} for entry in self._todos]
        else:
            chosen = self.rng.sample(TODOS, self.rng.randint(1, 3))
            self._todos = [
                {"id": str(number), "content": content, "status": "pending"} for number, content in enumerate(chosen, 1)
            ]
        return tool("todo_write", todos=self._todos)

    def shell(self) -> str:
        """Run a command that costs little and runs no code of the repository."""
        file = relpath(self._file(), self._root)
        folder = relpath(self._folder(), self._root)
        commands = (
            f"cat {file}",
            f"head -n {self.rng.randint(1, 5)} {file}",
            f"wc -l {file}",
            f"grep -n {self._name()} {file}",
            f"grep -rn {self._name()} {folder}",
            f"ls {folder}",
            "pwd",
            "git status",
            "git status --short",
            "git diff",
            "git diff --stat",
            "git log --oneline",
            "git branch",
            f"cat {relpath(self._missing(), self._root)}",
        )
        command = self.rng.choice(commands)
        if self.chance(0.1):
            return tool("run_shell_command", command="ls", directory=self._folder())
        return tool("run_shell_command", command=command)

    def wrong(self) -> str:
        """Draft a call that cannot be carried out."""
        path = self._file()
        return self.rng.choice(
            (
                tool("read_file", path=path),
                tool("read_file", absolute_path=relpath(path, self._root)),
                tool("read_file", absolute_path=self._folder()),
                tool("edit", file_path=self._missing(), old_string=self._name(), new_string=self._words.word),
                tool("edit", file_path=path, old_string=self._name()),
                tool("open_file", absolute_path=path),
                tool("write_file", file_path=path),
                tool("search_file_content", pattern="("),
                tool("todo_write", todos=[{"id": "1", "content": self.rng.choice(TODOS), "status": "done"}]),
            )
        )

    def _check(self, path: str, line: str) -> str:
        number = self._files[path].split("\n").index(line)
        looks = (
            tool("read_file", absolute_path=path),
            tool("read_file", absolute_path=path, offset=max(0, number - 3), limit=7),
            tool("run_shell_command", command="git diff"),
            tool("search_file_content", pattern=self._name(), path=path),
        )
        return self.rng.choice(looks)

    def _altered(self, line: str) -> str:
        """Return a line with a small change: another number, name or comment, one line more, or no line at all."""
        indent = line[: len(line) - len(line.lstrip())]
        numbers, names = _NUMBER.findall(line), _NAME.findall(line)
        forms = [line + "  # " + self._words.phrase, f"{line}\n{indent}# {self._words.phrase}", f"{indent}pass"]
        if numbers:
            forms += [_NUMBER.sub(str(self.rng.randint(1, 50)), line, count=1)] * 3
        if names:
            forms += [line.replace(self.rng.choice(names), self._words.word.lower())] * 3
        return self.rng.choice(forms)

    def _status(self) -> str:
        return self.rng.choice(("pending", "in_progress", "completed"))

    def _file(self) -> str:
        return self.rng.choice(list(self._files)) if self._files else f"{self._root}/README.md"

    def _folder(self) -> str:
        return self.rng.choice(sorted({dirname(path) for path in self._files} | {self._root}))

    def _missing(self) -> str:
        return f"{self._folder()}/{self._words.word.lower()}.py"

    def _pattern(self) -> str:
        file = self._file()
        folder = relpath(self._folder(), self._root)
        forms = ("**/*.py", "*.md", "*.toml", "**/test_*.py", f"**/{basename(file)}", f"{folder}/*", f"**/*{file[-3:]}")
        return self.rng.choice(forms)

    def _name(self) -> str:
        names = _NAME.findall(self._files.get(self._file(), ""))
        return self.rng.choice(names) if names and self.chance(0.9) else self._words.word


_KINDS: tuple[tuple[Callable[[CodeExplorer], str], float], ...] = (
    (CodeExplorer.read, 0.27),
    (CodeExplorer.listing, 0.08),
    (CodeExplorer.glob, 0.08),
    (CodeExplorer.grep, 0.14),
    (CodeExplorer.edit, 0.2),
    (CodeExplorer.write, 0.06),
    (CodeExplorer.todo, 0.04),
    (CodeExplorer.shell, 0.08),
    (CodeExplorer.wrong, 0.05),
)


def tool(name: str, /, **arguments: Any) -> str:
    """Return a call as the tasks write it, with its arguments as a string.

    >>> tool("list_directory", path="/repo")
    '{"name": "list_directory", "arguments": "{\\\\"path\\\\": \\\\"/repo\\\\"}"}'
    """
    inner = json.dumps(arguments, ensure_ascii=False)
    return json.dumps({"name": name, "arguments": inner}, ensure_ascii=False)
