"""Checks on a repository: what a command prints, and whether the whole suite of tests passes."""

from __future__ import annotations

import re

from agentworld_gym.base.text.envelope import Envelope
from agentworld_gym.core.domain.task import Check, Expect
from agentworld_gym.domains.swe.tasks.actions import shell
from agentworld_gym.domains.swe.tasks.repository import Repository

SUITE = "python -m pytest -q"
UNWANTED = "conftest.py tests/conftest.py pytest.ini"
"""Files that would change which tests run and how; no repository has them."""
PASSED = Expect(
    matches=r"\nDirectory: \(root\)\nOutput: \.+ +\[100%\]\n\d+ passed in [\d.]+s\n"
    r"Error: \(none\)\nExit Code: 0\nSignal: \(none\)\nBackground PIDs: \(none\)\nProcess Group PGID: \S+\s*\Z"
)
"""A test for the end of a report in which all tests pass and nothing else is printed."""


def suite_passes(repository: Repository, weight: float = 1.0) -> Check:
    """Return a check that every test passes, that none is skipped, and that the tests are those of the start.

    The grounded repository judges the tests of the start, and the same ones with other names and numbers, which the
    agent never sees, by the values that the code gives. Any other world is asked,
    with the texts of the tests: an agent can commit whatever it wants.
    """
    tests = sorted(path for path in repository.files if path.startswith("tests/"))
    comparisons = [f"diff - {path} <<'END'\n{repository.files[path]}END\n" for path in ("pyproject.toml", *tests)]
    command = f"{''.join(comparisons)}ls {UNWANTED} 2>/dev/null; {SUITE} {' '.join(tests)}"
    return Check(probe=shell(command), expect=PASSED, tests={**dict.fromkeys(tests), **repository.held}, weight=weight)


def prints(command: str, output: str, weight: float = 1.0) -> Check:
    """Return a check that a command prints this and nothing else, and succeeds."""
    report, label, _ = Envelope(command, output=output, exit_code=0).text.rpartition("Process Group PGID: ")
    expect = Expect(matches=rf"\A{re.escape(report + label)}\S+\s*\Z")
    return Check(probe=shell(command), expect=expect, weight=weight)
