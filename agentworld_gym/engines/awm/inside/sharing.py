"""Whether the code of a world may serve several sessions in one process.

It may where it is plain to see that it keeps nothing outside its database and reaches for nothing but the libraries
that such code is made of. All other code gets a process for each session, which is always right, and slower.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterator
from typing import Any


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MODULES = _words(
    """__future__ base64 calendar collections contextlib copy dataclasses datetime decimal enum fastapi fractions
    functools hashlib http itertools json logging math os pydantic random re secrets sqlalchemy starlette statistics
    string textwrap time typing typing_extensions urllib uuid uvicorn warnings zoneinfo"""
)
"""The modules that such code may import."""

PARTS = {"os": _words("getenv environ path"), "functools": _words("partial reduce wraps")}
"""What such code may use of modules that can do more."""

FORBIDDEN_CALLS = _words("__import__ breakpoint cache compile eval exec globals input locals open vars")
"""Names of functions that reach outside, or keep what they saw."""

FORBIDDEN_MEMBERS = _words(
    """builtins cached_property cr_frame ctypes f_back f_builtins f_globals f_locals gc gi_frame importlib inspect
    lru_cache multiprocessing subprocess sys tb_frame threading weakref"""
)
"""Names of members that lead out of a module, or keep what they saw."""

PRIVATE = _words(
    "__doc__ __init__ __mapper_args__ __name__ __table__ __table_args__ __tablename__ _asdict _fields _mapping"
)
"""Names with an underscore that such code may use."""

FACTORIES = _words(
    """APIRouter Body ConfigDict Decimal Depends FastAPI Field Header Literal MetaData NewType Path Query TypeVar bool
    compile create_engine date datetime declarative_base dirname float frozenset get getLogger getenv int join
    namedtuple registry replace sessionmaker split str strip timedelta timezone tuple ZoneInfo"""
)
"""Calls at the top of a module whose result keeps nothing of a session."""

READERS = _words("all any bool dict enumerate frozenset len list max min set sorted str sum tuple zip")
"""Functions that only read a container."""

READING = _words("copy count get index items keys values")
"""Methods that only read a container."""


def reasons_against(code: str) -> list[str]:
    """Return why the code may not serve several sessions in one process; nothing speaks against it where it is empty.

    >>> reasons_against("import json\\nLIMITS = {'a': 1}\\ndef f(k):\\n    return LIMITS[k]")
    []
    >>> reasons_against("SEEN = []\\ndef f(k):\\n    SEEN.append(k)")
    ['line 3: SEEN of the module is used as more than a constant']
    """
    return list(dict.fromkeys(_Reading(ast.parse(code)).reasons()))


UNSEEN = _words("random secrets time uuid")
"""Modules that tell the time or draw numbers without the clock or chance of the session noticing."""


def is_seen(code: str) -> bool:
    """Return whether the clock and chance of a session notice when the code asks them.

    >>> is_seen("from datetime import datetime"), is_seen("import uuid")
    (True, False)
    """
    nodes = list(ast.walk(ast.parse(code)))
    names = [one.name for node in nodes if isinstance(node, ast.Import) for one in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return UNSEEN.isdisjoint(name.partition(".")[0] for name in names)


class _Reading:
    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self._names, self._kept, self._apps = _module_names(tree)

    def reasons(self) -> Iterator[str]:
        for node in ast.walk(self._tree):
            for reason in self._of(node):
                yield f"line {getattr(node, 'lineno', 1)}: {reason}"

    def _of(self, node: ast.AST) -> Iterator[str]:
        match node:
            case ast.Import():
                yield from (f"import of {one.name}" for one in node.names if not _known_module(one.name))
            case ast.ImportFrom():
                if node.level or not _known_module(node.module or ""):
                    yield f"import of {node.module}"
                parts = PARTS.get(node.module or "")
                for one in node.names:
                    if self._leads_out(one.name) or (parts is not None and one.name not in parts):
                        yield f"import of {one.name} from {node.module}"
            case ast.Global() | ast.Nonlocal():
                yield f"{', '.join(node.names)} of an outer scope is assigned"
            case ast.Constant(value=str() as text) if "__" in text and text != "__main__":
                yield "a text that names something private"
            case ast.Attribute():
                yield from self._attribute(node)
            case ast.Name():
                yield from self._name(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                defaults = [*node.args.defaults, *node.args.kw_defaults]
                if any(isinstance(value, ast.List | ast.Dict | ast.Set) for value in defaults):
                    yield "a default value that can be changed"

    def _leads_out(self, name: str) -> bool:
        return name == "*" or name in FORBIDDEN_MEMBERS or (name.startswith("_") and name not in PRIVATE)

    def _attribute(self, node: ast.Attribute) -> Iterator[str]:
        own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        if node.attr in FORBIDDEN_MEMBERS or (node.attr.startswith("_") and node.attr not in PRIVATE and not own):
            yield f"use of .{node.attr}"
        owner = node.value.id if isinstance(node.value, ast.Name) else ""
        if owner in PARTS and node.attr not in PARTS[owner]:
            yield f"use of {owner}.{node.attr}"
        if not isinstance(node.ctx, ast.Load):
            yield from self._written(node)

    def _name(self, node: ast.Name) -> Iterator[str]:
        if node.id in FORBIDDEN_CALLS or (node.id.startswith("__") and node.id not in PRIVATE):
            yield f"use of {node.id}"
        function = self._function_of(node)
        if function is None:
            return
        parent = self._parents[node]
        if node.id in self._apps and not self._bound(node.id, function):
            yield f"{node.id} is used in a function"
        if node.id in self._kept and not (isinstance(node.ctx, ast.Load) and self._only_read(node)):
            yield f"{node.id} of the module is used as more than a constant"
        if isinstance(parent, ast.Subscript) and parent.value is node and not isinstance(parent.ctx, ast.Load):
            yield from self._written(parent)
        named = isinstance(parent, ast.Assign | ast.AnnAssign | ast.NamedExpr) and parent.value is node
        if named and node.id in self._names and not self._bound(node.id, function):
            yield f"{node.id} of the module gets another name"

    def _written(self, node: ast.Attribute | ast.Subscript) -> Iterator[str]:
        """Tell of a member or an item that is assigned, unless what it belongs to is a local variable."""
        function = self._function_of(node)
        root: ast.expr = node
        while isinstance(root, ast.Attribute | ast.Subscript | ast.Call):
            root = root.func if isinstance(root, ast.Call) else root.value
        if function is None:
            return
        outer = isinstance(root, ast.Name) and root.id in self._names and not self._bound(root.id, function)
        if outer or not isinstance(root, ast.Name) or root.id == "type":
            yield f"{ast.unparse(node)} is assigned in a function"

    def _only_read(self, node: ast.Name) -> bool:
        parent = self._parents[node]
        match parent:
            case ast.Subscript():
                return parent.value is node and isinstance(parent.ctx, ast.Load)
            case ast.Compare() | ast.For() | ast.AsyncFor() | ast.comprehension() | ast.FormattedValue():
                return True
            case ast.Attribute():
                call = self._parents[parent]
                return parent.attr in READING and isinstance(call, ast.Call) and call.func is parent
            case ast.Call():
                return isinstance(parent.func, ast.Name) and parent.func.id in READERS and node in parent.args
        return False

    def _function_of(self, node: ast.AST) -> ast.AST | None:
        """Return the outermost function around a node; None at the top of the module."""
        found: ast.AST | None = None
        while node is not self._tree:
            child, node = node, self._parents[node]
            match node:  # Decorators, defaults and annotations belong to what is around the function.
                case ast.FunctionDef() | ast.AsyncFunctionDef() if child in node.body:
                    found = node
                case ast.Lambda() if child is node.body:
                    found = node
        return found

    def _bound(self, name: str, function: ast.AST) -> bool:
        """Return whether a function binds a name itself."""
        return any(
            (isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store))
            or (isinstance(node, ast.arg) and node.arg == name)
            for node in ast.walk(function)
        )


def _known_module(name: str) -> bool:
    root, *rest = name.split(".")
    return root in MODULES and not FORBIDDEN_MEMBERS.intersection(rest) and not any(part[:1] == "_" for part in rest)


def _module_names(tree: ast.Module) -> tuple[set[str], set[str], set[str]]:
    """Return all names of a module, those whose values may keep something, and those of apps and routers."""
    names, kept, apps = set[str](), set[str](), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names.update((one.asname or one.name).partition(".")[0] for one in node.names)
    for statement in _statements(tree.body):
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(statement.name)
            continue
        inside = (node for node in ast.walk(statement) if isinstance(node, ast.Name))
        bound = {node.id for node in inside if isinstance(node.ctx, ast.Store)}
        names |= bound
        value = getattr(statement, "value", None)
        if isinstance(value, ast.Call) and _called(value) in ("FastAPI", "APIRouter"):
            apps |= bound
        elif not isinstance(value, ast.expr) or not _keeps_nothing(value):
            kept |= bound
    return names, kept, apps


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements at the top of a module, those of its branches included."""
    for statement in body:
        branches = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
        if isinstance(statement, ast.If | ast.Try | ast.With):
            for branch in branches:
                yield from _statements(branch)
        else:
            yield statement


