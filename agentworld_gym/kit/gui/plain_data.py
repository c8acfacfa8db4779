"""Models as plain data: their copies, their form in JSON, and their flat fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agentworld_gym.core.engines import Scalar
from agentworld_gym.kit.gui.text_field import Field

_ATOMS = frozenset((str, int, float, bool, type(None), bytes))


def copied(value: Any) -> Any:
    """Return a deep copy of dictionaries, lists, sets and text fields; immutable values (tuples too) are shared.

    >>> model = {"notes": [{"title": "Milk"}], "query": Field("a")}
    >>> twin = copied(model)
    >>> twin["notes"][0]["title"] = "Bread"
    >>> model["notes"][0]["title"], twin["query"] == model["query"], twin["query"] is model["query"]
    ('Milk', True, False)
    """
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is dict:
        return {key: item if type(item) in _ATOMS else copied(item) for key, item in value.items()}
    if kind is list:
        return [item if type(item) in _ATOMS else copied(item) for item in value]
    if kind is set:
        return set(value)
    return value.copy() if kind is Field else value


def plain(value: Any) -> Any:
    """Return a deep copy of dictionaries, lists and tuples as JSON has them, in which tuples are lists.

    >>> plain({"message": ("menu", "app"), "rows": [{"id": 7}]})
    {'message': ['menu', 'app'], 'rows': [{'id': 7}]}
    """
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def frozen(value: Any) -> Any:
    """Return plain data with tuples instead of lists, as messages have them.

    >>> frozen(["moved", True, ["/home/user/a.txt"]])
    ('moved', True, ('/home/user/a.txt',))
    """
    return tuple(map(frozen, value)) if isinstance(value, list | tuple) else value


def flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, Scalar]:
    """Return every scalar of nested data by its path; entries of a list that have an `id` are named by it.

    >>> flat({"notes": [{"id": 7, "title": "Milk"}], "tabs": ["a"], "query": Field("x"), "empty": {}})
    {'notes/7/id': 7, 'notes/7/title': 'Milk', 'tabs/0': 'a', 'query': 'x'}
    """
    return dict(_fields(value, prefix))


def _fields(value: Any, path: str) -> Iterator[tuple[str, Scalar]]:
    start = f"{path}/" if path else ""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _fields(item, f"{start}{key}")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            name = item.get("id", index) if isinstance(item, Mapping) else index
            yield from _fields(item, f"{start}{name}")
    elif isinstance(value, set):
        for item in sorted(value):
            yield f"{start}{item}", True
    elif isinstance(value, Field):
        yield path, value.value
    else:
        yield path, value
