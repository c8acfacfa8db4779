"""The scene of a desktop task: files and windows that are being set up, and checks on what is saved."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentworld_gym.core.domain.task import Check, Expect, Split
from agentworld_gym.core.tasks.family import Finding, TaskDraft
from agentworld_gym.core.tasks.patterns import literal
from agentworld_gym.core.tasks.scene import Scene, Unfit, family_of
from agentworld_gym.core.tasks.validation import ValidationSession, prove, without_right_answers
from agentworld_gym.domains.desktop.engine import DesktopMachine
from agentworld_gym.domains.desktop.tasks.checks import answers, in_window, look, shows_text
from agentworld_gym.kit.vocabulary import WORDS, WordPool

HOME = "/home/user"
DOCUMENTS = f"{HOME}/Documents"


class DesktopScene(Scene):
    """A desktop that is being set up for one task. It hands out every name only once.

    >>> scene = DesktopScene(random.Random(1), 1, "train")
    >>> scene.put("Documents/a.txt", "one", "two")
    'a.txt'
    >>> scene.files
    {'/home/user/Documents/a.txt': 'one\\ntwo\\n'}
    """

    def __init__(self, rng: random.Random, level: int, split: Split) -> None:
        super().__init__(rng, level, split)
        self.files: dict[str, str] = {}
        self.folders: list[str] = []
        self.settings: dict[str, Any] = {}
        self.windows: list[dict[str, Any]] = []
        self.sites: dict[str, Any] = {}
        self._used: set[str] = set()
        self._seen = f".seen-{rng.randrange(16**8):08x}"
        """The name of the file to which checks copy what they look at, so that they see what is saved and not what a
        window shows. Nobody can guess the name, so nobody can have a window of that name open."""

    def fresh(self, pool: Sequence[str]) -> str:
        """Draw one entry of a pool that has not been handed out.

        Raises:
            Unfit: all are used.
        """
        entries = pool.of(self.split) if isinstance(pool, WordPool) else pool
        left = [entry for entry in entries if entry not in self._used]
        if not left:
            raise Unfit("a pool is used up")
        entry = self.rng.choice(left)
        self._used.add(entry)
        return entry

    def several(self, pool: Sequence[str], count: int) -> list[str]:
        """Draw several entries of a pool that have not been handed out.

        Raises:
            Unfit: too few are left.
        """
        return [self.fresh(pool) for _ in range(count)]

    def line(self, *words: str) -> str:
        """Return a line of a note: three words in random order, with the given ones among them."""
        return " ".join(self.mixed([*words, *self.several(WORDS, 3 - len(words))]))

    def put(self, path: str, *lines: str) -> str:
        """Write a file below the home folder; return its name without the folder."""
        self.files[f"{HOME}/{path}"] = "".join(line + "\n" for line in lines)
        return path.rpartition("/")[2]

    def folder(self, path: str) -> str:
        """Make a folder below the home folder; return its name."""
        self.folders.append(f"{HOME}/{path}")
        return path.rpartition("/")[2]

    def open(self, program: str, *arguments: str) -> None:
        """Open a window at the start; the last one that is opened is in front."""
        self.windows.append({"program": program, "arguments": list(arguments)})

    def show(self, path: str = "Documents") -> None:
        """Open a folder below the home folder in Files at the start."""
        self.open("files", f"{HOME}/{path}")

    def state(self) -> dict[str, Any]:
        """Return the state of the task. Its files are sorted by name, so that their order does not tell which one
        matters."""
        minute = self.rng.randrange(8 * 60, 19 * 60)
        day = f"2026-{self.rng.randint(2, 11):02}-{self.rng.randint(1, 28):02}"
        state: dict[str, Any] = {
            "clock": f"{day}T{minute // 60:02}:{minute % 60:02}:00",
            "files": dict(sorted(self.files.items())),
            "folders": sorted(self.folders),
            "settings": dict(sorted(self.settings.items())),
            "open": self.windows,
        }
        return {**state, "sites": self.sites} if self.sites else state

    def holds(self, path: str, text: str, weight: float = 1.0) -> Check:
        """Return a check that a saved file holds exactly this text; a missing line break at its end does not matter."""
        return shows_text(f"{HOME}/{self._seen}.txt", f"open({path!r}).read()", text, weight)

    def lists(self, folder: str, names: Iterable[str], weight: float = 1.0) -> Check:
        """Return a check that a folder holds exactly these files and folders."""
        source = f"'\\n'.join(sorted(os.listdir({folder!r})))"
        return shows_text(f"{HOME}/{self._seen}.txt", source, "\n".join(sorted(names)), weight)

    def cells(self, path: str, shown: Mapping[str, str], weight: float = 1.0) -> Check:
        """Return a check that the cells of a saved spreadsheet show these values; `""` is an empty cell."""
        name = f"{self._seen}.{path.rpartition('.')[2]}"
        probe = look(f"{HOME}/{name}", f"open({path!r}).read()", "'libreoffice', '--calc'")
        rows = [rf"table-cell\t{cell}\t{literal(value) if value else chr(34) * 2}\t" for cell, value in shown.items()]
        pattern = in_window(literal(name) + " - LibreOffice Calc", rows)
        return Check(probe=probe, expect=Expect(matches=pattern), weight=weight)

    def draft(
        self,
        instruction: str,
        expert: Sequence[str],
        distractors: Sequence[str],
        checks: Sequence[Check],
        answer: str | None = None,
        size: int | None = None,
        found: tuple[str, str] | None = None,
    ) -> TaskDraft:
        """Prove the task and return its draft.

        Args:
            instruction: The instruction.
            expert: The actions of the expert without the closing `finish`.
            distractors: Wrong or useless actions; right answers among them are left out.
            checks: The checks on what the agent does.
            answer: The right answer, which gives one more check.
            size: The size of the menu; the usual size of the level if it is None.
            found: The words for what an agent finds out on the way, and what that is.

        Raises:
            Unfit: a check holds from the start.
            RuntimeError: a step of the expert is not possible or raises, or a check does not hold at its end.
        """
        success = (*checks, answers(answer)) if answer is not None else tuple(checks)
        state = self.state()
        machine = DesktopMachine.start(state, 0)
        greeting = machine.observation
        stage = ValidationSession(
            "desktop", machine, lambda before, after: f"it raises {machine.problem}" if machine.problem else ""
        )
        prove(stage, instruction, expert, success, answer)
        return TaskDraft(
            instruction,
            state,
            success,
            tuple(expert),
            tuple(without_right_answers(distractors, success)),
            answer=answer,
            first_observation=greeting,
            menu_max=size,
            found=None if found is None else Finding(*found),
        )


family = family_of(DesktopScene)
"""The decorator that turns a function of a scene and a level into a family of desktop tasks."""
