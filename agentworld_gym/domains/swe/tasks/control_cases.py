"""Agents that try the repairs on their menu until the tests pass, with and without knowledge of each control."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Generator

from agentworld_gym.core.domain.task import Task
from agentworld_gym.core.tasks.control_cases import ControlCase, Solver
from agentworld_gym.domains.swe.tasks.actions import call, shell
from agentworld_gym.domains.swe.tasks.checks import SUITE

UNDO = "git checkout -q -- ."
CLEAR = shell("find . -name __pycache__ -type d -exec rm -rf {} +")
_PASSED = re.compile(r"^\d+ passed(?:, \d+ \w+)* in ", re.MULTILINE)
_MESSAGE = re.compile(r'with the message "([^"]+)"')

Steps = Generator[str, str, None]
Test = Callable[[], Generator[str, str, bool]]
"""A generator that yields actions which test the repository and undo all changes if it fails; it returns whether it
passed."""

Look = Callable[[], Generator[str, str, Test]]
"""A generator that yields the actions before the first repair, and returns how repairs are tested."""

End = Callable[[Task], Steps]
"""A generator that yields the actions after the repair."""


def _nothing(task: Task) -> Steps:
    yield from ()


def trying(look: Look, end: End = _nothing) -> Solver:
    """Return an agent that applies one repair of its menu after the other until the test that `look` returns accepts
    one."""

    def solve(task: Task) -> Steps:
        test = yield from look()
        for action in _repairs(task):
            yield action
            if (yield from test()):
                break
        yield from end(task)
        yield "finish"

    return solve


def _repairs(task: Task) -> list[str]:
    """Return the edits on the menu that change the same piece of text; of several pieces, the one with the most
    edits."""
    edits: dict[tuple[str, str], list[str]] = defaultdict(list)
    for action in task.menu:
        made = json.loads(action) if action.startswith("{") else {}
        if made.get("name") == "edit":
            arguments = json.loads(made["arguments"])
            edits[arguments["file_path"], arguments["old_string"]].append(action)
    return max(edits.values(), key=len, default=[])


def passed(report: str) -> bool:
    """Tell whether a report shows a test run that passed.

    >>> passed("....\\n4 passed in 0.01s"), passed("1 failed, 3 passed in 0.02s")
    (True, False)
    """
    return _PASSED.search(report) is not None


def judged(command: str, timeout: int | None = None) -> Test:
    """Return a test by one command that undoes a failed repair; if the report does not tell the result, the agent
    undoes it."""
    more = {} if timeout is None else {"timeout": timeout}

    def test() -> Generator[str, str, bool]:
        report = yield call("run_shell_command", command=command, **more)
        if not passed(report) and " failed" not in report and " error" not in report:
            yield shell(UNDO)
        return passed(report)

    return test


def running(command: str, before: str = "", timeout: int | None = None) -> Look:
    """Return a start that takes the action `before` and then tests by one command."""

    def look() -> Generator[str, str, Test]:
        if before:
            yield before
        return judged(f"{command} || {UNDO}", timeout)

    return look


def found_files(wary: bool) -> Look:
    """Return a start that tests the files a search finds; a wary agent does not trust a search that left something
    out."""

    def look() -> Generator[str, str, Test]:
        listing = yield call("glob", pattern="tests/**/test_*.py")
        files = " ".join(re.findall(r"^/\S+$", listing, re.MULTILINE))
        command = SUITE if wary and "left out" in listing else f"{SUITE} {files}"
        return (yield from running(command)())

    return look


def among_sources(command: str) -> Look:
    """Return a start that tests by a command which also prints all sources."""

    def look() -> Generator[str, str, Test]:
        yield from ()
        return judged(command)

    return look


def publishing(patient: bool) -> End:
    """Return an end that commits and pushes; a patient agent pushes again if the network failed."""

    def end(task: Task) -> Steps:
        message = _MESSAGE.search(task.instruction)
        yield shell(f"git commit -am '{message.group(1) if message else 'Repair'}'")
        answer = yield shell("git push")
        if patient and "Could not resolve host" in answer:
            yield shell("git push")

    return end


def noting(wary: bool) -> Solver:
    """Return an agent that knows the repairs and the note to write; a wary one notices if a file cannot be written."""

    def solve(task: Task) -> Steps:
        for action in task.expert[:-1]:
            answer = yield action
            if wary and "Permission denied" in answer:
                yield shell("chmod u+w CHANGELOG.md")
                yield action
        yield "finish"

    return solve


PLAIN = trying(running(SUITE))

CASES: tuple[ControlCase, ...] = (
    ControlCase(
        control="intermittent-errors",
        strength=1.0,
        family="publish",
        level=1,
        naive=trying(running(SUITE), publishing(patient=False)),
        aware=trying(running(SUITE), publishing(patient=True)),
    ),
    ControlCase("permission-denied", 1.0, "off_by_one", 3, naive=noting(wary=False), aware=noting(wary=True)),
    ControlCase("partial-failure", 1.0, "wrong_operator", 1, naive=PLAIN, aware=trying(running(f"{SUITE} || {SUITE}"))),
    ControlCase(
        control="incomplete-results",
        strength=1.0,
        family="missing_guard",
        level=1,
        naive=trying(found_files(wary=False)),
        aware=trying(found_files(wary=True)),
    ),
    ControlCase(
        "slow-service", 1.0, "swapped_arguments", 1, naive=PLAIN, aware=trying(running(SUITE, timeout=600_000))
    ),
    ControlCase("stale-data", 1.0, "stale_default", 1, naive=PLAIN, aware=trying(running(SUITE, CLEAR))),
    ControlCase(
        control="truncated-output",
        strength=1.0,
        family="wrong_exception",
        level=1,
        naive=trying(among_sources(f"cat */*.py; {SUITE} || {UNDO}; cat */*.py")),
        aware=trying(among_sources(f"cat */*.py; {SUITE} || {UNDO}")),
    ),
)
