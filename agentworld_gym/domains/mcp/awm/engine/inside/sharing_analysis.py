"""Whether the code of a world may serve several sessions in one process.

It may where it reaches for nothing but the libraries that such code is made of, and looks as if it kept nothing outside
its database. Constants and objects of its own that it only seems to read are watched while it runs (`watching`). All
other code gets a process for each session, which is always right, and slower.
"""

from __future__ import annotations

import ast
import math
import types
from collections.abc import Callable, Iterator
from typing import Any

from agentworld_gym.domains.mcp.awm.engine.inside.constants import constants, is_empty, singletons, unchanging_classes
from agentworld_gym.domains.mcp.awm.engine.inside.nested_containers import (
    called,
    depth_of,
    is_call_of,
    models,
    module_names,
    stored,
    words,
)
from agentworld_gym.domains.mcp.awm.engine.inside.restricted import RESTRICTED, RestrictedParts

MODULES = words(
    """__future__ abc asyncio base64 bisect calendar collections contextlib copy dataclasses datetime decimal enum
    fastapi fractions functools hashlib heapq hmac html http itertools json logging math numbers os pathlib pydantic
    pydantic_settings random re secrets sqlalchemy sqlite3 starlette statistics string sys textwrap time traceback
    typing typing_extensions unicodedata urllib uuid uvicorn warnings zoneinfo"""
)
"""The modules that such code may import."""

PARTS = {
    "asyncio": words("CancelledError TimeoutError gather iscoroutinefunction sleep wait_for"),
    "functools": words("cache lru_cache partial reduce wraps"),
    "os": words("getenv environ makedirs path"),
    "pathlib": words("Path PurePath"),
    "sqlite3": words(
        """Connection Cursor DatabaseError Error IntegrityError InterfaceError OperationalError PARSE_COLNAMES
        PARSE_DECLTYPES ProgrammingError Row connect"""
    ),
    "sys": words("exit maxsize version_info"),
    "traceback": words("format_exc print_exc"),
}
"""What such code may use of modules that can do more; of some parts only some uses, see `restricted`."""

FORBIDDEN_CALLS = words("__import__ breakpoint cache compile eval exec globals input locals open vars")
"""Names of functions that reach outside, or keep what they saw."""

FORBIDDEN_MEMBERS = words(
    """DirectoryPath FilePath ImportString NewPath anyio asyncio builtins cached_property concurrent contextvars
    cr_frame ctypes deserialize enable_load_extension f_back f_builtins f_globals f_locals gc gi_frame importlib inspect
    load_extension lru_cache mro multiprocessing os setlimit subprocess sys tb_frame threading weakref"""
)
"""Names of members that lead out of a module, or keep what they saw."""

FORBIDDEN_METHODS = words("__class__ __del__ __dict__ __getattribute__")
"""Methods that run in the call of another session, or hide what an object holds."""

PRIVATE = words(
    "__doc__ __file__ __init__ __mapper_args__ __name__ __table__ __table_args__ __tablename__ _asdict _fields _mapping"
)
"""Names with an underscore that such code may use."""

PARAMETERS = words("Body Cookie Depends File Form Header Path Query Security")
"""Calls that a parameter may have as its default: FastAPI copies what they hold."""

FIELDS = words(
    """Column Field ForeignKey PrivateAttr association_proxy backref column_property auto composite deferred
    mapped_column relationship synonym"""
)
"""Calls that describe a column or a field in the body of a class."""

ABOUT = words("__mapper_args__ __table_args__ model_config type_annotation_map")
"""Members of a class that only the libraries read."""

READERS = words("all any bool dict enumerate frozenset len list max min set sorted str sum tuple zip")
"""Functions that only read a container."""

READING = words("copy count get index items keys values")
"""Methods that only read a container."""


def reasons_against(code: str) -> list[str]:
    """Return why the code may not serve several sessions in one process; nothing speaks against it where it is empty.

    >>> reasons_against("import json\\nLIMITS = {'a': 1}\\ndef f(k):\\n    return LIMITS[k]")
    []
    >>> reasons_against("SEEN = []\\ndef f(k):\\n    SEEN.append(k)")
    ['line 3: SEEN of the module is used as more than a constant']
    """
    return list(dict.fromkeys(_Reading(ast.parse(code)).reasons()))


