"""Whether the code of a world still holds what it held when it was loaded.

Sessions share a process where the code looks as if it changed nothing but its database. That it did not is looked at
after each call, by what is there and not by how it may have come there: an alias, an argument or a function of the
interpreter hides nothing. What objects inside libraries hold, such as the columns of a table, is not looked at.
"""

from __future__ import annotations

import functools
import logging
import re
import types
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum, EnumType
from typing import Any, NamedTuple

from agentworld_gym.domains.mcp.awm.engine.inside.nested_containers import words

UNCHANGING = words(
    """builtins.NoneType builtins.bool builtins.builtin_function_or_method builtins.bytes builtins.complex
    builtins.ellipsis builtins.float builtins.int builtins.range builtins.str builtins.type datetime.date
    datetime.datetime datetime.time datetime.timedelta datetime.timezone decimal.Decimal fractions.Fraction
    pathlib.PosixPath pydantic.types.SecretStr re.Pattern uuid.UUID zoneinfo.ZoneInfo"""
)
"""Types from libraries whose values an object may hold, as code cannot change them."""

BASES = words(
    """abc.ABC builtins.dict builtins.list builtins.object builtins.set builtins.tuple pydantic.main.BaseModel
    pydantic_settings.main.BaseSettings starlette.middleware.base.BaseHTTPMiddleware typing.Generic"""
)
"""Classes of libraries whose objects keep nothing beside what is looked at here."""

MEMBERS = ("__pydantic_extra__", "__pydantic_fields_set__", "__pydantic_private__")
"""Members of an object that are not in its namespace."""


class _Node(NamedTuple):
    """Something that may be changed, and what it held."""

    name: str
    held: Any
    read: Callable[[Any], list[int]]
    """Returns the identities of what it holds."""

    identities: list[int]


class Watch:
    """What a module holds.

    Of libraries, what the code may reach by name is watched: their modules, functions, classes and loggers.

    Args:
        module: The module, as it was loaded.
        app: Its app, with all layers of middleware.
        code: The code of the module.

    >>> module = types.ModuleType("awm_world")
    >>> module.LIMITS = {"a": [1]}
    >>> watch = Watch(module, None, "LIMITS = {'a': [1]}")
    >>> watch.changed()
    ''
    >>> list.append(module.LIMITS["a"], 2)
    >>> watch.changed()
    'LIMITS'
    """

    def __init__(self, module: types.ModuleType, app: Any, code: str) -> None:
        self._own = module.__name__
        self._mentioned = frozenset(re.findall(r"\w+", code))
        self.unknown = ""
        """What of the module cannot be looked at; empty if there is no such thing."""
        self._nodes: list[_Node] = []
        self._bare: list[dict[str, Any]] = []
        # An identity says something only as long as the object that had it is there.
        self._kept: dict[int, Any] = {}
        self._walked = set[tuple[int, bool]]()
        self._space("the module", vars(module), "")
        for layer in _layers(app):
            self._space(type(layer).__name__, vars(layer), f"{type(layer).__name__}.")
        if app is not None:
            self._space("the state of the app", vars(app.state), "app.state.")

    def changed(self) -> str:
        """Return the name of something that is not as it was when the module was loaded; empty if all is."""
        if any(self._bare):
            return "a function"
        return next((name for name, held, read, known in self._nodes if read(held) != known), "")

    def _node(self, name: str, held: Any, read: Callable[[Any], list[int]], parts: Collection[Any]) -> None:
        self._kept.update((id(part), part) for part in parts)
        self._nodes.append(_Node(name, held, read, read(held)))

    def _space(self, name: str, space: Mapping[str, Any], prefix: str) -> None:
        """Watch a namespace, and all in it that belongs to the module or is a container."""
        own = {key: value for key, value in space.items() if key[:2] != "__"}
        self._node(name, space, _reader_of_space(list(own), len(space)), own.values())
        for key, value in own.items():
            if key[:4] != "_sa_":
                self._walk(f"{prefix}{key}", value, False)

    def _walk(self, name: str, value: Any, held: bool) -> None:
        """Watch a value and what it holds.

        Args:
            name: The name that leads there.
            value: The value.
            held: Whether an object holds it, which may be of whatever type.
        """
        if (id(value), held) in self._walked:
            return
        self._walked.add((id(value), held))
        self._kept[id(value)] = value
        own = self._is_own(value)
        if isinstance(value, classmethod | staticmethod):
            self._walk(name, value.__func__, held)
        elif isinstance(value, types.MethodType):
            self._walk(name, value.__self__, held)
        elif isinstance(value, CONTAINERS):
            if held and not own and type(value) not in CONTAINERS:
                # It may keep an order or a factory beside its items.
                self._unknown(f"an object holds a {_full_name(type(value))}")
            parts = _parts(value)
            if not isinstance(value, tuple | frozenset):
                self._node(name, value, _reader_of(value), parts)
            for part in parts:
                self._walk(name, part, held)
        elif isinstance(value, types.FunctionType) and value.__module__ == self._own:
            self._function(name, value, held)
        elif isinstance(value, functools._lru_cache_wrapper) and value.__module__ == self._own:
            self._getter(name, value)
        elif isinstance(value, type) and value.__module__ == self._own:
            self._space(value.__name__, vars(value), f"{value.__name__}.")
            members: Mapping[str, Any] = value.__members__ if isinstance(value, EnumType) else {}
            for key, member in members.items():
                self._space(f"{value.__name__}.{key}", vars(member), f"{value.__name__}.{key}.")
        elif not held and isinstance(value, LIBRARY):
            self._library(name, value)
        elif held and not own and not _is_unchanging(value):
            self._unknown(f"an object holds a {_full_name(type(value))}")
        if own and not isinstance(value, Enum):
            self._object(name, value)

    def _library(self, name: str, value: Any) -> None:
        """Watch what a module, function, class or logger of a library holds by itself."""
        space = vars(value)
        if isinstance(value, types.FunctionType) and not space:
            self._bare.append(space)
            return
        # Libraries add private members when they are used first. Code that is shared can neither set nor read such.
        keys = [key for key in space if key[:1] != "_"]
        self._node(name, space, _reader_of_space(keys, len(space), "_"), [space[key] for key in keys])
        if isinstance(value, types.ModuleType):
            for key in self._mentioned.intersection(keys):
                self._walk(f"{name}.{key}", space[key], False)

    def _function(self, name: str, function: types.FunctionType, held: bool) -> None:
        if held and function.__closure__ is not None:
            self._unknown(f"an object holds the closure {function.__name__}")
        if vars(function):
            self._space(name, vars(function), f"{name}.")
        else:
            self._bare.append(vars(function))

    def _getter(self, name: str, getter: Any) -> None:
        """Watch a function without parameters that keeps what it made when it was called first."""
        try:
            made = getter()
        except Exception as error:  # The code may raise anything.
            self._unknown(f"{name} raised {type(error).__name__}")
            return
        self._space(name, vars(getter), f"{name}.")
        self._node(f"{name}()", getter, _identity_of_kept, [made])
        self._walk(f"{name}()", made, True)

    def _object(self, name: str, value: Any) -> None:
        """Watch an object of a class of the module."""
        for base in type(value).__mro__:
            if base.__module__ != self._own and _full_name(base) not in BASES:
                self._unknown(f"an object is a {_full_name(base)}")
            if base.__module__ == self._own and any(isinstance(one, _SLOT) for one in vars(base).values()):
                self._unknown(f"an object of {base.__name__} has slots")
        members = _members(value)
        self._node(name, value, _identities_of_object, members.values())
        for key, member in members.items():
            if key != "app":  # The next layer of the app, which is watched by itself.
                self._walk(name, member, True)

    def _is_own(self, value: Any) -> bool:
        return type(value).__module__ == self._own

    def _unknown(self, what: str) -> None:
        self.unknown = self.unknown or what


