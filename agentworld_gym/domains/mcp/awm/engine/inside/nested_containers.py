"""What the values at the top of a module hold: how many containers in each other that code could change."""

from __future__ import annotations

import ast
import math
from collections.abc import Collection, Iterator, Mapping


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


FACTORIES = words(
    """APIRouter Body ConfigDict Decimal Depends FastAPI Field Header Literal MetaData NewType Path Query TypeVar
    ZoneInfo abspath basename bool compile date datetime declarative_base dirname exists float frozenset get getLogger
    getenv int join namedtuple now registry replace sessionmaker split str strip timedelta timezone today tuple
    utcnow"""
)
"""Calls at the top of a module whose result keeps nothing of a session."""


def module_names(tree: ast.Module, plain: Collection[str]) -> tuple[set[str], dict[str, float], set[str]]:
    """Return all names of a module, how deep those values are that may keep something, and the names of apps.

    Args:
        tree: The module.
        plain: Names whose values are known to keep nothing.
    """
    names, kept, apps = set[str](), dict[str, float](), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names.update((one.asname or one.name).partition(".")[0] for one in node.names)
    for statement in statements(tree.body):
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(statement.name)
            continue
        bound = stored(statement)
        names |= bound
        value = getattr(statement, "value", None)
        if isinstance(value, ast.Call) and called(value) in ("FastAPI", "APIRouter"):
            apps |= bound
            continue
        depth = depth_of(value, kept) if isinstance(value, ast.expr) else math.inf
        for name in bound.difference(plain):
            kept[name] = max(depth, kept.get(name, 0))
    return names, kept, apps


def stored(node: ast.AST) -> set[str]:
    """Return the names that a statement binds."""
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def models(tree: ast.Module) -> set[str]:
    """Return the names of pydantic's models, which copy the defaults of their fields."""
    found = {"BaseModel"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            roots = {base.value if isinstance(base, ast.Subscript) else base for base in node.bases}
            if any(getattr(base, "id", getattr(base, "attr", "")) in found for base in roots):
                found.add(node.name)
    return found


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements at the top of a module, those of its branches included; `with` binds as `=` does."""
    for statement in body:
        for item in getattr(statement, "items", []):
            if item.optional_vars is not None:
                yield ast.Assign([item.optional_vars], item.context_expr)
        branches = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
        if isinstance(statement, ast.If | ast.Try | ast.With):
            for branch in branches:
                yield from statements(branch)
        else:
            yield statement


def depth_of(value: ast.expr, kept: Mapping[str, float]) -> float:
    """Return how many containers that can be changed a value holds in each other; of the unknown there is no end.

    >>> values = ast.parse("('a', 1), [1], {'a': KEPT}, Store()", mode="eval").body.elts
    >>> [depth_of(value, {"KEPT": 1.0}) for value in values]
    [0.0, 1.0, 2.0, inf]
    """
    inside = [depth_of(child, kept) for child in _parts(value)]
    deepest = max(inside, default=0.0)
    match value:
        case ast.Name(id=name):
            return kept.get(name, 0.0)
        case ast.Lambda():
            return 0.0
        case ast.List() | ast.Dict() | ast.Set() | ast.ListComp() | ast.DictComp() | ast.SetComp():
            return 1 + deepest
        case ast.Tuple():
            return deepest and 1 + deepest
        case ast.Call():
            name = called(value)
            if name in ("create_engine", "FastAPI", "Table") or (name in FACTORIES and not deepest):
                return 0.0
            return max(1.0, deepest) if name in ("dict", "list", "set", "sorted") else math.inf
        case ast.GeneratorExp():
            return math.inf
    return deepest


def _parts(value: ast.expr) -> list[ast.expr]:
    """Return the expressions whose values a value may hold."""
    match value:
        case ast.Call():
            return [*value.args, *(keyword.value for keyword in value.keywords)]
        case ast.DictComp():
            return [value.value]
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
            return [value.elt]
    return [child for child in ast.iter_child_nodes(value) if isinstance(child, ast.expr)]


def is_call_of(value: ast.expr, names: Collection[str]) -> bool:
    """Return whether a value is a call of one of some functions."""
    return isinstance(value, ast.Call) and called(value) in names


def called(call: ast.Call) -> str:
    """Return the last name of what is called."""
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
