"""Splits a test file into the program's side, which runs in a sandbox, and the grader's, which never enters one."""

from __future__ import annotations

import ast
import copy
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentworld_gym.core.engines import EngineError
from agentworld_gym.domains.swe.engine.python.grading.conditions import Condition, GradedTest, Operand, Raising
from agentworld_gym.domains.swe.engine.python.grading.values import Unknown, is_fixed, value_of
from agentworld_gym.domains.swe.engine.python.source import parse

MAX_CASES = 500
SEEN, RAISED = "__seen__", "__raised__"


class SplitTestFile:
    """A test file in its two parts; places are counted through all files of a run."""

    def __init__(self, path: str, text: str, number: int) -> None:
        self.path = path
        self.name = f"judged_{number}"
        self.cases: list[GradedTest] = []
        self._places = itertools.count(number * 1_000_000)
        self._fixtures: dict[str, ast.FunctionDef] = {}
        self._known: dict[str, Any] = {}
        self._head: list[str] = []
        self._constants: dict[str, str] = {}
        self._handed: set[str] = set()
        self._own: set[str] = set()
        self.program_names: set[str] = set()
        source = parse(path, text)
        if source.tree is None:
            raise EngineError(f"{path}: {source.report}")
        tests: list[ast.FunctionDef] = []
        for node in source.tree.body:
            self._top(node, tests)
        # A name that the program's side uses is handed to the program, which may change a list.
        before: set[str] | None = None
        while before != self._handed:
            before = set(self._handed)
            self.cases = [self._case(test, *parameters) for test in tests for parameters in self._parameter_sets(test)]
            for name in list(self._constants):
                if name in self._handed:
                    self._handed |= _names(ast.parse(self._constants[name]))

    @property
    def text(self) -> str:
        """The text of the program's side."""
        functions = (
            f"def {case.name}({SEEN}, {RAISED}):\n" + "".join(case.lines or ["    pass\n"]) for case in self.cases
        )
        handed = self._handed | self._own
        constants = (text for name, text in self._constants.items() if name in handed)
        return "\n".join([*self._head, *constants]) + "\n\n\n" + "\n\n".join(functions)

    @property
    def call(self) -> str:
        """The text that runs the program's side; whatever a test does, the others are called."""
        rows = [f"try:\n    import {self.name}\n"]
        rows += ["except BaseException as error:\n    raised(-1, error)\n"]
        for case in self.cases:
            rows += [f"try:\n    {self.name}.{case.name}(seen, raised)\n"]
            rows += ["except BaseException as error:\n    raised(-1, error)\n"]
        return "".join(rows)

    def _top(self, node: ast.stmt, tests: list[ast.FunctionDef]) -> None:
        """Read a statement of the module."""
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            wanted = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            if wanted == ["pytest"]:
                return
            self._head.append(ast.unparse(node))
            if wanted != ["datetime"]:
                self.program_names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            tests.append(node)
        elif isinstance(node, ast.FunctionDef):
            self._function(node)
        elif isinstance(node, ast.Assign):
            if self.keep(node, self._known):
                self._constants |= dict.fromkeys(_stored([node]), ast.unparse(node))
            else:
                self._head.append(ast.unparse(node))
                self._own |= _names(node)
                self.program_names |= set(_stored([node]))
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            raise self.refuse(node, "imports, constants, functions and tests")

    def _function(self, node: ast.FunctionDef) -> None:
        if any(isinstance(inner, (ast.Assert, ast.Yield, ast.YieldFrom)) for inner in ast.walk(node)):
            raise self.refuse(node, "functions without `assert` and `yield`")
        twin = copy.copy(node)
        names = [ast.unparse(decorator) for decorator in node.decorator_list]
        if names:
            if names not in (["pytest.fixture"], ["pytest.fixture()"], ["fixture"]):
                raise self.refuse(node, "no decorator but a plain `pytest.fixture`")
            self._fixtures[node.name] = node
            twin.decorator_list, twin.name = [], f"_fixture_{node.name}"
        self._head.append(ast.unparse(twin))
        self._own |= _names(node)
        self.program_names.add(node.name)

    def keep(self, node: ast.Assign, known: dict[str, Any]) -> bool:
        """Return whether an assignment gives a name a value that the test states, and keep that value."""
        target = node.targets[0] if len(node.targets) == 1 else None
        if not isinstance(target, ast.Name):
            for name in _names(*node.targets):
                known.pop(name, None)
            return False
        try:
            if _names(node.value) & self.program_names:
                raise Unknown(target.id)
            known[target.id] = value_of(node.value, known)
        except Unknown:
            known.pop(target.id, None)
            return False
        return True

    def _case(self, test: ast.FunctionDef, name: str, parameters: Mapping[str, ast.expr]) -> GradedTest:
        case = GradedTest(f"{self.path}::{test.name}{name}", f"case_{next(self._places)}")
        start = [
            ast.Assign([ast.Name(key, ast.Store())], value, lineno=test.lineno, col_offset=0)
            for key, value in parameters.items()
        ]
        made: list[str] = []
        for argument in test.args.args:
            if argument.arg not in parameters:
                self._make(test, argument.arg, made, case)
        body: list[ast.stmt] = [*start, *test.body]
        writer = _Writer(self, dict(self._known), self._handed | self._own)
        writer.bound |= set(made)
        writer.block(body)
        self._handed |= writer.named & (writer.stated | self._known.keys())
        case.lines += writer.lines
        case.wanted, case.quiet = writer.wanted, case.quiet | writer.quiet
        return case

    def _parameter_sets(self, test: ast.FunctionDef) -> Iterator[tuple[str, dict[str, ast.expr]]]:
        """Return the sets of parameters of a test, each with the end of its id.

        A test without parameters has one empty set.
        """
        sets: list[dict[str, ast.expr]] = [{}]
        for mark in test.decorator_list:
            if not isinstance(mark, ast.Call) or ast.unparse(mark.func) != "pytest.mark.parametrize":
                raise self.refuse(mark, "no decorator of a test but `pytest.mark.parametrize`")
            names, rows = _listed(ast.literal_eval(mark.args[0])), mark.args[1]
            if len(mark.args) != 2 or mark.keywords or not isinstance(rows, (ast.List, ast.Tuple)):
                raise self.refuse(mark, "names and a list of parameters")
            more = []
            for row in rows.elts:
                parts = [row] if len(names) == 1 else row.elts if isinstance(row, (ast.List, ast.Tuple)) else []
                if len(parts) != len(names):
                    raise self.refuse(row, f"{len(names)} parameters")
                more.append(dict(zip(names, parts, strict=True)))
            sets = [{**one, **other} for one in sets for other in more]
        if len(sets) > MAX_CASES:
            raise self.refuse(test, f"at most {MAX_CASES} sets of parameters")
        for number, parameters in enumerate(sets):
            yield (f"[{number}]" if parameters else ""), parameters

    def _make(self, test: ast.FunctionDef, name: str, made: list[str], case: GradedTest) -> None:
        """Call a fixture before a test, and first those that it asks for."""
        if name in made:
            return
        if name not in self._fixtures:
            raise self.refuse(test, f"a fixture of this file; {name!r} is none")
        asked = [argument.arg for argument in self._fixtures[name].args.args]
        for other in asked:
            self._make(test, other, made, case)
        made.append(name)
        place = next(self._places)
        case.quiet.add(place)
        case.lines += _guarded([f"{name} = _fixture_{name}({', '.join(asked)})", f"{SEEN}({place}, None)"], place)

    def place(self) -> int:
        """Return the number of a new place at which something is recorded."""
        return next(self._places)

    def refuse(self, node: ast.AST, expected: str) -> EngineError:
        """Return the error that says where a test cannot be graded from outside, and what was expected there."""
        line = getattr(node, "lineno", 0)
        return EngineError(f"{self.path}, line {line}: this test cannot be judged from outside; expected {expected}")


