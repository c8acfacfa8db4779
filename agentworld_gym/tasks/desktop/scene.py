"""What all families of desktop tasks share: files and windows set up, actions with locators, checks on outcomes."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentworld_gym.domain.task import Check, Expect, Split
from agentworld_gym.engines.desktop import DesktopMachine
from agentworld_gym.tasks.draft import Draft
from agentworld_gym.tasks.proof import Stage, prove
from agentworld_gym.tasks.scene import Scene, Unfit, family_of
from agentworld_gym.tasks.words import WORDS

HOME = "/home/user"
DOCUMENTS = f"{HOME}/Documents"


class DesktopScene(Scene):
    """A desktop being set up for one task. Every name it hands out is a fresh one.

    >>> scene = DesktopScene(random.Random(1), 1, "train")
    >>> scene.put("Documents/a.txt", "one", "two")
    'a.txt'
    >>> scene.files, click("icon 'a.txt'")
    ({'/home/user/Documents/a.txt': 'one\\ntwo\\n'}, "pyautogui.click(@{icon 'a.txt'})")
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
        """The file where checks put a copy of what they look at, so that they see what is saved and not what a window
        shows. Nobody can guess its name, and so nobody can have a window of that name open."""

    def fresh(self, pool: Sequence[str]) -> str:
        """One entry of a pool that has not been handed out.

        Raises:
            Unfit: all are used.
        """
        left = [entry for entry in pool if entry not in self._used]
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
        """A line of a note: three words in random order, the given ones among them."""
        return " ".join(self.mixed([*words, *self.several(WORDS, 3 - len(words))]))

    def put(self, path: str, *lines: str) -> str:
        """Write a file, named relative to the home folder; its name without the folder."""
        self.files[f"{HOME}/{path}"] = "".join(line + "\n" for line in lines)
        return path.rpartition("/")[2]

    def folder(self, path: str) -> str:
        """Make a folder, named relative to the home folder; its name."""
        self.folders.append(f"{HOME}/{path}")
        return path.rpartition("/")[2]

    def open(self, program: str, *arguments: str) -> None:
        """Open a window at the start; the last one is in front."""
        self.windows.append({"program": program, "arguments": list(arguments)})

    def show(self, path: str = "Documents") -> None:
        """Open a folder, named relative to the home folder, in Files."""
        self.open("files", f"{HOME}/{path}")

    def state(self) -> dict[str, Any]:
        """The state of the task. Files are in the order of their names, which must not tell which one matters."""
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
        """A check that a saved file holds exactly this text (a missing line break at its end does not matter)."""
        return _shows(self._seen, f"open({path!r}).read()", text, weight)

    def lists(self, folder: str, names: Iterable[str], weight: float = 1.0) -> Check:
        """A check that a folder holds exactly these files and folders."""
        source = f"'\\n'.join(sorted(os.listdir({folder!r})))"
        return _shows(self._seen, source, "\n".join(sorted(names)), weight)

    def cells(self, path: str, shown: Mapping[str, str], weight: float = 1.0) -> Check:
        """A check that a saved spreadsheet shows these values; `""` is an empty cell."""
        name = f"{self._seen}.{path.rpartition('.')[2]}"
        probe = _look(name, f"open({path!r}).read()", "'libreoffice', '--calc'")
        rows = [rf"table-cell\t{cell}\t{_literal(value) if value else chr(34) * 2}\t" for cell, value in shown.items()]
        pattern = _in_window(_literal(name) + " - LibreOffice Calc", rows)
        return Check(probe=probe, expect=Expect(matches=pattern), weight=weight)

    def draft(
        self,
        instruction: str,
        expert: Sequence[str],
        distractors: Sequence[str],
        checks: Sequence[Check],
        answer: str | None = None,
        size: int | None = None,
    ) -> Draft:
        """The finished draft; `answer` gives one more check.

        Raises:
            Unfit: a check holds from the start.
            RuntimeError: a step of the expert is not possible or raises, or a check does not hold at its end.
        """
        success = (*checks, answers(answer)) if answer is not None else tuple(checks)
        state = self.state()
        machine = DesktopMachine.start(state, 0)
        greeting = machine.observation
        stage = Stage(
            "desktop", machine, lambda before, after: f"it raises {machine.problem}" if machine.problem else ""
        )
        prove(stage, instruction, expert, success, answer)
        wrong = [
            action
            for action in distractors
            if answer is None or not action.startswith("finish: ") or not answers(answer).answer.holds(action[8:])  # type: ignore[union-attr]
        ]
        return Draft(
            instruction,
            state,
            success,
            tuple(expert),
            tuple(wrong),
            answer=answer,
            first_observation=greeting,
            menu_max=size,
        )


