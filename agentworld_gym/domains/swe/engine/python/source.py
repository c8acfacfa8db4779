"""Python source of a repository, which is parsed under limits, never run, and edited without moving a line."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from agentworld_gym.base.text.python_source import tree

MAX_SOURCE = 200_000
REMEMBERED = 16_000


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file as the interpreter reads it: its syntax tree, or the report of its syntax error."""

    path: str
    text: str
    tree: ast.Module | None
    report: str = ""

    @property
    def lines(self) -> list[str]:
        """The lines without their ends."""
        return self.text.split("\n")

    def segment(self, node: ast.expr) -> str:
        """Return the text of an expression, on one line."""
        return " ".join(part.strip() for part in (ast.get_source_segment(self.text, node) or "").split("\n"))


def parse(path: str, text: str) -> SourceFile:
    """Return the parsed program, or the report of a syntax error that the interpreter would print.

    >>> parse("/w/a.py", "x = 1").tree is not None
    True
    >>> print(parse("/w/a.py", "if True print(1)").report)
      File "/w/a.py", line 1
        if True print(1)
                ^^^^^
    SyntaxError: invalid syntax
    """
    return _remembered(path, text) if len(text) <= REMEMBERED else _parsed(path, text)


def _parsed(path: str, text: str) -> SourceFile:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if len(text) > MAX_SOURCE:
        return SourceFile(path, text, None, f'  File "{path}", line 1\nMemoryError: the source is too large')
    try:
        return SourceFile(path, text, tree(text))
    except SyntaxError as error:
        return SourceFile(path, text, None, _report(path, error))
    except ValueError as error:  # the text holds null bytes
        return SourceFile(path, text, None, f"SyntaxError: {error}")
    except (RecursionError, MemoryError):
        return SourceFile(path, text, None, f'  File "{path}", line 1\nRecursionError: the source is nested too deeply')


_remembered = lru_cache(maxsize=256)(_parsed)


def _report(path: str, error: SyntaxError) -> str:
    kind = type(error).__name__
    if error.lineno is None:
        return f"{kind}: {error.msg}"
    lines = [f'  File "{path}", line {error.lineno}']
    text = (error.text or "").rstrip("\n")
    if text.strip():
        stripped = text.lstrip()
        lines.append(f"    {stripped}")
        start = (error.offset or 1) - 1 - (len(text) - len(stripped))
        same_line = error.end_lineno in (None, error.lineno)
        end = (error.end_offset or 0) - 1 - (len(text) - len(stripped)) if same_line else len(stripped)
        if start >= 0:
            lines.append("    " + " " * start + "^" * max(1, end - start))
    return "\n".join([*lines, f"{kind}: {error.msg}"])


class Edit(NamedTuple):
    """A piece of text between two positions, and its replacement; lines count from 1, columns from 0 in UTF-8 bytes."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str


def changed(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with some pieces replaced; edits at the same position are made in the order given.

    >>> changed("f(x)", [Edit((1, 0), (1, 0), "g("), Edit((1, 4), (1, 4), ")")])
    'g(f(x))'
    """
    data = text.encode("utf-8", "surrogatepass")
    starts = [0]
    for line in data.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    pieces, done = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        start, end = (starts[line - 1] + column for line, column in (edit.start, edit.end))
        pieces += [data[done:start], edit.text.encode("utf-8", "surrogatepass")]
        done = end
    return b"".join([*pieces, data[done:]]).decode("utf-8", "surrogatepass")


def place(node: ast.expr | ast.stmt) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the start and the end of a node, in the positions of an edit."""
    return (node.lineno, node.col_offset), (node.end_lineno or node.lineno, node.end_col_offset or 0)
