"""Experts that show what each control of the terminal does: one that fails under it, and one that copes with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator

from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.tasks.control_cases import ControlCase, Solver

WAIT = '[{"keystrokes": "", "duration": 2.0}]'
React = Callable[[str, str], list[str] | None]
"""A function of an action and what it showed: the actions to take before going on, or None if all is well."""

_WRITTEN = re.compile(r"^echo \d+ (>>?) (\S+)$")
_DENIED = re.compile(r"^bash: (\S+): Permission denied$", re.MULTILINE)


def planned(react: React | None = None) -> Solver:
    """Return a solver that plays the task's expert; `react` may add actions after each one."""

    def solve(task: Task) -> Generator[str, str, None]:
        for action in task.expert:
            seen = yield action
            for remedy in (react(action, seen) or ()) if react else ():
                seen = yield remedy

    return solve


def repeat_on(words: str) -> React:
    """Return a reaction that repeats an action whose observation holds these words."""
    return lambda action, seen: [action] if words in seen else None


def unlock(action: str, seen: str) -> list[str] | None:
    """Remove the write protection of the files that were refused, and repeat the action."""
    denied = _DENIED.findall(seen)
    return [*(f"chmod u+w {path}" for path in denied), action] if denied else None


def wait(action: str, seen: str) -> list[str] | None:
    """Wait if no prompt came back."""
    return None if seen.rstrip().endswith(("$", "#")) else [WAIT]


def counted(look: Callable[[str], list[str]]) -> Solver:
    """Return a solver that plays the expert but writes the number that it reads itself.

    Args:
        look: A function of a command that counts: it returns the actions whose last output shows the number.
    """

    def solve(task: Task) -> Generator[str, str, None]:
        number = ""
        for action in task.expert:
            written = _WRITTEN.match(action)
            if written:
                yield f"echo {number} {written[1]} {written[2]}"
            elif action.startswith(("wc -l", "grep -c")):
                seen = ""
                for step in look(action):
                    seen = yield step
                number = _number(seen)
            else:
                yield action

    return solve


def by_eye(action: str) -> list[str]:
    """Return the command that prints the lines instead of counting them."""
    count, *rest = action.split(maxsplit=2)
    return [f"cat {rest[1]}"] if count == "wc" else [f"grep {rest[1]}"]


def _number(seen: str) -> str:
    """Return the number with which an output begins, or the number of lines if it begins with none."""
    lines = seen.split("\n")[1:-1]
    first = lines[0].split()[0] if lines and lines[0].split() else ""
    return first if first.isdecimal() else str(len(lines))


CASES = (
    ControlCase(
        "intermittent-errors", 0.3, "copy_move", 1, planned(), planned(repeat_on("Resource temporarily unavailable"))
    ),
    ControlCase("permission-denied", 0.6, "edit_in_place", 1, planned(), planned(unlock)),
    ControlCase("slow-service", 0.3, "copy_move", 2, planned(), planned(wait)),
    ControlCase("truncated-output", 1.0, "count_lines", 1, counted(by_eye), counted(lambda action: [action])),
    ControlCase("partial-failure", 0.8, "filter_lines", 2, planned(), planned(repeat_on("write error"))),
    ControlCase(
        "stale-data",
        0.8,
        "filter_lines",
        1,
        counted(lambda action: [action]),
        counted(lambda action: ["sync", action]),
    ),
)
