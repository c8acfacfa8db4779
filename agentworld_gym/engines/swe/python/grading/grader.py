"""Test files whose verdict is formed outside the sandbox, from values that leave it as data.

Each test becomes two parts. The program's side runs in the sandbox: imports, statements, and the expressions of an
assertion that name something of the program. The judge's side stays here: the values that the test states, and how the
two are compared. Code under test therefore meets nothing that it could make to pass: no assertion, no expected value,
no runner, no report. It can only give values, and right ones are what the test asks for.

A test that can be judged so is straight: assignments, calls, loops without assertions, `assert`, `with pytest.raises`
(without `as`), `parametrize`, and fixtures that return.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from posixpath import normpath
from typing import Any

from agentworld_gym.engines.swe.python.grading.conditions import Verdict
from agentworld_gym.engines.swe.python.grading.splitter import Program
from agentworld_gym.engines.swe.python.inside_sandbox import source_of
from agentworld_gym.engines.swe.python.sandbox import PythonSandbox

FOLDER = "/judge"
MAIN, TALE = f"{FOLDER}/main.py", f"{FOLDER}/told.json"


def judge(
    sandbox: PythonSandbox, files: Mapping[str, str], tests: Mapping[str, str], *, root: str, timeout_s: float
) -> Verdict:
    """Run the tests over some files and judge what they told.

    >>> from agentworld_gym.engines.swe.python.backends import open_sandbox
    >>> files = {"/w/a.py": "print('1 passed')\\ndef twice(n):\\n    return n + n + n\\n"}
    >>> tests = {"test_a.py": "from a import twice\\n\\ndef test_twice():\\n    assert twice(2) == 4\\n"}
    >>> judge(open_sandbox("monty"), files, tests, root="/w", timeout_s=10).failed
    {'test_a.py::test_twice': 'line 4'}

    Args:
        sandbox: where the code under test runs.
        files: all files, absolute path -> text; those that are test files are left out.
        tests: path from the root -> text of the test files.
        root: the folder that imports begin at.
        timeout_s: seconds after which what runs is stopped.

    Raises:
        EngineError: a test cannot be judged from outside; names file and line.
    """
    taken = {normpath(f"{root}/{path}") for path in tests}
    given = {path: text for path, text in files.items() if path not in taken and not path.startswith(f"{FOLDER}/")}
    modules = [Program(path, text, number) for number, (path, text) in enumerate(sorted(tests.items()))]
    main = "".join([source_of("record_values"), "import json\n", *(module.call for module in modules), _END])
    given |= {MAIN: main, **{f"{FOLDER}/{module.name}.py": module.text for module in modules}}
    result = sandbox.run(given, [MAIN], cwd=root, env={"PYTHONPATH": root}, timeout_s=timeout_s)
    tales = _tales(result.files.get(TALE, ""))
    outcomes = {case.id: case.verdict(tales) for module in modules for case in module.cases}
    passed = tuple(name for name, reason in outcomes.items() if not reason)
    return Verdict(passed, {name: reason for name, reason in outcomes.items() if reason})


def _tales(text: str) -> dict[int, Any]:
    """What was told, by place; rows that are none, as a program may leave them, are left out."""
    try:
        rows = json.loads(text or "[]")
    except (RecursionError, ValueError):
        return {}
    return {row[0]: row[1:] for row in rows if _is_row(row)} if isinstance(rows, list) else {}


def _is_row(row: Any) -> bool:
    """Whether this is how `inside_sandbox/record_values.py` writes a value or an exception."""
    if not isinstance(row, list) or len(row) < 3 or type(row[0]) is not int:
        return False
    if row[1] == "raised":
        return len(row) == 4 and isinstance(row[2], list) and row[2] != [] and all(isinstance(n, str) for n in row[2])
    return bool(row[1] == "value" and len(row) == 3)


_END = f"with open({TALE!r}, 'w') as file:\n    file.write(json.dumps(SEEN))\n"
