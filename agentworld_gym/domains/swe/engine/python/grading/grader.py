"""Grades code by test files whose verdict is formed outside the sandbox, from values that leave it as data.

Each test becomes two parts. The program's side runs in the sandbox: imports, statements, and the expressions of an
assertion that name something of the program. The grader's side stays outside: the values that the test states, and how
the two are compared. The graded code therefore meets no assertion, no expected value, no runner and no report that it
could manipulate. It can only return values, and the right ones are what the test asks for.

Tests that can be split so are straight: assignments, calls, loops without assertions, `assert`, `with pytest.raises`
(without `as`), `parametrize`, and fixtures that return.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from posixpath import normpath
from typing import Any

from agentworld_gym.domains.swe.engine.python.grading.conditions import GradingVerdict
from agentworld_gym.domains.swe.engine.python.grading.splitter import SplitTestFile
from agentworld_gym.domains.swe.engine.python.inside_sandbox import source_of
from agentworld_gym.domains.swe.engine.python.sandbox import PythonSandbox

FOLDER = "/judge"
MAIN, RECORDS = f"{FOLDER}/main.py", f"{FOLDER}/told.json"
MAX_RECORDS = 4 << 20
"""The characters that all records of a run may have; grading takes time linear in them, and so needs no clock."""


def grade(
    sandbox: PythonSandbox, files: Mapping[str, str], tests: Mapping[str, str], *, root: str, timeout_s: float
) -> GradingVerdict:
    """Run the tests over some files and grade the values that they record.

    >>> from agentworld_gym.domains.swe.engine.python.backends import open_sandbox
    >>> files = {"/w/a.py": "print('1 passed')\\ndef twice(n):\\n    return n + n + n\\n"}
    >>> tests = {"test_a.py": "from a import twice\\n\\ndef test_twice():\\n    assert twice(2) == 4\\n"}
    >>> grade(open_sandbox("monty"), files, tests, root="/w", timeout_s=10).failed
    {'test_a.py::test_twice': 'line 4'}

    Args:
        sandbox: the sandbox in which the graded code runs.
        files: all files, absolute path -> text; those that are test files are left out.
        tests: the text of each test file by its path from the root.
        root: the folder at which imports begin.
        timeout_s: the number of seconds after which the run is stopped.

    Raises:
        EngineError: a test cannot be graded from outside; the error names file and line.
    """
    paths = {normpath(f"{root}/{path}") for path in tests}
    inputs = {path: text for path, text in files.items() if path not in paths and not path.startswith(f"{FOLDER}/")}
    modules = [SplitTestFile(path, text, number) for number, (path, text) in enumerate(sorted(tests.items()))]
    main = "".join([source_of("record_values"), "import json\n", *(module.call for module in modules), _END])
    inputs |= {MAIN: main, **{f"{FOLDER}/{module.name}.py": module.text for module in modules}}
    result = sandbox.run(inputs, [MAIN], cwd=root, env={"PYTHONPATH": root}, timeout_s=timeout_s)
    records = _records(result.files.get(RECORDS, ""))
    outcomes = {case.id: case.verdict(records) for module in modules for case in module.cases}
    passed = tuple(name for name, reason in outcomes.items() if not reason)
    return GradingVerdict(passed, {name: reason for name, reason in outcomes.items() if reason})


def _records(text: str) -> dict[int, Any]:
    """Return the recorded values by place; rows of another form, which a program may write, are dropped.

    There are none if the text is longer than `MAX_RECORDS`.
    """
    try:
        rows = json.loads(text or "[]") if len(text) <= MAX_RECORDS else []
    except (RecursionError, ValueError):
        return {}
    return {row[0]: row[1:] for row in rows if _is_row(row)} if isinstance(rows, list) else {}


def _is_row(row: Any) -> bool:
    """Return whether a row has the form in which `inside_sandbox/record_values.py` writes a value or an exception."""
    if not isinstance(row, list) or len(row) < 3 or type(row[0]) is not int:
        return False
    if row[1] == "raised":
        return len(row) == 4 and isinstance(row[2], list) and row[2] != [] and all(isinstance(n, str) for n in row[2])
    return bool(row[1] == "value" and len(row) == 3)


_END = f"with open({RECORDS!r}, 'w') as file:\n    file.write(json.dumps(SEEN))\n"