class _Reading:
    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self._unchanging = unchanging_classes(tree)
        self._parts = RestrictedParts(tree, self._parents, self._unchanging)
        self._names, self._kept, self._apps = module_names(tree, self._parts.paths)
        self._classes = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
        self._models = models(tree)
        self._makers = self._called_at_the_top()
        self._closers = {getattr(node, "name", "") for node in tree.body if _makes_functions(node)} & self._makers
        named = [one for one in tree.body if isinstance(one, ast.Assign) and is_call_of(one.value, ("getLogger",))]
        self._loggers = {name for one in named for name in stored(one)}
        self._constants = constants(tree, self._kept)
        self._singletons = singletons(tree, self._unchanging)

    def reasons(self) -> Iterator[str]:
        for node in ast.walk(self._tree):
            for reason in self._of(node):
                yield f"line {getattr(node, 'lineno', 1)}: {reason}"

    def _of(self, node: ast.AST) -> Iterator[str]:
        match node:
            case ast.Import():
                yield from (f"import of {one.name}" for one in node.names if not _known_module(one.name))
                yield from (f"another name for {one.name}" for one in node.names if one.asname and one.name in PARTS)
            case ast.ImportFrom():
                if node.level or not _known_module(node.module or ""):
                    yield f"import of {node.module}"
                parts = PARTS.get(node.module or "")
                for one in node.names:
                    if f"{node.module}.{one.name}" in RESTRICTED:
                        continue
                    if self._leads_out(one.name) or (parts is not None and one.name not in parts):
                        yield f"import of {one.name} from {node.module}"
            case ast.Global() | ast.Nonlocal():
                yield f"{', '.join(node.names)} of an outer scope is assigned"
            case ast.Constant(value=str() as text) if "__" in text and text != "__main__":
                yield "a text that names something private"
            case ast.Attribute():
                yield from self._parts.reasons(node)
                yield from self._attribute(node)
            case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()) if not isinstance(value, ast.Name):
                yield from self._assigned_names(node)
            case ast.Name():
                yield from self._parts.reasons(node)
                yield from self._name(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                if getattr(node, "name", "") in FORBIDDEN_METHODS:
                    yield f"a method {getattr(node, 'name', '')}"
                defaults = [value for value in (*node.args.defaults, *node.args.kw_defaults) if value is not None]
                if not all(self._is_parameter(value) or self._keeps_nothing(value) for value in defaults):
                    yield "a default value that can be changed"
            case ast.ClassDef():
                yield from self._class(node)
            case ast.Call():
                yield from self._call(node)

    def _leads_out(self, name: str) -> bool:
        return name == "*" or name in FORBIDDEN_MEMBERS or (name.startswith("_") and name not in PRIVATE)

    def _attribute(self, node: ast.Attribute) -> Iterator[str]:
        own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls") and node.attr[:2] != "__"
        parent = self._parents[node]
        if node.attr == "__class__" and isinstance(parent, ast.Attribute) and parent.attr == "__name__":
            return
        if node.attr == "app" and not own:  # What a request tells of its app is for all sessions.
            yield "use of .app"
        private = node.attr.startswith("_") and node.attr not in PRIVATE and not own
        if private or (node.attr in FORBIDDEN_MEMBERS and not self._parts.part(node)):
            yield f"use of .{node.attr}"
        if node.attr.startswith("_") and not own and not isinstance(node.ctx, ast.Load):
            yield f"{ast.unparse(node)} is assigned"
        owner = node.value.id if isinstance(node.value, ast.Name) else ""
        is_call = isinstance(parent, ast.Call) and parent.func is node
        if node.attr == "info" and not is_call and owner not in self._loggers:
            yield "use of .info"  # Tables and sessions of SQLAlchemy have it for notes.
        if owner in PARTS and node.attr not in PARTS[owner]:
            yield f"use of {owner}.{node.attr}"
        if not isinstance(node.ctx, ast.Load):
            yield from self._assigned_names(node)

    def _class(self, node: ast.ClassDef) -> Iterator[str]:
        """Tell of members of a class that keep something, unless a library reads or copies them."""
        copied = node.name in self._models or isinstance(self._parents[node], ast.ClassDef)
        for statement in node.body:
            value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
            names = stored(statement)
            if value is None or names <= ABOUT or is_call_of(value, FIELDS) or self._keeps_nothing(value):
                continue
            literal = isinstance(value, ast.List | ast.Dict | ast.Set) or is_call_of(value, ("dict", "list", "set"))
            constant = not is_empty(value) and depth_of(value, self._kept) < math.inf
            if not (literal and (copied or (constant and self._function_of(node) is None))):
                yield f"{', '.join(sorted(names))} of the class {node.name} may be changed"

    def _call(self, node: ast.Call) -> Iterator[str]:
        """Tell of objects that live as long as the module, and may keep something."""
        if self._function_of(node) is not None:
            return
        name = getattr(node.func, "id", "")
        if name in self._classes and node not in self._singletons.values():
            yield f"an object of {name} is made for all sessions"
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        keeps = not all(self._keeps_nothing(value) for value in arguments)
        if called(node) == "add_middleware":
            changing = self._classes if keeps else self._classes - self._unchanging
            if changing & {getattr(value, "id", "") for value in arguments}:
                yield f"an object of {ast.unparse(arguments[0])} is made for all sessions"
        if name in self._closers and keeps:
            yield f"{name} may keep what it gets"

    def _called_at_the_top(self) -> set[str]:
        """Return the functions that are called, or decorate others, at the top of the module."""
        found = set[str]()
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Call) and self._function_of(node) is None:
                found.add(called(node))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                found |= {one.id for one in node.decorator_list if isinstance(one, ast.Name)}
        return found

    def _is_parameter(self, value: ast.expr) -> bool:
        """Return whether a default value describes a parameter to FastAPI, and holds no object of an own class."""
        made = (one for one in ast.walk(value) if isinstance(one, ast.Call))
        return is_call_of(value, PARAMETERS) and self._classes.isdisjoint(called(one) for one in made)

    def _keeps_nothing(self, value: ast.expr) -> bool:
        return depth_of(value, self._kept) == 0

    def _of_a_maker(self, node: ast.Name, function: ast.AST) -> bool:
        """Return whether a name inside a function belongs to the call that made that function, and keeps something."""
        if getattr(function, "name", "") not in self._makers:
            return False
        inner = self._function_of(node, innermost=True)
        assigned = (one for one in ast.walk(function) if isinstance(one, ast.Assign | ast.AnnAssign) and one.value)
        kept = [one for one in assigned if one.value is not None and not self._keeps_nothing(one.value)]
        return (
            inner is not None
            and inner is not function
            and not self._bound(node.id, inner)
            and any(node.id in stored(one) for one in kept)
        )

    def _name(self, node: ast.Name) -> Iterator[str]:
        parent = self._parents[node]
        if (node.id in FORBIDDEN_CALLS and not self._parts.part(node)) or (
            node.id.startswith("__") and node.id not in PRIVATE
        ):
            yield f"use of {node.id}"
        if node.id == "__name__" and not isinstance(node.ctx, ast.Load):
            yield "__name__ is assigned"
        if node.id in PARTS and not isinstance(parent, ast.Attribute):
            yield f"another name for {node.id}"
        function = self._function_of(node)
        if function is None:
            return
        if self._of_a_maker(node, function):
            yield f"{node.id} is kept by a function that was made"
        if isinstance(parent, ast.Call) and ast.unparse(parent.func) == "uvicorn.run" and node in parent.args:
            return  # No server is started.
        if node.id in self._apps and not self._bound(node.id, function):
            yield f"{node.id} is used in a function"
        depth = self._kept.get(node.id, 0)
        read = isinstance(node.ctx, ast.Load) and (
            node.id in self._singletons or self._only_read(node, depth, self._constants.get(node.id))
        )
        if depth and not read:
            yield f"{node.id} of the module is used as more than a constant"
        if isinstance(parent, ast.Subscript) and parent.value is node and not isinstance(parent.ctx, ast.Load):
            yield from self._assigned_names(parent)
        named = isinstance(parent, ast.Assign | ast.AnnAssign | ast.NamedExpr) and parent.value is node
        if named and node.id in self._names and not self._bound(node.id, function):
            yield f"{node.id} of the module gets another name"

    def _assigned_names(self, node: ast.Attribute | ast.Subscript) -> Iterator[str]:
        """Tell of a member or an item that is assigned, unless what it belongs to is a local variable."""
        function = self._function_of(node)
        root: ast.expr = node
        while isinstance(root, ast.Attribute | ast.Subscript | ast.Call):
            root = root.func if isinstance(root, ast.Call) else root.value
        if function is None:
            value = getattr(self._parents[node], "value", None)
            if not isinstance(value, ast.expr) or not (is_call_of(value, FIELDS) or self._keeps_nothing(value)):
                yield f"{ast.unparse(node)} is assigned at the top of the module"
            return
        inner = self._function_of(node, innermost=True) or function
        if not isinstance(root, ast.Name) or root.id in ("cls", "type") or not self._bound(root.id, inner):
            yield f"{ast.unparse(node)} is assigned in a function"

    def _only_read(self, node: ast.expr, depth: float, filled: bool | None) -> bool:
        """Return whether an expression is only read.

        Args:
            node: The expression.
            depth: How many containers it holds in each other.
            filled: Whether none of them is empty; None where they do not look constant.
        """
        parent = self._parents[node]
        match parent:
            case _ if depth == math.inf:
                return False
            case _ if depth == 0:
                return True
            case ast.Subscript(value=value, ctx=ast.Load(), slice=part) if value is node:
                if isinstance(part, ast.Slice):
                    return depth == 1 or self._only_read(parent, depth, filled)
                return self._only_read(parent, depth - 1, filled)
            case ast.Compare() | ast.FormattedValue():
                return True
            case ast.For() | ast.AsyncFor() | ast.comprehension():
                return depth == 1 or bool(filled)
            case ast.Starred():
                return depth == 1
            case ast.Dict(keys=keys) if node in keys:  # A container cannot be a key, so that this is none.
                return True
            case ast.Dict(keys=keys, values=values) if keys[values.index(node)] is None:
                return depth == 1
            case ast.Attribute(attr=name):
                call = self._parents[parent]
                if name not in READING or not (isinstance(call, ast.Call) and call.func is parent):
                    return False
                if name in ("count", "index", "keys") or (name == "copy" and depth == 1):
                    return True
                return self._only_read(call, depth - 1 if name == "get" else depth, filled)
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str()), attr="join")):
                return True
            case ast.Call(func=ast.Name(id=name), args=arguments) if name in READERS and node in arguments:
                return depth == 1 or bool(filled) or name in ("all", "any", "bool", "len", "str", "sum")
            case ast.Call(func=function):
                return filled is not None and function is not node
            case ast.Return() | ast.keyword() | ast.Dict() | ast.List() | ast.Tuple() | ast.BinOp() | ast.IfExp():
                return filled is not None
            case ast.BoolOp() | ast.Assign() | ast.AnnAssign():
                return filled is not None
        return False

    def _function_of(self, node: ast.AST, innermost: bool = False) -> ast.AST | None:
        """Return the outermost function around a node, or the innermost; None at the top of the module."""
        found: ast.AST | None = None
        while node is not self._tree:
            child, node = node, self._parents[node]
            match node:  # Decorators, defaults and annotations belong to what is around the function.
                case ast.FunctionDef() | ast.AsyncFunctionDef() if child in node.body:
                    found = node if found is None or not innermost else found
                case ast.Lambda() if child is node.body:
                    found = node if found is None or not innermost else found
        return found

    def _bound(self, name: str, function: ast.AST) -> bool:
        """Return whether a function binds a name itself."""
        return any(
            (isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store))
            or (isinstance(node, ast.arg) and node.arg == name)
            for node in ast.walk(function)
        )


def _makes_functions(node: ast.AST) -> bool:
    """Return whether a node is a function in which others are made, which may keep what it gets."""
    functions = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    return isinstance(node, functions) and any(isinstance(one, functions) and one is not node for one in ast.walk(node))


def _known_module(name: str) -> bool:
    root, *rest = name.split(".")
    return root in MODULES and not FORBIDDEN_MEMBERS.intersection(rest) and not any(part[:1] == "_" for part in rest)


def guards() -> dict[str, Callable[..., Any]]:
    """Return functions instead of Python's own for code that serves several sessions: they reach nothing private.

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
