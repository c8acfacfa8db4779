"""Finds the blocks of a test that expect an exception: `with pytest.raises(...)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from agentworld_gym.domains.swe.engine.python.source import Edit, SourceFile, place

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
