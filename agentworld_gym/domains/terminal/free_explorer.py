"""Free-form command lines of a terminal: what people and language models type beside the steps of a task.

The lines are drawn from a grammar (`domain_specs/scenarios/terminal/free_lines.yaml`) over the files of the task and
over made-up names: lists, loops, here-documents, variables, programs that are not installed, files that are not there,
long lines and single keys.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from posixpath import relpath
from typing import Any

from agentworld_gym.agents.policies.exploring.base import SESSION
from agentworld_gym.base.documents.data_folder import data_folder
from agentworld_gym.base.documents.strict import read_yaml
from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.screens.sight import ActionStream
from agentworld_gym.kit.vocabulary import STEMS, WORDS

_NAME = re.compile(r"@([A-Za-z_]+?)(1?)@")
_SYLLABLES = re.findall("..", "bacadafegohijokalumiopaquresutivowuxyzetomapidexnogarubrsto")
_EXTENSIONS = ("txt", "log", "md", "csv", "out", "conf", "json", "sh", "dat", "bak", "")
_DEEPEST = 12
_LONG = (12, 160)
"""The fewest and the most words of a long line."""


@lru_cache(maxsize=1)
def grammar() -> Mapping[str, Any]:
    """Return the grammar: the alternatives of each name, and the weights of the kinds of a turn.

    >>> sorted(grammar()["turn"]["weights"])[:3]
    ['document', 'keys', 'list']
    """
    found = read_yaml(data_folder("domain_specs") / "scenarios" / "terminal" / "free_lines.yaml")
    rules = {name: rule.split() if isinstance(rule, str) else rule for name, rule in found.items()}
    return {**rules, "turn": found["turn"]}


def free(task: Task, rng: random.Random, slip: float) -> ActionStream:
    """Type some free lines, some of which are wrong by themselves."""
    return free_lines(task, rng, rng.randint(*SESSION))


def free_lines(task: Task, rng: random.Random, n: int) -> ActionStream:
    """Type free-form command lines, whatever they show.

    Args:
        task: The task, of whose files the lines speak.
        rng: The source of the random draws.
        n: The number of actions.

    >>> from agentworld_gym.core.tasks import generate
    >>> lines = [*free_lines(generate("terminal", "archive", 1, 0), random.Random(0), 3)]
    >>> len(lines)
    3
    """
    speaker = _Speaker(task, rng)
    actions: list[str] = []
    while len(actions) < n:
        actions += speaker.turn()
    # `yield from` would send what the action showed to the list.
    for action in actions[:n]:  # noqa: UP028
        yield action


def _typed(*keys: str, duration: float | None = None) -> str:
    more = {} if duration is None else {"duration": duration}
    return json.dumps([{"keystrokes": one, **more} for one in keys], ensure_ascii=False)


class _Speaker:
    """Draws lines from the grammar."""

    def __init__(self, task: Task, rng: random.Random) -> None:
        self._rng = rng
        self._cwd = str(task.state.get("cwd", "/"))
        texts = {
            path: file if isinstance(file, str) else str(file.get("content", ""))
            for path, file in task.state.get("files", {}).items()
        }
        names = [relpath(path, self._cwd) for path in texts]
        self._files = [name for name in names if not name.startswith("../")] or names
        self._folders = sorted({name.rsplit("/", 1)[0] for name in self._files if "/" in name})
        words = {word for text in texts.values() for word in re.findall(r"[A-Za-z]\w{2,}", text)}
        self._words = sorted(words) or [*WORDS]
        self._made: list[str] = []
        self._variables: list[str] = []
        self._same: dict[str, str] = {}
        self._away = False
        self._leaves: dict[str, Callable[[], str]] = {
            "file": self._file,
            "other": self._file,
            "table": self._table,
            "folder": self._folder,
            "inner": lambda: rng.choice(self._folders or [self._fresh()]),
            "missing": self._missing,
            "new": self._new,
            "newdir": self._new_folder,
            "dir": self._new_folder,
            "made": self._any_made,
            "word": self._word,
            "fresh": self._fresh,
            "number": lambda: str(rng.randint(2, 999)),
            "few": lambda: str(rng.randint(1, 5)),
            "letters": lambda: rng.choice("abcdefghilmnoprstw"),
            "ownext": lambda: self._file().rpartition(".")[2],
            "NAME": self._variable,
            "var": self._loop_variable,
            "made_variable": self._made_variable,
            "where": lambda: self._cwd,
            "many": self._many,
            "manynew": lambda: " ".join(f"{self._fresh()}.{rng.choice('abc')}" for _ in range(rng.randint(4, 14))),
            "manylines": lambda: "\n".join(self._speak("words") for _ in range(rng.randint(8, 30))),
        }

    def turn(self) -> list[str]:
        """Return the next actions: mostly one line."""
        weights = grammar()["turn"]["weights"]
        kind = self._rng.choices([*weights], [*weights.values()])[0]
        if kind == "keys":
            return self._keys()
        line = self._line(kind)
        if line.startswith(("cd ", "cd\n")) or line == "cd":
            self._away = True
        if line.startswith("[") or self._rng.random() < 0.25:
            return [_typed(f"{line}\n", duration=self._rng.choice((None, 0.1, 0.5, 1.0, 2.0)))]
        return [line]

    def _line(self, kind: str) -> str:
        self._same = {}
        return self._speak(kind)

    def _speak(self, name: str, depth: int = 0) -> str:
        rules = grammar()
        if name in self._leaves:
            return self._leaves[name]()
        text = str(self._rng.choice(rules[name]))
        if depth > _DEEPEST:
            return "ls"
        return _NAME.sub(lambda found: self._filled(found[1], bool(found[2]), depth), text)

    def _filled(self, name: str, same: bool, depth: int) -> str:
        if same and name in self._same:
            return self._same[name]
        said = self._speak(name, depth + 1)
        self._same.setdefault(name, said)
        return said

    def _keys(self) -> list[str]:
        """Return single keys, lines that are not entered at once, and several lines at once."""
        rng, line = self._rng, self._line(self._rng.choice(("look", "one", "single")))
        part = line[: rng.randint(1, len(line))]
        choices: tuple[list[str], ...] = (
            [_typed("\n")],
            [_typed("Enter")],
            [_typed("\n\n")],
            [_typed("C-c")],
            [_typed("", duration=rng.choice((0.5, 1.0, 5.0)))],
            [_typed(part), _typed("C-c")],
            [_typed(line), _typed("\n")],
            [_typed(line), _typed("Enter")],
            [_typed(part), _typed(f"{line[len(part):]}\n")] if len(part) < len(line) else [_typed(f"{line}\n")],
            [_typed(line, "\n")],
            [_typed(f"{line}\n", f"{self._line('look')}\n")],
            [_typed(f"cat {self._file()[:3]}\t"), _typed("C-c")],
            [_typed(f"{line}\n"), _typed("Up"), _typed("C-c")],
            [_typed(f"sleep {rng.randint(3, 60)}\n", duration=0.5), _typed("C-c")],
            [_typed("cat\n"), _typed("C-c")],
            [_typed(f"{self._line('unfinished')}\n"), _typed("C-c")],
            [self._line("unfinished"), _typed("C-c")],
            [self._line("unfinished"), self._line("look"), _typed("C-c")],
            [_typed("C-l")],
            [_typed("   \n")],
        )  # fmt: skip
        return rng.choice(choices)

    def _file(self) -> str:
        made = self._made and self._rng.random() < 0.25
        name = self._rng.choice(self._made if made else self._files) if made or self._files else self._missing()
        if self._rng.random() < (0.5 if self._away else 0.06):
            return f"{self._cwd.rstrip('/')}/{name}"
        return f"./{name}" if self._rng.random() < 0.04 else name

    def _table(self) -> str:
        return self._rng.choice([name for name in self._files if name.endswith(".csv")] or [self._file()])

    def _folder(self) -> str:
        return (
            self._rng.choice(self._folders)
            if self._folders and self._rng.random() < 0.8
            else self._rng.choice([".", "..", "~", "/tmp", self._cwd, "/etc"])
        )

    def _fresh(self) -> str:
        rng = self._rng
        if rng.random() < 0.3:
            return f"{rng.choice(STEMS)}{rng.choice(('', '_', '-'))}{rng.choice(_SYLLABLES)}"
        name = "".join(rng.choice(_SYLLABLES) for _ in range(rng.randint(1, 3)))
        return f"{name}{rng.randint(0, 99)}" if rng.random() < 0.2 else name

    def _missing(self) -> str:
        if self._rng.random() < 0.25:
            return self._fresh()
        return f"{self._fresh()}.{self._rng.choice(_EXTENSIONS[:-1])}"

    def _new(self) -> str:
        end = self._rng.choice(_EXTENSIONS)
        name = f"{self._fresh()}{'.' if end else ''}{end}"
        if self._folders and self._rng.random() < 0.15:
            name = f"{self._rng.choice(self._folders)}/{name}"
        self._made.append(name)
        return name

    def _new_folder(self) -> str:
        name = self._fresh()
        self._made.append(name)
        return name

    def _any_made(self) -> str:
        return self._rng.choice(self._made[-6:]) if self._made else self._file()

    def _word(self) -> str:
        return self._rng.choice(self._words) if self._rng.random() < 0.8 else self._rng.choice(WORDS)

    def _variable(self) -> str:
        name = self._rng.choice((self._fresh().upper(), self._fresh(), "NAME", "x", "count", "DIR", "FILE"))
        self._variables.append(name.replace("-", "_"))
        return self._variables[-1]

    def _made_variable(self) -> str:
        return self._rng.choice(self._variables or ["HOME", "USER", "NOTHING"])

    def _loop_variable(self) -> str:
        return self._rng.choice(("f", "i", "x", "name", "word", "item"))

    def _many(self) -> str:
        return " ".join(self._rng.choice((self._word(), self._fresh())) for _ in range(self._rng.randint(*_LONG)))
