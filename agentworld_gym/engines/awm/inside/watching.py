"""Whether the code of a world still holds what it held when it was loaded.

Sessions share a process where the code looks as if it changed nothing but its database. That it did not is looked at
after each call, by what is there and not by how it may have come there: no alias, argument or function of the
interpreter goes unseen.
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from enum import Enum, EnumType
from typing import Any

from agentworld_gym.engines.awm.inside.holding import words

MODULE = "the module"

PLAIN = (str, int, float, complex, bytes, bool, types.NoneType)
"""Types whose values are compared; all others are known by their identity."""

UNCHANGING = words(
    """builtins.builtin_function_or_method builtins.ellipsis builtins.range builtins.type datetime.date
    datetime.datetime datetime.time datetime.timedelta datetime.timezone decimal.Decimal fractions.Fraction
    pathlib.PosixPath pydantic.types.SecretStr re.Pattern uuid.UUID zoneinfo.ZoneInfo"""
)
"""Types from libraries whose values an object may hold, as code cannot change them."""

BASES = words(
    """abc.ABC builtins.dict builtins.list builtins.object builtins.set builtins.tuple pydantic.main.BaseModel
    pydantic_settings.main.BaseSettings starlette.middleware.base.BaseHTTPMiddleware typing.Generic"""
)
"""Classes of libraries whose objects keep nothing beside what is looked at here."""

MEMBERS = words("__pydantic_extra__ __pydantic_fields_set__ __pydantic_private__")
"""Members of an object that are not in its namespace."""


class Watch:
    """What a module holds.

    Args:
        module: The module, as it was loaded.
        app: Its app, with all layers of middleware.

    >>> module = types.ModuleType("awm_world")
    >>> module.LIMITS = {"a": [1]}
    >>> watch = Watch(module, None)
    >>> watch.changed()
    ''
    >>> list.append(module.LIMITS["a"], 2)
    >>> watch.changed()
    'LIMITS'
    """

    def __init__(self, module: types.ModuleType, app: Any) -> None:
        self._own = module.__name__
        self._unknown = ""
        self._layers = list(_layers(app))
        self._namespaces = [(name, space, _names(space)) for name, space in self._all_namespaces(module, app)]
        self._values = [(name, value, *self._tokens(value)) for name, value in self._all_values()]
        # An identity says something only as long as the object that had it is there.
        self._kept = [list(space.values()) for _, space, _ in self._namespaces]

    @property
    def unknown(self) -> str:
        """What of the module cannot be looked at; empty if there is no such thing."""
        return self._unknown

    def changed(self) -> str:
        """Return the name of something that is not as it was when the module was loaded; empty if all is."""
        for name, space, names in self._namespaces:
            if _names(space) != names:
                return name
        return next((name for name, value, tokens, _ in self._values if self._tokens(value)[0] != tokens), "")

    def _all_namespaces(self, module: types.ModuleType, app: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the namespaces of the module, its classes and functions, the app and its layers, with their names."""
        waiting: list[tuple[str, Mapping[str, Any]]] = [(MODULE, vars(module))]
        seen = set[int]()
        waiting += [(type(layer).__name__, vars(layer)) for layer in self._layers]
        if app is not None:
            waiting.append(("the state of the app", vars(app.state)))
        while waiting:
            name, space = waiting.pop()
            yield name, space
            for value in space.values():
                value = getattr(value, "__func__", value) if isinstance(value, classmethod | staticmethod) else value
                own = isinstance(value, type | types.FunctionType) and value.__module__ == self._own
                if own and id(value) not in seen:
                    seen.add(id(value))
                    waiting.append((value.__name__, vars(value)))
                    members = value.__members__ if isinstance(value, EnumType) else {}
                    waiting += [(f"{value.__name__}.{name}", vars(member)) for name, member in members.items()]

    def _all_values(self) -> Iterator[tuple[str, Any]]:
        """Yield what may be changed in itself: containers and objects of the module's classes, with their names."""
        for place, space, names in self._namespaces:
            for name in names:
                value = space[name]
                if isinstance(value, list | dict | set | tuple | deque) or self._is_own(value):
                    yield (name if place == MODULE else f"{place}.{name}"), value
        yield from ((type(layer).__name__, layer) for layer in self._layers if self._is_own(layer))

    def _is_own(self, value: Any) -> bool:
        return type(value).__module__ == self._own and not isinstance(value, Enum)

    def _tokens(self, value: Any) -> tuple[list[Any], dict[int, Any]]:
        """Return tokens that are equal as long as nothing in a value changes, and what it holds, by identity."""
        found, seen = list[Any](), dict[int, Any]()
        self._look(value, found, seen, False)
        return found, seen

    def _look(self, value: Any, found: list[Any], seen: dict[int, Any], held: bool) -> None:
        """Add the tokens of a value.

        Args:
            value: The value.
            found: The tokens.
            seen: What was looked at before, by identity.
            held: Whether an object holds it, which may be of whatever type.
        """
        kind = type(value)
        found.append(kind)
        if kind in PLAIN:
            found.append(value)
            return
        found.append(id(value))
        if id(value) in seen:
            return
        seen[id(value)] = value
        if isinstance(value, list | tuple | set | frozenset | deque):
            found.append(len(value))
            for item in _items(value):
                self._look(item, found, seen, held)
        elif isinstance(value, dict):
            found.append(dict.__len__(value))
            for name, item in dict.items(value):
                self._look(name, found, seen, held)
                self._look(item, found, seen, held)
        elif isinstance(value, types.MethodType):
            self._look(value.__self__, found, seen, held)
        elif not self._is_own(value):
            if held and not self._is_known(value):
                self._unknown = self._unknown or f"an object holds a {kind.__module__}.{kind.__qualname__}"
            return
        if self._is_own(value):
            self._look_at_members(value, found, seen)

    def _look_at_members(self, value: Any, found: list[Any], seen: dict[int, Any]) -> None:
        for base in type(value).__mro__:
            if base.__module__ != self._own and f"{base.__module__}.{base.__qualname__}" not in BASES:
                self._unknown = self._unknown or f"an object is a {base.__module__}.{base.__qualname__}"
            if base.__module__ == self._own and any(isinstance(one, _SLOT) for one in vars(base).values()):
                self._unknown = self._unknown or f"an object of {base.__qualname__} has slots"
        for name, item in _members(value).items():
            found.append(name)
            if name == "app":  # The next layer of the app, which is looked at by itself.
                found.append(id(item))
                seen[id(item)] = item
            else:
                self._look(item, found, seen, True)

    def _is_known(self, value: Any) -> bool:
        """Return whether a value that an object holds cannot be changed, or is looked at elsewhere."""
        if isinstance(value, types.FunctionType):
            return value.__closure__ is None and not vars(value)
        kind = type(value)
        return isinstance(value, type | Enum) or f"{kind.__module__}.{kind.__qualname__}" in UNCHANGING


def _members(value: Any) -> dict[str, Any]:
    """Return the members of an object, by the way of the interpreter even where its class has another."""
    found = dict[str, Any]()
    for name in ("__dict__", *MEMBERS):
        with suppress(AttributeError):
            found[name] = object.__getattribute__(value, name)
    return {**found.pop("__dict__", {}), **found}


def _layers(app: Any) -> Iterator[Any]:
    """Yield an app, and one in the other what its middleware is made of."""
    layer = app
    while layer is not None:
        yield layer
        layer = getattr(layer, "middleware_stack" if layer is app else "app", None)


_SLOT = types.MemberDescriptorType


def _names(space: Mapping[str, Any]) -> dict[str, int]:
    """Return the identity of each member of a namespace, without those that belong to the interpreter."""
    return {name: id(value) for name, value in space.items() if name[:2] != "__"}


def _items(value: Any) -> Iterator[Any]:
    """Return the items of a container, by the way of the interpreter even where its class has another."""
    return next(kind for kind in (list, tuple, set, frozenset, deque) if isinstance(value, kind)).__iter__(value)
