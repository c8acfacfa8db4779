"""Experts that show what each control of the desktop does: one that fails under it, and one that copes with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator

from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.screens import NotOnScreen, read_screen
from agentworld_gym.core.tasks.control_cases import ControlCase, Solver
from agentworld_gym.domains.desktop.tasks.actions import SAVE, press

PATIENCE = 12
"""How often an expert tries something."""

WAIT = "time.sleep(2)"
REACH_ALL = ("pyautogui.moveTo(960, 600)\npyautogui.scroll(-1)", "pyautogui.scroll(1)")
FIFTH = "pyautogui.press('down', presses=5)\npyautogui.press('enter')"
UNLOCK = "subprocess.run(['bash', '-c', 'chmod u+w ~/Documents/*'])"

React = Callable[[str, str], list[str] | None]
"""A function of an action and what it showed: the actions to take before going on, or None if all is well."""
_CELL = re.compile(r"table-cell '([A-Z]+\d+)'")
_WRITTEN = re.compile(r"pyautogui\.write\('([^']*)'\)")


def planned(react: React | None = None) -> Solver:
    """Return a solver that plays the task's expert; `react` adds actions after each one until it has nothing to add."""

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
    """Return a solver that plays the task's expert; if an element is not on the screen, it takes remedies and
    retries."""

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
    """Close a dialog, since the task itself brings up none."""
    return [press("esc")] if "\ndialog\t" in seen else None


def click_again(action: str, seen: str) -> list[str] | None:
    """Repeat a click on a cell if it did not select the cell."""
    wanted = _CELL.search(action)
    if wanted is None or re.search(rf"(?m)^entry\tName Box\t{wanted[1]}\t", seen):
        return None
    return [action]


def unlock(action: str, seen: str) -> list[str] | None:
    """Remove the write protection of a file that could not be saved, and save again."""
    return [press("enter"), UNLOCK, SAVE] if "\ndialog\tCould not save" in seen else None


def by_place(task: Task) -> Generator[str, str, None]:
    """Play the expert, but choose from a menu by counting: its fifth line deletes rows."""
    for action in task.expert:
        yield FIFTH if "menu-item 'Delete Rows'" in action else action


def by_helper(repeats: bool) -> Solver:
    """Return a solver that enters by `CalcTools` what the expert types; with `repeats` it retries until the cell shows
    it."""

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
