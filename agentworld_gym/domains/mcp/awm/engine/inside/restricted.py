"""Parts of libraries that could carry something from one session to the next, and the ways to use them that do not.

Code that serves several sessions in one process may ask its engine for its tables, name paths at the top of the module,
connect to the database of the session by `sqlite3`, and keep the settings that a function without parameters makes. Any
other use of these parts speaks against it.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping

from agentworld_gym.domains.mcp.awm.engine.inside.constants import is_empty
from agentworld_gym.domains.mcp.awm.engine.inside.nested_containers import is_call_of, statements, words

INSPECT, CONNECT = "sqlalchemy.inspect", "sqlite3.connect"
CACHES = frozenset({"functools.cache", "functools.lru_cache"})
CONNECTIONS = frozenset({"sqlite3.Connection", "sqlite3.Cursor"})
PATHS = frozenset({"pathlib.Path", "pathlib.PurePath"})
RESTRICTED = frozenset({INSPECT, CONNECT, *CACHES, *CONNECTIONS, *PATHS})
"""The parts, after the modules that they are imported from."""

DOTTED = words("functools pathlib sqlite3")
"""The modules whose parts may be named with a dot."""

PATHS_OF_PATHS = words("absolute expanduser joinpath parent resolve with_name with_suffix")
"""Members of a path that are paths, or make one."""

WORDS_OF_PATHS = words("as_posix exists is_dir is_file mkdir name stem suffix")
"""Members of a path that tell of it. A folder is not made, as nothing can be written."""

GENERICS = words(
    "Annotated AsyncGenerator AsyncIterator Dict Generator Iterator List Optional Tuple Union dict list tuple"
)
"""Annotations that hold others."""


class RestrictedParts:
    """How a module uses restricted parts.

    Args:
        tree: The module.
        parents: The node around each node.
        unchanging: The classes of the module whose objects look as if they stayed as they were made.
    """

    def __init__(self, tree: ast.Module, parents: Mapping[ast.AST, ast.AST], unchanging: Collection[str]) -> None:
        self._parents, self._unchanging, self._top = parents, unchanging, list(statements(tree.body))
        imports = Counter[tuple[str, str]]()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                imports.update((one.asname or one.name, f"{node.module}.{one.name}") for one in node.names)
            elif isinstance(node, ast.Import):
                imports.update((one.asname or one.name, one.name) for one in node.names)
        self._bindings = Counter(name for node in ast.walk(tree) for name in _bound(node))
        self._parts = {name: part for name, part in imports if part in RESTRICTED}
        # A name that is also bound to something else may be anything.
        self._sure = {name for (name, _), count in imports.items() if count == self._bindings[name]}
        self._engines = self._only_bound_to(lambda value: is_call_of(value, ("create_engine",)))
        self.paths: set[str] = set()
        """The names of constants that are paths."""
        while more := self._only_bound_to(self._is_path) - self.paths:
            self.paths |= more

    def part(self, node: ast.AST) -> str:
        """Return which restricted part an expression names; empty if it names none."""
        match node:
            case ast.Name(id=name):
                return self._parts.get(name, "")
            case ast.Attribute(value=ast.Name(id=module), attr=name) if module in DOTTED:
                return f"{module}.{name}" if f"{module}.{name}" in RESTRICTED else ""
        return ""

    def reasons(self, node: ast.Name | ast.Attribute) -> Iterator[str]:
        """Tell of a use of a restricted part, or of a constant that is a path, that may carry something."""
        part = self.part(node)
        if part and not self._is_harmless(node, part):
            yield f"use of {part}"
        is_path = isinstance(node, ast.Name) and node.id in self.paths and isinstance(node.ctx, ast.Load)
        if is_path and not self._is_harmless_path(node):
            yield f"{ast.unparse(node)} of the module is used as more than a path"

    def _is_harmless(self, node: ast.Name | ast.Attribute, part: str) -> bool:
        root = node.value if isinstance(node, ast.Attribute) else node
        if not isinstance(root, ast.Name) or root.id not in self._sure or not isinstance(node.ctx, ast.Load):
            return False
        parent = self._parents[node]
        call = parent if isinstance(parent, ast.Call) and parent.func is node else None
        if part in CACHES:
            return self._is_getter(node if call is None else call)
        if part in CONNECTIONS:
            return self._is_annotation(node)
        if part in PATHS:
            # The annotation of a parameter could be asked for the class of paths, one at the top could not.
            if isinstance(parent, ast.AnnAssign) and parent.annotation is node:
                return parent in self._top
            return call is not None and self._is_harmless_path(call)
        if part == INSPECT:
            return call is not None and [getattr(one, "id", "") in self._engines for one in call.args] == [True]
        return part == CONNECT and call is not None

    def _is_getter(self, decorator: ast.expr) -> bool:
        """Return whether a decorator keeps what a function without parameters makes: settings, or a constant."""
        function = self._parents[decorator]
        if not isinstance(function, ast.FunctionDef) or function not in self._top or ast.unparse(function.args):
            return False
        match [one for one in function.body if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))]:
            case [ast.Return(value=ast.Call(func=ast.Name(id=name)) as made)] if name in self._unchanging:
                return function.decorator_list == [decorator] and _is_literal([*made.args, *made.keywords])
            case [ast.Return(value=ast.Dict() | ast.List() | ast.Set() | ast.Tuple() as value)]:
                return function.decorator_list == [decorator] and _is_literal([value])
        return False

    def _is_annotation(self, node: ast.AST) -> bool:
        """Return whether a node stands in an annotation, or in a name for one at the top of the module."""
        while True:
            child, node = node, self._parents[node]
            match node:
                case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name)) if name in GENERICS:
                    if isinstance(self._parents[node], ast.Assign):
                        return self._parents[node] in self._top
                case ast.Tuple() | ast.BinOp(op=ast.BitOr()):
                    pass
                case ast.arg(annotation=annotation) | ast.AnnAssign(annotation=annotation):
                    return annotation is child
                case ast.FunctionDef(returns=returns) | ast.AsyncFunctionDef(returns=returns):
                    return returns is child
                case _:
                    return False

    def _is_path(self, value: ast.expr) -> bool:
        match value:
            case ast.Call(func=function) if self.part(function) in PATHS:
                return True
            case ast.Call(func=ast.Attribute() as inner) | ast.Subscript(value=ast.Attribute(attr="parents") as inner):
                return (inner.attr in PATHS_OF_PATHS or inner.attr == "parents") and self._is_path(inner.value)
            case ast.Attribute(value=inner, attr=name):
                return name in PATHS_OF_PATHS and self._is_path(inner)
            case ast.BinOp(left=left, op=ast.Div()):
                return self._is_path(left)
        return isinstance(value, ast.Name) and value.id in self.paths

    def _is_harmless_path(self, node: ast.expr) -> bool:
        """Return whether what is done with a path names it, tells of it, or makes another one with which that is so.

        The path itself goes nowhere from where it could be read: the memory of a process is a file, too.
        """
        parent = self._parents[node]
        match parent:
            case ast.Attribute(attr=name) if name in PATHS_OF_PATHS:
                outer = self._parents[parent]
                is_call = isinstance(outer, ast.Call) and outer.func is parent
                return self._is_harmless_path(outer if is_call and isinstance(outer, ast.expr) else parent)
            case ast.Attribute(attr="parents"):
                outer = self._parents[parent]
                return isinstance(outer, ast.Subscript) and self._is_harmless_path(outer)
            case ast.Attribute(attr=name):
                return name in WORDS_OF_PATHS
            case ast.BinOp(left=left, op=ast.Div(), right=ast.Constant(value=str()) | ast.JoinedStr()):
                return left is node and self._is_harmless_path(parent)
            case ast.Call(func=ast.Name(id="str")):
                return not self._bindings["str"]
            case ast.Call(func=function) if self.part(function) in PATHS:
                return node in parent.args and self._is_harmless_path(parent)
            case ast.Call(func=function):
                return node in parent.args and self.part(function) == CONNECT
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                return name in self.paths
        return isinstance(parent, ast.FormattedValue | ast.Expr)

    def _only_bound_to(self, fits: Callable[[ast.expr], bool]) -> set[str]:
        """Return the names that are bound to fitting values at the top of the module, and nowhere to anything else."""
        found = Counter[str]()
        for statement in self._top:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.expr() as value) if fits(value):
                    found[name] += 1
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if fits(value):
                    found[name] += 1
        return {name for name, count in found.items() if count == self._bindings[name]}


def _bound(node: ast.AST) -> list[str]:
    """Return the names that a node binds, without those in it."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
            return [name]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return [name]
        case ast.MatchMapping(rest=str(name)):
            return [name]
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [one.asname or one.name for one in names]
    return []


def _is_literal(values: list[ast.expr | ast.keyword]) -> bool:
    """Return whether values are written out, so that they are the same at each time, and not there to be filled."""
    parts = [part for value in values for part in ast.walk(value)]
    return not any(isinstance(part, ast.Name | ast.Call | ast.Attribute) or is_empty(part) for part in parts)
