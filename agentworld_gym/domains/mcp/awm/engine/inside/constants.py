"""What of a module looks constant: its containers, and objects of its own classes.

This is a guess by the common ways of writing, which decides where it is worth a try to let sessions share a process.
What the guess overlooks is noticed when it happens (`watching`).
"""

from __future__ import annotations

import ast
import math
from collections.abc import Collection, Iterator, Mapping

from agentworld_gym.domains.mcp.awm.engine.inside.nested_containers import called, statements, stored, words

BASES = words("ABC BaseHTTPMiddleware BaseModel BaseSettings Generic object")
"""Classes of libraries whose objects may live as long as the module."""


def constants(tree: ast.Module, kept: Mapping[str, float]) -> dict[str, bool]:
    """Return the names of containers that look constant, and whether no container in them is empty.

    An empty container is there to be filled.

    >>> code = ast.parse("MOVES = {'open': ['done'], 'done': []}; NAMES = ['a']; SEEN = []")
    >>> constants(code, {"MOVES": 2, "NAMES": 1, "SEEN": 1})
    {'MOVES': False, 'NAMES': True}
    """
    found = dict[str, bool]()
    for statement in statements(tree.body):
        value = getattr(statement, "value", None)
        for name in stored(statement):
            if isinstance(value, ast.expr) and 0 < kept.get(name, 0) < math.inf and not is_empty(value):
                found[name] = not any(is_empty(part) for part in ast.walk(value))
    return found


def unchanging_classes(tree: ast.Module) -> set[str]:
    """Return the names of classes whose objects look as if they stayed as they were made."""
    found = set[str]()
    for statement in statements(tree.body):
        if isinstance(statement, ast.ClassDef) and not any(_changes(statement, found)):
            found.add(statement.name)
    return found


def singletons(tree: ast.Module, classes: Collection[str]) -> dict[str, ast.Call]:
    """Return the names of objects of some classes that are made at the top of a module, with the calls that do it.

    >>> sorted(singletons(ast.parse("settings = Settings(); store = Store()"), {"Settings"}))
    ['settings']
    """
    found = dict[str, ast.Call]()
    for statement in statements(tree.body):
        value = getattr(statement, "value", None)
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in classes:
            found.update(dict.fromkeys(stored(statement), value))
    return found


def is_empty(value: ast.AST) -> bool:
    """Return whether a value is an empty container."""
    match value:
        case ast.List(elts=[]) | ast.Set(elts=[]) | ast.Dict(keys=[]):
            return True
        case ast.Call(args=[], keywords=[]):
            return called(value) in ("dict", "list", "set")
    return False


def _changes(node: ast.ClassDef, unchanging: Collection[str]) -> Iterator[bool]:
    """Yield whether parts of a class change its objects; those of the classes in `unchanging` do not change."""
    for base in node.bases:
        root = base.value if isinstance(base, ast.Subscript) else base
        name = getattr(root, "id", getattr(root, "attr", ""))
        yield name not in BASES and name not in unchanging
    for method in node.body:
        if not isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        first = method.name == "__init__"
        for part in ast.walk(method):
            if isinstance(part, ast.Attribute | ast.Subscript) and not isinstance(part.ctx, ast.Load):
                yield not first and _root(part) == "self"
            yield first and isinstance(part, ast.Assign | ast.AnnAssign) and _fills(part)


def _fills(statement: ast.Assign | ast.AnnAssign) -> bool:
    """Return whether a statement gives an object an empty container."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    empty = statement.value is not None and is_empty(statement.value)
    return empty and any(isinstance(target, ast.Attribute) for target in targets)


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return getattr(node, "id", "")
