r"""The report of a test run as plain data: which tests fail, where, and with which words.

    {"test_bulk": "12\nassert 960 == 864\n +  where 960 = total(6)"}             fails in line 12 of its file
    {"test_mean": "21\nshop/sums.py:11\nZeroDivisionError: division by zero"}    fails in a function that it calls
    {"tests/test_sums.py": "1\nModuleNotFoundError: No module named 'sums'"}     cannot be imported

The text of a failure is its traceback, and the words that stand behind `E` in the report. The arguments of the test
stand before them in brackets. Which tests there are, and the lines of a traceback, follow from the files.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from agentworld_gym.domains.swe.engine.python.testing.collection import (
    CollectionPlan,
    PytestOutcome,
    TestFile,
    make_plan,
)
from agentworld_gym.domains.swe.engine.python.testing.report import LOADER, PytestReport
from agentworld_gym.domains.swe.engine.python.testing.runner import options_of
from agentworld_gym.domains.swe.engine.python.tracebacks import ExceptionReport, Frame
from agentworld_gym.domains.swe.engine.structured_state.command_list import words_of

_BEGINS = re.compile(r"^(?:[.FEsxX]+ +\[ *\d+%\]|=+ (?:ERRORS|test session starts) =+)$", re.MULTILINE)
_TITLE = re.compile(r"^_+ (?!_)(?:ERROR collecting )?(\S.*?) _+$")
_FRAME = re.compile(r"^(\S+):(\d+):(?: .*)?$")
_AT = re.compile(r"(?:(\S+):)?(\d{1,7})")
_KIND = re.compile(r"([A-Za-z_][\w.]*)(?:: (.*))?", re.DOTALL)
_SPECIAL = frozenset("\\\n\t")
SHOWN = 240
"""The largest number of characters of a text in the id of a test."""


class NoTests(ValueError):
    """A command runs no tests, or some whose names do not follow from the files."""


class TestRun(NamedTuple):
    """A command that may have run tests, and what it printed."""

    files: Mapping[str, str]
    """The texts of all files after it."""
    command: str
    folder: str
    output: str

    def failures(self, before: Mapping[str, str]) -> Mapping[str, str]:
        """Return the tests that fail after it, from those that failed before it."""
        try:
            return failures_after(plan_of(self.files, self.command, self.folder), self.output, before)
        except (NoTests, RecursionError):
            return before


def plan_of(files: Mapping[str, str], command: str, folder: str) -> CollectionPlan:
    """Return the tests that the last command of a command line runs.

    Raises:
        NoTests: It runs none, or its tests are not known before they run.
    """
    commands = words_of(command)
    words = commands[-1] if commands else ()
    if words[:3] in (("python", "-m", "pytest"), ("python3", "-m", "pytest")):
        words = words[3:]
    elif words[:1] == ("pytest",):
        words = words[1:]
    else:
        raise NoTests("the command runs no tests")
    options = options_of(words)
    if options.bad or options.keyword or options.collect_only:
        raise NoTests("the tests of this command are not known")
    plan = make_plan(files, options, folder)
    ids = [id for file in plan.files for id in _ids(file)]
    plan.collected(ids, ())
    if plan.missing or plan.unmatched:
        raise NoTests("the command names no tests")
    if len({id.partition("::")[2] for id in ids}) < len(ids):
        raise NoTests("several tests have one name")
    return plan


def report_text(plan: CollectionPlan, files: Mapping[str, str], failures: Mapping[str, str]) -> tuple[str, int]:
    """Return the report of a test run and its exit code.

    Args:
        plan: The tests.
        files: The texts of all files.
        failures: The tests that fail; those that are not run are passed over.

    Raises:
        LookupError, TypeError, ValueError: There are no such failures.
    """
    report = _PlainReport(plan, files)
    broken = [file.shown for file in plan.files if file.shown in failures]
    outcomes = [_outcome(report, path, "collect", failures[path], path) for path in broken]
    if broken:
        plan.collected((), outcomes)
        return report.whole(outcomes)
    for number in plan.chosen:
        id = plan.ids[number]
        path, _, name = id.partition("::")
        text = failures.get(name)
        outcomes.append(PytestOutcome(id, "call", None) if text is None else _outcome(report, id, "call", text, path))
        if plan.max_failures and sum(outcome.failed for outcome in outcomes) >= plan.max_failures:
            break
    return report.whole(outcomes)


def report_in(text: str) -> int:
    """Return where the report of a test run begins in what a command printed; its length where there is none."""
    found = _BEGINS.search(text)
    return len(text) if found is None else found.start()


def failures_after(plan: CollectionPlan, text: str, failures: Mapping[str, str]) -> dict[str, str]:
    """Return the tests that fail after a test run.

    Args:
        plan: The tests.
        text: What the command printed.
        failures: The tests that failed before it.
    """
    start = report_in(text)
    if start == len(text):
        return dict(failures)
    found = _read_failures(plan, text[start:])
    files = {file.shown for file in plan.files}
    run = files if files & found.keys() else files | {plan.ids[number].partition("::")[2] for number in plan.chosen}
    return {**{name: words for name, words in failures.items() if name not in run}, **found}


def _read_failures(plan: CollectionPlan, text: str) -> dict[str, str]:
    names = {name.replace("::", "."): (id, name) for id in plan.ids for name in [id.partition("::")[2]]}
    failures: dict[str, str] = {}
    title, body = "", list[str]()
    for line in [*text.split("\n"), "=" * 9]:
        begins = _TITLE.match(line)
        if begins is None and not line.startswith("==="):
            body.append(line)
            continue
        if title:
            id, name = names.get(title, (title, title))
            failures[name] = _read_failure(body, id.partition("::")[0])
        title, body = begins[1] if begins is not None else "", []
    return failures


def _read_failure(body: Sequence[str], path: str) -> str:
    rows = list(body)
    given = rows[1] if rows[:1] == [""] and rows[2:3] == [""] and not rows[1].startswith((" ", ">", "E")) else ""
    frames = [found for row in rows if not row.startswith("E ") and (found := _FRAME.match(row))]
    at = [
        found[2] if found[1] == path else f"{found[1]}:{found[2]}"
        for found in frames
        if f"{found[1]}:{found[2]}" != LOADER
    ]
    words = [row[4:] for row in rows if row.startswith("E ")]
    indent = len(words[0]) - len(words[0].lstrip(" ")) if words else 0
    said = [word[indent:] for word in words]
    return "\n".join([*([f"({given})"] if given else []), *at, *said])


def lines_of(file: TestFile) -> dict[str, int]:
    """Return the lines in which the tests of a file begin."""
    nodes = _nodes(file)
    keys = [(test["class"], test["name"]) for test in file.tests]
    return {"::".join(filter(None, key)): nodes[key].lineno for key in keys}


class _PlainReport(PytestReport):
    """A report that is given by its words."""

    def __init__(self, plan: CollectionPlan, files: Mapping[str, str]) -> None:
        super().__init__(plan, files)
        self.words: dict[str, list[str]] = {}

    def _words(self, outcome: PytestOutcome, exception: ExceptionReport) -> list[str]:
        return self.words[outcome.id]

    def function(self, path: str, line: int) -> str:
        """Return the name of the innermost function around a line."""
        tree = self._source(path).tree
        inside = [
            node
            for node in (ast.walk(tree) if tree else ())
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and node.lineno <= line <= (node.end_lineno or 0)
        ]
        return max(inside, key=lambda node: node.lineno).name if inside else "<module>"


def _outcome(report: _PlainReport, id: str, phase: str, text: str, path: str) -> PytestOutcome:
    """Return the outcome that a failure tells."""
    rows = text.split("\n")
    arguments = []
    if rows[0].startswith("(") and rows[0].endswith(")"):
        name, _, value = rows.pop(0)[1:-1].partition(" = ")
        arguments = [(name, value)]
    frames = []
    while rows and (at := _AT.fullmatch(rows[0])):
        rows.pop(0)
        where = f"{report.plan.root.rstrip('/')}/{at[1] or path}" if not (at[1] or path).startswith("/") else at[1]
        frames.append(Frame(where, int(at[2]), report.function(where, int(at[2]))))
    if not frames or not rows:
        raise ValueError("a failure needs a line and its words")
    report.words[id] = rows
    kind, message = "AssertionError", ""
    if not rows[0].startswith("assert ") and (found := _KIND.fullmatch("\n".join(rows))):
        kind, message = found[1], found[2] or ""
    return PytestOutcome(id, phase, ExceptionReport(kind, message, tuple(frames)), arguments=arguments)


def _ids(file: TestFile) -> Iterator[str]:
    """Yield the ids of the tests of a file, with those of their parameters.

    Raises:
        NoTests: The parameters are not known before they are computed.
    """
    nodes = _nodes(file)
    for test in file.tests:
        inner = f"{test['class']}::" if test["class"] else ""
        for label in _labels(nodes[test["class"], test["name"]]):
            yield f"{file.shown}::{inner}{test['name']}{label}"


def _nodes(file: TestFile) -> dict[tuple[str | None, str], ast.FunctionDef]:
    """Return the functions of a file by their classes and names."""
    return {
        (holder.name if isinstance(holder, ast.ClassDef) else None, node.name): node
        for holder in (file.source.tree.body if file.source.tree else ())
        for node in (holder.body if isinstance(holder, ast.ClassDef) else [holder])
        if isinstance(node, ast.FunctionDef)
    }


def _labels(node: ast.FunctionDef) -> list[str]:
    calls = [call for call in node.decorator_list if "parametrize" in ast.unparse(call)]
    if not calls:
        return [""]
    call = calls[0]
    if len(calls) > 1 or not isinstance(call, ast.Call) or len(call.args) != 2 or call.keywords:
        raise NoTests(f"the parameters of {node.name} are not known")
    try:
        names, values = (ast.literal_eval(argument) for argument in call.args)
    except (ValueError, SyntaxError, RecursionError) as error:
        raise NoTests(f"the parameters of {node.name} are not known") from error
    if isinstance(names, str):
        names = [name.strip() for name in names.split(",") if name.strip()]
    rows = [value if len(names) > 1 else (value,) for value in values]
    labels = [
        "-".join(_label(value, name, number) for name, value in zip(names, row, strict=True))
        for number, row in enumerate(rows)
    ]
    if len(set(labels)) < len(labels):
        raise NoTests(f"the parameters of {node.name} have equal names")
    return [f"[{label}]" for label in labels]


def _label(value: Any, name: str, number: int) -> str:
    if value is None or isinstance(value, bool | int | float):
        return str(value)
    if isinstance(value, str) and not _SPECIAL.intersection(value):
        return value[:SHOWN]
    return f"{name}{number}"