family = family_of(DesktopScene)
"""Turns a function of a scene and a level into a family of tasks on a desktop."""


# Actions


def click(locator: str) -> str:
    """A click on what a locator names."""
    return f"pyautogui.click(@{{{locator}}})"


def double(locator: str) -> str:
    """A double click."""
    return f"pyautogui.doubleClick(@{{{locator}}})"


def right(locator: str) -> str:
    """A right click."""
    return f"pyautogui.rightClick(@{{{locator}}})"


def icon(name: str) -> str:
    """The locator of a file's icon."""
    return f"icon {quoted(name)}"


def cell(name: str) -> str:
    """The locator of a cell."""
    return f"table-cell {quoted(name)}"


def quoted(name: str) -> str:
    """A name as a locator has it."""
    return "'" + name.replace("'", "''") + "'"


def press(key: str) -> str:
    """A key."""
    return f"pyautogui.press({key!r})"


def keys(*names: str) -> str:
    """A combination of keys."""
    return f"pyautogui.hotkey({', '.join(map(repr, names))})"


def write(text: str) -> str:
    """Typing."""
    return f"pyautogui.write({text!r})"


def enter(text: str, clear: bool = False) -> str:
    """Typing a text and Enter, with `clear` over what the field holds."""
    start = "pyautogui.hotkey('ctrl', 'a')\n" if clear else ""
    return f"{start}pyautogui.write({text!r})\npyautogui.press('enter')"


def joined(*actions: str) -> str:
    """Several actions as one, where none of them needs to see what the one before it shows."""
    return "\n".join(actions)


SAVE = keys("ctrl", "s")
CLOSE = keys("alt", "f4")


# Checks


def answers(answer: str) -> Check:
    """A check on what follows `finish:`: a number, or names in any order."""
    if re.fullmatch(r"-?\d+(\.\d+)?", answer):
        return Check(answer=Expect(number=float(answer), tolerance=0.005))
    return Check(answer=Expect(items=tuple(part.strip() for part in answer.split(","))))


def _look(name: str, source: str, program: str) -> str:
    """A probe that shows what a Python expression yields, as a file in a program."""
    copy = f"{HOME}/{name}"
    return f"seen = {source}\nopen({copy!r}, 'w').write(seen)\nsubprocess.Popen([{program}, {copy!r}])\ntime.sleep(3)"


def _shows(name: str, source: str, text: str, weight: float) -> Check:
    shown = text.rstrip("\n").replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
    if '"' in shown:
        pattern = '"' + _literal(shown.replace('"', '""')) + r'(?:\\n)?"'
    else:
        pattern = _literal(shown) + r"(?:\\n)?" if shown else r'(?:""|\\n)'
    name = f"{name}.txt"
    matches = _in_window(rf"{_literal(name)} \(~\) - gedit", [rf"text\t{_literal(name)}\t{pattern}\t"])
    return Check(probe=_look(name, source, "'gedit'"), expect=Expect(matches=matches), weight=weight)


def sets(panel: str, *rows: str, weight: float = 1.0) -> Check:
    """A check on a panel of the settings; each row is a pattern of `is_switched`, `is_chosen` or `says`."""
    probe = f"subprocess.Popen(['gnome-control-center', {panel!r}])\ntime.sleep(3)"
    title = _literal(panel)
    return Check(probe=probe, expect=Expect(matches=_in_window(title, rows)), weight=weight)


def is_switched(switch: str, on: bool) -> str:
    """The row of a switch that is on or off."""
    return rf'switch\t{_literal(switch)}\t""\t\t{"checked" if on else ""}\t'


def is_chosen(choice: str) -> str:
    """The row of a radio button that is chosen."""
    return rf'radio-button\t{_literal(choice)}\t""\t\tchecked\t'


def says(role: str, name: str, text: str) -> str:
    """The row of a combo box, slider or entry with its value."""
    return rf"{role}\t{_literal(name)}\t{_literal(text)}\t"


def _in_window(title: str, rows: Iterable[str]) -> str:
    """A pattern of rows, in any order, of the window of a title."""
    return rf"(?m)^frame\t{title}\t" + "".join(rf"(?=(?:.*\n(?!frame\t))*?.*\n{row})" for row in rows)


def _literal(text: str) -> str:
    return re.escape(text).replace(r"\ ", " ").replace(r"\-", "-")
