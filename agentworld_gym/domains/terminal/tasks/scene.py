"""The scene of a terminal task: a working folder that is being filled, and checks on its files."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence

from agentworld_gym.core.domain.task import Check, Expect, Split
from agentworld_gym.core.tasks.family import Finding, TaskDraft
from agentworld_gym.core.tasks.scene import Scene, family_of
from agentworld_gym.kit.vocabulary import FOLDERS, NAMES, STEMS, WORDS, WordPool

HOME = "/home/dev"
WORKING_FOLDERS = (HOME, HOME + "/work", "/srv/app", "/srv/data")


Print = tuple[str, Expect]
"""A command, and the test of what it prints at the end of the episode."""

_LONG_FORM = r"-[rwx-]{9} +\S+ +\d+ \S+ \S+ "
"""What `tar -tv` writes before a name."""


class TerminalScene(Scene):
    """A working folder that is being filled for one task. It hands out every word and name only once.

    >>> scene = TerminalScene(random.Random(1), 1, "train")
    >>> path = scene.put(scene.file("txt"), [scene.word(), scene.word()])
    >>> scene.files[path].count("\\n"), scene.listing("docs") == sorted([path, "docs"])
    (2, True)
    """

    def __init__(self, rng: random.Random, level: int, split: Split) -> None:
        super().__init__(rng, level, split)
        self.files: dict[str, str] = {}
        self._used: set[str] = set()

    def fresh(self, pool: WordPool) -> str:
        """Draw one entry of a pool that has not been handed out."""
        entries = pool.of(self.split)
        while (entry := self.rng.choice(entries)) in self._used:
            pass
        self._used.add(entry)
        return entry

    def word(self) -> str:
        """Draw a fresh content word."""
        return self.fresh(WORDS)

    def name(self) -> str:
        """Draw the fresh name of a person."""
        return self.fresh(NAMES)

    def folder(self) -> str:
        """Draw a fresh folder name."""
        return self.fresh(FOLDERS)

    def file(self, extension: str) -> str:
        """Draw a fresh file name with this extension."""
        return f"{self.fresh(STEMS)}.{extension}"

    def line(self, *words: str) -> str:
        """Return a line of two words in random order: the given ones, and fresh ones if there are fewer than two."""
        chosen = [*words, *(self.word() for _ in range(2 - len(words)))]
        self.rng.shuffle(chosen)
        return " ".join(chosen)

    def lines(self, least: int, most: int) -> list[str]:
        """Return some lines of one or two fresh words."""
        count = self.rng.randint(least, most)
        return [self.line() if self.rng.random() < 0.4 else self.word() for _ in range(count)]

    def put(self, path: str, lines: Iterable[str]) -> str:
        """Write a file below the working folder and return its path."""
        self.files[path] = "".join(line + "\n" for line in lines)
        return path

    def siblings(self, extension: str, word: str, count: int = 3) -> list[str]:
        """Write files of a few lines, of which only the first holds the word, once; return their names."""
        names = [self.file(extension) for _ in range(count)]
        for index, name in enumerate(names):
            lines = self.lines(2, 3)
            if index == 0:
                lines[self.rng.randrange(len(lines))] = self.line(word)
            self.put(name, lines)
        return names

    def other_numbers(self, number: int, count: int = 2) -> list[int]:
        """Draw wrong numbers close to the right one."""
        near = [n for n in range(max(1, number - 3), number + 4) if n != number]
        return self.rng.sample(near, count)

    def listing(self, *more: str, without: Sequence[str] = ()) -> list[str]:
        """Return what `ls -1` prints when there are some entries more and some fewer than at the start."""
        return sorted({path.split("/")[0] for path in self.files} - set(without) | set(more))

    def draft(
        self,
        instruction: str,
        expert: Sequence[str],
        distractors: Sequence[str],
        checks: Sequence[Print],
        free_values: Sequence[str] = (),
        found: tuple[str, str] | None = None,
    ) -> TaskDraft:
        """Return the draft, in a random working folder and with checks of equal weight.

        Args:
            instruction: What the agent is asked to do.
            expert: The actions that do it.
            distractors: Wrong actions.
            checks: What commands print in the end.
            free_values: The files, below the working folder, that may hold something else than the expert leaves in
                them, as long as the checks pass. A screen hides control characters, so that these checks print them
                with `cat -v`.
            found: The words for what an agent finds out on the way, and what that is.
        """
        cwd = self.rng.choice(WORKING_FOLDERS)
        # The order of the files must not tell which one matters.
        files = {f"{cwd}/{path}": text for path, text in sorted(self.files.items())}
        state = {"user": "dev", "host": "box", "home": HOME, "cwd": cwd, "files": files, "dirs": []}
        share = 1 / len(checks)
        success = tuple(Check(probe=command, expect=expect, weight=share) for command, expect in checks)
        finding = None if found is None else Finding(*found)
        freed = tuple(f"{cwd}/{path}" for path in free_values)
        return TaskDraft(
            instruction, state, success, tuple(expert), tuple(distractors), free_values=freed, found=finding
        )


family = family_of(TerminalScene)
"""The decorator that turns a function of a scene and a level into a family of terminal tasks."""


def prints(command: str, lines: str | Iterable[str]) -> Print:
    """Return a check that a command prints exactly these lines."""
    return command, Expect(equals=lines if isinstance(lines, str) else "\n".join(lines))


def prints_names(command: str, names: Iterable[str], long_form: bool = False) -> Print:
    """Return a check that a command prints the names of these files in this order, in any folder.

    Args:
        command: The command.
        names: The names.
        long_form: Whether what `tar -tv` writes may stand before a name.

    >>> prints_names("tar -tf a.tar", ["x.log"])[1].holds("./x.log"), prints_names("cat a", ["x"])[1].holds("x y")
    (True, False)
    """
    before = f"(?:{_LONG_FORM})?" if long_form else ""
    lines = "\n".join(rf"{before}(?:\S*/)?{re.escape(name)}" for name in names)
    return command, Expect(matches=rf"\A{lines}\s*\Z")


def numbers(values: Iterable[int], command: str) -> list[str]:
    """Return the command for each number, which replaces `{}`."""
    return [command.replace("{}", str(value)) for value in values]
