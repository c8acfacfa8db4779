"""The difference between two pieces of plain data: what turns the one into the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Plain = dict[str, Any]


def difference(before: Any, after: Any) -> Plain:
    """Return what turns one piece of plain data into another; it is empty where they are equal.

    >>> difference({"a": 1, "b": [1, 2], "c": 0}, {"a": 1, "b": [1, 3], "d": None})
    {'within': {'b': {'within': {'1': {'becomes': 3}}}, 'd': {'becomes': None}}, 'without': ['c']}
    """
    if isinstance(before, dict) and isinstance(after, dict):
        changes = {
            key: difference(before[key], value) if key in before else {"becomes": value} for key, value in after.items()
        }
        within = {key: change for key, change in changes.items() if change}
        without = [key for key in before if key not in after]
        return {**({"within": within} if within else {}), **({"without": without} if without else {})}
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        within = {str(index): change for index, (one, other) in pairs if (change := difference(one, other))}
        return {"within": within} if within else {}
    return {} if type(before) is type(after) and before == after else {"becomes": after}


def applied(before: Any, change: Mapping[str, Any]) -> Any:
    """Return the other piece of plain data; the first one stays as it is.

    >>> one, other = {"a": [1, {"b": 2}]}, {"a": [1, {"c": 2}]}
    >>> applied(one, difference(one, other)) == other
    True
    """
    if "becomes" in change:
        return change["becomes"]
    if not change:
        return before
    within = change.get("within", {})
    if isinstance(before, list):
        return [applied(item, within.get(str(index), {})) for index, item in enumerate(before)]
    gone = change.get("without", ())
    after = {key: applied(value, within.get(key, {})) for key, value in before.items() if key not in gone}
    return after | {key: one["becomes"] for key, one in within.items() if key not in before}


def patch(before: Mapping[str, Any], after: Mapping[str, Any]) -> Plain:
    """Return the difference between two objects in the notation of JSON merge patches (RFC 7396): null is what goes.

    Values within the objects are no null. Lists and scalars are replaced as a whole.

    >>> patch({"A1": "x", "B1": "7"}, {"A1": "x", "B2": "8"})
    {'B2': '8', 'B1': None}
    """
    changes: Plain = {}
    for key, value in after.items():
        if key not in before:
            changes[key] = value
        elif isinstance(value, Mapping) and isinstance(before[key], Mapping):
            if inner := patch(before[key], value):
                changes[key] = inner
        elif before[key] != value:
            changes[key] = value
    return changes | {key: None for key in before if key not in after}


def patched(before: Mapping[str, Any], changes: Mapping[str, Any]) -> Plain:
    """Return the other object: the inverse of `patch`.

    >>> patched({"A1": "x", "B1": "7"}, {"B1": None, "B2": "8"})
    {'A1': 'x', 'B2': '8'}
    """
    after = dict(before)
    for key, change in changes.items():
        inner = after.get(key)
        if change is None:
            after.pop(key, None)
        elif isinstance(change, Mapping) and isinstance(inner, Mapping):
            after[key] = patched(inner, change)
        else:
            after[key] = change
    return after