LIBRARY = (types.ModuleType, types.FunctionType, type, logging.Logger, functools._lru_cache_wrapper)
CONTAINERS = (list, tuple, dict, set, frozenset, deque)
_SLOT = types.MemberDescriptorType


def _layers(app: Any) -> Iterator[Any]:
    """Yield an app, and one in the other what its middleware is made of."""
    layer = app
    while layer is not None:
        yield layer
        layer = getattr(layer, "middleware_stack" if layer is app else "app", None)


def _is_unchanging(value: Any) -> bool:
    return isinstance(value, type | types.FunctionType | Enum) or _full_name(type(value)) in UNCHANGING


def _full_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _parts(container: Any) -> list[Any]:
    """Return what a container holds, by the way of the interpreter even where its class has another."""
    if isinstance(container, dict):
        return [*dict.__iter__(container), *dict.values(container)]
    return list(next(kind for kind in CONTAINERS if isinstance(container, kind)).__iter__(container))


def _members(value: Any) -> dict[str, Any]:
    """Return the members of an object, by the way of the interpreter even where its class has another."""
    found = dict[str, Any]()
    for name in ("__dict__", *MEMBERS):
        with suppress(AttributeError):
            found[name] = object.__getattribute__(value, name)
    return {**found.pop("__dict__", {}), **found}


def _reader_of(container: Any) -> Callable[[Any], list[int]]:
    """Return a function that returns the identities of what a container holds."""
    if isinstance(container, dict):
        return lambda held: [*map(id, dict.__iter__(held)), *map(id, dict.values(held))]
    iterate = next(kind for kind in CONTAINERS if isinstance(container, kind)).__iter__
    return lambda held: [*map(id, iterate(held))]


def _reader_of_space(keys: Sequence[str], size: int, foreign: str = "__") -> Callable[[Any], list[int]]:
    """Return a function that returns the identities in a namespace, without what belongs to others.

    Args:
        keys: The names that do not.
        size: How many names there are.
        foreign: How the names begin that the interpreter and libraries add.
    """

    def read(space: Mapping[str, Any]) -> list[int]:
        count = len(space)
        if count != size:
            count = size - len(keys) + sum(not key.startswith(foreign) for key in space)
        return [count, *map(id, map(space.get, keys))]

    return read


def _identity_of_kept(getter: Any) -> list[int]:
    """Return the identity of what a function keeps; it is not called where it keeps nothing."""
    return [id(getter())] if getter.cache_info().currsize else []


def _identities_of_object(value: Any) -> list[int]:
    members = _members(value)
    return [*map(id, members), *map(id, members.values())]
