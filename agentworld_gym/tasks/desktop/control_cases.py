"""What each control of the desktop does to an expert, and how one that knows it copes."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator

from agentworld_gym.domain.task import Task
from agentworld_gym.screens import NotOnScreen, read_screen
from agentworld_gym.tasks.control_cases import ControlCase, Solver
from agentworld_gym.tasks.desktop.actions import SAVE, press

PATIENCE = 12
"""How often something is tried."""

WAIT = "time.sleep(2)"
REACH_ALL = ("pyautogui.moveTo(960, 600)\npyautogui.scroll(-1)", "pyautogui.scroll(1)")
FIFTH = "pyautogui.press('down', presses=5)\npyautogui.press('enter')"
UNLOCK = "subprocess.run(['bash', '-c', 'chmod u+w ~/Documents/*'])"

React = Callable[[str, str], list[str] | None]
"""From an action and what it showed to what is done about it before going on; None where all is well."""
_CELL = re.compile(r"table-cell '([A-Z]+\d+)'")
_WRITTEN = re.compile(r"pyautogui\.write\('([^']*)'\)")


def planned(react: React | None = None) -> Solver:
    """Plays the task's expert; `react` may put actions in between, until it is content."""

    def solve(task: Task) -> Generator[str, str, None]:
        for action in task.expert:
            seen = yield action
            for _ in range(PATIENCE):
                remedies = react(action, seen) if react else None
                if not remedies:
                    break
                for remedy in remedies:
                    seen = yield remedy

    return solve


def searching(*remedies: str) -> Solver:
    """Plays the expert; does something about what is not on the screen, and tries again."""

    def solve(task: Task) -> Generator[str, str, None]:
        for action in task.expert:
            for _ in range(PATIENCE):
                try:
                    yield action
                    break
                except NotOnScreen:
                    for remedy in remedies:  # noqa: UP028 - not sent what the action showed
                        yield remedy

    return solve


def dismiss(action: str, seen: str) -> list[str] | None:
    """Close a dialog; the task itself brings up none."""
    return [press("esc")] if "\ndialog\t" in seen else None


def click_again(action: str, seen: str) -> list[str] | None:
    """Repeat a click on a cell that did not select it."""
    wanted = _CELL.search(action)
    if wanted is None or re.search(rf"(?m)^entry\tName Box\t{wanted[1]}\t", seen):
        return None
    return [action]


def unlock(action: str, seen: str) -> list[str] | None:
    """Take back the write protection of what could not be saved, and save again."""
    return [press("enter"), UNLOCK, SAVE] if "\ndialog\tCould not save" in seen else None


def by_place(task: Task) -> Generator[str, str, None]:
    """Plays the expert, but chooses from a menu by counting: rows are deleted by its fifth line."""
    for action in task.expert:
        yield (
            "pyautogui.press('down', presses=5)\npyautogui.press('enter')"
            if "menu-item 'Delete Rows'" in action
            else action
        )


def by_helper(repeats: bool) -> Solver:
    """Enters by `CalcTools` what the expert types into a cell; with `repeats` until the cell shows it."""

    def solve(task: Task) -> Generator[str, str, None]:
        place = _CELL.search(task.expert[0])
        entry = _WRITTEN.search(task.expert[1])
        assert place is not None and entry is not None
        for _ in range(PATIENCE if repeats else 1):
            seen = yield f"CalcTools.set_cell_values(new_values=[{entry[1]!r}], range={place[1]!r})"
            if any(node.name == place[1] and node.text == entry[1] for node in read_screen("desktop", seen)):
                break
        # Not `yield from`: it would send the tuple what the action showed.
        for action in task.expert[2:]:  # noqa: UP028
            yield action

    return solve


CASES = (
    ControlCase("unexpected-dialog", 0.4, "fill_table", 1, planned(), planned(dismiss)),
    ControlCase("slow-loading", 0.5, "change_settings", 1, planned(), searching(WAIT)),
    ControlCase("stale-element", 0.4, "fill_table", 1, planned(), planned(click_again)),
    ControlCase("reordered-menu", 0.6, "sort_table", 2, by_place, planned()),
    ControlCase("permission-denied", 0.5, "fill_table", 1, planned(), planned(unlock)),
    ControlCase("intermittent-errors", 0.5, "fill_table", 1, by_helper(repeats=False), by_helper(repeats=True)),
    ControlCase("truncated-output", 0.8, "region_total", 1, planned(), searching(*REACH_ALL)),
)