def _keeps_nothing(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):
        arguments = [*value.args, *(keyword.value for keyword in value.keywords)]
        free = _called(value) in ("create_engine", "FastAPI")
        return _called(value) in FACTORIES and (free or all(map(_keeps_nothing, arguments)))
    if isinstance(value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp | ast.GeneratorExp):
        return False
    return all(_keeps_nothing(child) for child in ast.iter_child_nodes(value) if isinstance(child, ast.expr))


def _called(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def guards() -> dict[str, Callable[..., Any]]:
    """Return functions in the place of Python's own for code that serves several sessions: they reach nothing private.

    >>> guards()["getattr"]("a", "upper")()
    'A'
    """

    def checked(owner: Any, name: Any, writes: bool = False) -> None:
        private = isinstance(name, str) and name.startswith("_") and name not in PRIVATE
        outside = isinstance(owner, type | types.ModuleType | types.FunctionType)
        if private or name in FORBIDDEN_MEMBERS or isinstance(owner, types.ModuleType) or (writes and outside):
            raise AttributeError(f"{name!r} cannot be reached in this way")

    def getting(owner: Any, name: Any, *default: Any) -> Any:
        checked(owner, name)
        return getattr(owner, name, *default)

    def having(owner: Any, name: Any) -> bool:
        checked(owner, name)
        return hasattr(owner, name)

    def setting(owner: Any, name: Any, value: Any) -> None:
        checked(owner, name, writes=True)
        setattr(owner, name, value)

    def deleting(owner: Any, name: Any) -> None:
        checked(owner, name, writes=True)
        delattr(owner, name)

    return {"getattr": getting, "hasattr": having, "setattr": setting, "delattr": deleting}
