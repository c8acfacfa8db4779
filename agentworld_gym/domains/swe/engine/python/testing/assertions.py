"""Explains failed assertions: values are noted where a test computes them, and put into words afterwards; and finds the
blocks of a test that expect an exception.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentworld_gym.domains.swe.engine.python.source import Edit, SourceFile, place

TEXT = "\x01text"
SIDE = 30
DIFF_LINES = 30
DIFF_CHARS = 200
OPERATORS: dict[type[ast.cmpop | ast.operator | ast.unaryop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in", ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/",
    ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
    ast.LShift: "<<", ast.RShift: ">>", ast.MatMult: "@", ast.Not: "not ", ast.USub: "-", ast.UAdd: "+",
    ast.Invert: "~",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Assertion:
    """One `assert` of a test file, with the numbers of the parts whose values are noted."""

    path: str
    node: ast.Assert
    parts: Mapping[int, ast.expr]
    compared: tuple[int, int] | None

    def packed(self) -> dict[str, Any]:
        """Return what the harness inside the sandbox reads."""
        return {
            "path": self.path,
            "first": self.node.lineno,
            "last": self.node.end_lineno or self.node.lineno,
            "numbers": list(self.parts),
            "compared": list(self.compared or ()),
        }


def instrumented(source: SourceFile, first: int) -> tuple[list[Edit], list[Assertion]]:
    """Return the edits with which a test file notes the values of its assertions, and the assertions.

    The numbers of the noted parts begin at `first`.
    """
    edits: list[Edit] = []
    asserts: list[Assertion] = []
    for node in ast.walk(source.tree) if source.tree else ():
        if not isinstance(node, ast.Assert):
            continue
        parts = {first + i: part for i, part in enumerate(_parts(node.test))}
        first += len(parts)
        numbers = {id(part): number for number, part in parts.items()}
        compared = None
        if isinstance(node.test, ast.Compare) and len(node.test.ops) == 1 and isinstance(node.test.ops[0], ast.Eq):
            left, right = numbers.get(id(node.test.left)), numbers.get(id(node.test.comparators[0]))
            compared = (left, right) if left is not None and right is not None else None
        asserts.append(Assertion(source.path, node, parts, compared))
        edits += _around(parts)
    return edits, asserts


def _around(parts: Mapping[int, ast.expr]) -> list[Edit]:
    """Return a note around each part, nested as the parts are."""
    spans = sorted(
        ((*place(part), number) for number, part in parts.items()), key=lambda s: (s[0], (-s[1][0], -s[1][1]))
    )
    opening = [Edit(start, start, f"__note__({number}, ") for start, _, number in spans]
    closing = [Edit(end, end, ")") for _, end, _ in spans]
    return closing + opening


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """Return the parts of an expression whose values are worth showing."""
    if isinstance(node, ast.Compare):
        for operand in (node.left, *node.comparators):
            if isinstance(operand, ast.Constant):
                yield operand
            yield from _parts(operand)
    elif isinstance(node, ast.BoolOp):
        for operand in node.values:
            yield from _parts(operand)
    elif isinstance(node, ast.UnaryOp):
        yield from _parts(node.operand)
        if not isinstance(node.op, ast.Not):
            return
    elif isinstance(node, ast.Call):
        yield node
        if isinstance(node.func, ast.Attribute):
            yield from _parts(node.func.value)
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            if not isinstance(argument, ast.Starred):
                yield from _parts(argument)
    elif isinstance(node, ast.Attribute):
        yield node
        yield from _parts(node.value)
    elif isinstance(node, ast.BinOp):
        yield node
        yield from _parts(node.left)
        yield from _parts(node.right)
    elif not isinstance(node, (ast.Constant, ast.GeneratorExp, ast.Starred, ast.JoinedStr, ast.NamedExpr)):
        yield node


def explanation(source: SourceFile, assertion: Assertion, explained: Mapping[str, Any], level: int = 0) -> list[str]:
    """Return the lines that explain a failed assertion, the first one beginning with `assert`.

    If the explanation tells how two values differ, the first line shows them shortened, without where they come from.
    """
    values, detail = explained.get("values", {}), explained.get("detail", [])
    if not detail:
        return _Words(source, assertion, values).lines()
    left, right = (_short(values.get(str(number), "?")) for number in assertion.compared or (0, 0))
    lines = [f"assert {left} == {right}", "  ", *(f"  {line}" for line in _detailed(detail))]
    if level <= 0 and detail[0] != TEXT:
        lines += ["  Use -v to get more diff"]
    return lines


def _short(value: str) -> str:
    """Return a value in at most SIDE letters, without its middle if it is longer."""
    first = (SIDE - 3) // 2
    return value if len(value) <= SIDE else f"{value[:first]}...{value[len(value) - (SIDE - 3 - first) :]}"


class _Words:
    def __init__(self, source: SourceFile, assertion: Assertion, values: Mapping[str, str]) -> None:
        self.source = source
        self.assertion = assertion
        self.values = {id(part): values.get(str(number)) for number, part in assertion.parts.items()}

    def lines(self) -> list[str]:
        wheres: list[str] = []
        words = self.words(self.assertion.node.test, 1, wheres)
        if "\n" in words:
            words = words.replace("\n", "\\n")
        lines = [f"assert {words}"]
        for i, where in enumerate(wheres):
            lines.append(where.replace("where", "and  ", 1) if i and not where.startswith("   ") else where)
        return lines

    def words(self, node: ast.expr, depth: int, wheres: list[str]) -> str:
        """Return how an expression stands in the explanation, and add to `wheres` what its values come from."""
        if isinstance(node, ast.Compare):
            words = self.words(node.left, depth, wheres)
            for operator, operand in zip(node.ops, node.comparators, strict=True):
                words += f" {OPERATORS[type(operator)]} {self.words(operand, depth, wheres)}"
            return words
        if isinstance(node, ast.BoolOp):
            reached = [value for value in node.values if self.evaluated(value)]
            joint = " and " if isinstance(node.op, ast.And) else " or "
            return "(" + joint.join(self.words(value, depth, wheres) for value in reached) + ")"
        if isinstance(node, ast.UnaryOp):
            return f"{OPERATORS[type(node.op)]}{self.words(node.operand, depth, wheres)}"
        if isinstance(node, ast.BinOp):
            left, right = self.words(node.left, depth, wheres), self.words(node.right, depth, wheres)
            return f"({left} {OPERATORS[type(node.op)]} {right})"
        noted = self.values.get(id(node))
        if isinstance(node, ast.Name):
            return node.id if noted is None or _is_code(noted) else noted
        if noted is None:
            return repr(node.value) if isinstance(node, ast.Constant) else self.source.segment(node)
        if isinstance(node, ast.Call):
            below: list[str] = []
            words = f"{self.called(node.func, depth + 1, below)}({', '.join(self.given(node, depth + 1, below))})"
            self.add(wheres, depth, noted, words, below)
        elif isinstance(node, ast.Attribute) and not _is_code(noted):
            below = []
            self.add(wheres, depth, noted, f"{self.words(node.value, depth + 1, below)}.{node.attr}", below)
        elif isinstance(node, ast.Attribute):
            return self.source.segment(node)
        return noted

    def given(self, node: ast.Call, depth: int, wheres: list[str]) -> Iterator[str]:
        for argument in node.args:
            yield self.words(argument, depth, wheres)
        for keyword in node.keywords:
            words = self.words(keyword.value, depth, wheres)
            yield f"{keyword.arg}={words}" if keyword.arg else f"**{words}"

    def called(self, node: ast.expr, depth: int, wheres: list[str]) -> str:
        if isinstance(node, ast.Attribute):
            return f"{self.words(node.value, depth, wheres)}.{node.attr}"
        return self.source.segment(node)

    def evaluated(self, node: ast.expr) -> bool:
        """Return whether the test came as far as this operand; one without noted values counts as reached."""
        noted = [part for part in ast.walk(node) if id(part) in self.values]
        return not noted or any(self.values[id(part)] is not None for part in noted)

    def add(self, wheres: list[str], depth: int, noted: str, words: str, below: list[str]) -> None:
        indent = "  " * (depth - 1)
        wheres.append(f" +{indent}  where {noted} = {words}")
        for i, line in enumerate(below):
            same_level = line.startswith(f" +{indent}    ") and not line.startswith(f" +{indent}      ")
            wheres.append(line.replace("where", "and  ", 1) if i and same_level else line)


def _is_code(value: str) -> bool:
    return value.startswith(("<function", "<class", "<module", "<built-in", "<bound method"))


def _detailed(detail: Sequence[str]) -> list[str]:
    if detail[0] != TEXT:
        return list(detail)
    left, right = (
        [line[:DIFF_CHARS] for line in text.splitlines(keepends=True)[:DIFF_LINES]] or [""] for text in detail[1:3]
    )
    return [line.rstrip("\n") for line in difflib.ndiff(right, left)]


MISSED = ("DID NOT RAISE", "Regex pattern did not match")


def blocks(source: SourceFile) -> Iterator[ast.With]:
    """Yield all such blocks of a file, outer ones first."""
    for node in ast.walk(source.tree) if source.tree else ():
        if isinstance(node, ast.With) and len(node.items) == 1:
            called = node.items[0].context_expr
            if isinstance(called, ast.Call) and ast.unparse(called.func) in ("pytest.raises", "raises"):
                yield node


def around(source: SourceFile, line: int) -> ast.With | None:
    """Return the innermost such block around a line."""
    enclosing = [node for node in blocks(source) if node.lineno <= line <= (node.end_lineno or 0)]
    return max(enclosing, key=lambda node: node.lineno, default=None)


def open_handlers(source: SourceFile) -> Iterator[Edit]:
    """Yield edits after which no block catches anything, so that an exception shows where it came from."""
    for node in blocks(source):
        item = node.items[0]
        end = place(item.optional_vars or item.context_expr)[1]
        padding = "\n" * (end[0] - node.lineno)
        if source.lines[end[0] - 1].encode()[end[1] :].lstrip().startswith(b":"):
            yield Edit(place(node)[0], end, f"if (True{padding})")