class _Writer:
    """Writes the program's side of one test and keeps the grader's."""

    def __init__(self, program: SplitTestFile, known: dict[str, Any], handed: set[str]) -> None:
        self.program, self.known, self.handed = program, known, handed
        self.lines: list[str] = []
        self.wanted: list[tuple[int, Condition | Raising]] = []
        self.quiet: set[int] = set()
        self.named: set[str] = set()
        self.stated: set[str] = set()
        self.bound = set(program.program_names)

    def block(self, body: Sequence[ast.stmt]) -> None:
        """Write some statements."""
        for node in body:
            self._statement(node)

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Assert):
            self.wanted.append((node.lineno, self._condition(node.test)))
        elif isinstance(node, ast.With) and _is_raises(node):
            self._raising(node)
        elif isinstance(node, ast.Assign) and self.program.keep(node, self.known):
            target = node.targets[0]
            assert isinstance(target, ast.Name)
            self.stated.add(target.id)
            if target.id in self.handed:
                value = self.known[target.id]
                self._run([node])
                self.known[target.id] = value
            self.bound.discard(target.id)
        elif any(isinstance(inner, (ast.Assert, ast.Return, ast.Yield)) for inner in ast.walk(node)):
            raise self.program.refuse(node, "`assert` outside loops and blocks, no `return` and no `yield`")
        elif isinstance(node, ast.With) and any(_is_raises(inner) for inner in ast.walk(node)):
            raise self.program.refuse(node, "`with pytest.raises(CLASS, match=TEXT):` in a line of its own")
        elif not (isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))):
            self._run([node])

    def _run(self, body: Sequence[ast.stmt], quiet: bool = True) -> int:
        """Write statements of the program's side; if `quiet`, a record tells that they raised nothing."""
        for node in body:
            self.named |= _names(node)
            for name in _stored([node]):
                self.known.pop(name, None)
                self.bound.add(name)
        place = self.program.place()
        if quiet:
            self.quiet.add(place)
        lines = [line for node in body for line in ast.unparse(node).split("\n")]
        self.lines += _guarded([*lines, f"{SEEN}({place}, None)"], place)
        return place

    def _raising(self, node: ast.With) -> None:
        called = node.items[0].context_expr
        assert isinstance(called, ast.Call)
        if any(isinstance(inner, ast.Assert) for inner in ast.walk(node)):
            raise self.program.refuse(node, "no `assert` in a block that waits for an exception")
        classes = called.args[0].elts if isinstance(called.args[0], ast.Tuple) else called.args[:1]
        names = tuple(ast.unparse(part).rpartition(".")[2] for part in classes)
        pattern = None
        for keyword in called.keywords:
            try:
                pattern = str(value_of(keyword.value, self.known)) if keyword.arg == "match" else pattern
            except Unknown as error:
                raise self.program.refuse(node, "a text after `match=`") from error
        try:
            re.compile(pattern or "")
        except re.error as error:
            raise self.program.refuse(node, f"a regular expression after `match=` ({error})") from error
        place = self._run(node.body, quiet=False)
        self.wanted.append((node.lineno, Raising(place, names, pattern)))

    def _condition(self, node: ast.expr) -> Condition:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return Condition("not", inner=(self._condition(node.operand),))
        if isinstance(node, ast.BoolOp):
            kind = "and" if isinstance(node.op, ast.And) else "or"
            return Condition(kind, inner=tuple(map(self._condition, node.values)))
        if isinstance(node, ast.Compare) and not _is_identity(node):
            sides = (node.left, *node.comparators)
            return Condition("compare", tuple(map(self._operand, sides)), tuple(type(op) for op in node.ops))
        return Condition("truth", (self._operand(node),))

    def _operand(self, node: ast.expr) -> Operand:
        names = _names(node)
        changing = {name for name in names & self.handed & self.known.keys() if not is_fixed(self.known[name])}
        if not changing and not names & self.bound:
            try:
                return Operand(None, value_of(node, self.known))
            except Unknown as error:
                raise self.program.refuse(node, f"a value that follows from the text of the test ({error})") from error
        place = self.program.place()
        self.named |= names
        self.lines += _guarded([f"{SEEN}({place}, {ast.unparse(node)})"], place)
        return Operand(place)


def _guarded(lines: Sequence[str], place: int) -> list[str]:
    """Return statements that record at a place what they raise."""
    inner = "".join(f"        {line}\n" for line in lines)
    return [f"    try:\n{inner}    except BaseException as error:\n        {RAISED}({place}, error)\n"]


def _names(*nodes: ast.AST) -> set[str]:
    return {inner.id for node in nodes for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def _stored(body: Sequence[ast.stmt]) -> Iterator[str]:
    for node in body:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                yield inner.id


def _is_identity(node: ast.Compare) -> bool:
    """Return whether an expression asks if two objects are the same one, which only the program's side can tell."""
    return all(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops) and not any(
        isinstance(side, ast.Constant) for side in (node.left, *node.comparators)
    )


def _is_raises(node: ast.AST) -> bool:
    """Return whether a block expects an exception and does nothing else with it."""
    if not isinstance(node, ast.With) or len(node.items) != 1 or node.items[0].optional_vars is not None:
        return False
    called = node.items[0].context_expr
    return (
        isinstance(called, ast.Call) and bool(called.args) and ast.unparse(called.func) in ("pytest.raises", "raises")
    )


def _listed(names: str | Sequence[str]) -> list[str]:
    return [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
