"""One step as a worldbook sees it: what was called with which arguments, and what came before."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentworld_gym.core.actions.naming import verb

MISSING = object()
"""What stands where an object lacks a key."""

_PART = re.compile(r"\[\]|[^.\[\]]+")
_KEY = re.compile(r"[\w$-]+")
_WORD = re.compile(r"[^\s'\"(),=;|&<>]+")


@dataclass(frozen=True, slots=True)
class Step:
    """An action with what came before it.

    >>> step = Step.of('{"name": "read", "arguments": {"path": "a.txt"}}', "Connected.", [("ls", "b.txt")])
    >>> step.name, step.arguments, step.has_seen("a.txt"), step.has_seen("b.txt"), sorted(step.done)
    ('read', {'path': 'a.txt'}, False, True, ['ls'])
    """

    name: str
    """What the action does, in one word: its tool, its type, or its first word."""

    arguments: Mapping[str, Any]
    """The arguments of a call. Of any other action the words behind the first one, under the name `words`."""

    action: str
    """The action as the agent wrote it."""

    before: str = ""
    """What was shown last."""

    seen: str = field(default="", repr=False)
    """All that was shown and done before."""

    done: frozenset[str] = frozenset()
    """The names of the actions that were done before."""

    @classmethod
    def of(cls, action: str, first: str, turns: Iterable[tuple[str, str]]) -> Step:
        """Read an action after some turns, each an action and what it showed."""
        turns = list(turns)
        seen = "\n".join([first, *(text for turn in turns for text in turn)])
        done = frozenset(verb(text) for text, _ in turns)
        return cls(*read_call(action), action, turns[-1][1] if turns else first, seen, done)

    def has_seen(self, text: str) -> bool:
        """Return whether a text was shown or written before, as it is or as JSON writes it."""
        return text in self.seen or json.dumps(text)[1:-1] in self.seen


def read_call(action: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the arguments of an action, in whatever form it is written.

    >>> read_call('{"name": "add", "arguments": "{\\\\"a\\\\": 1}"}'), read_call('{"action_type": "click", "index": 3}')
    (('add', {'a': 1}), ('click', {'index': 3}))
    >>> read_call("mv a.txt notes"), read_call('[{"keystrokes": "cat a\\\\n"}]')
    (('mv', {'words': ['a.txt', 'notes']}), ('cat', {'words': ['a']}))
    """
    value = _json(action)
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, dict) and "keystrokes" in value:
        action, value = str(value["keystrokes"]), None
    if isinstance(value, dict):
        given = value.get("arguments", MISSING)
        given = _json(given) if isinstance(given, str) else given
        if isinstance(given, dict):
            return verb(action), given
        return verb(action), {key: one for key, one in value.items() if key not in ("name", "action_type", "arguments")}
    name = verb(action)
    _, _, rest = action.partition(name)
    return name, {"words": _WORD.findall(rest)} if rest.strip() else {}


def values_at(value: Any, path: str) -> list[Any]:
    """Return the values at a path, with `MISSING` for each object that lacks the last key.

    >>> values_at({"files": [{"path": "a"}, {"path": "b"}]}, "files[].path")
    ['a', 'b']
    """
    level = [value]
    for part in _PART.findall(path):
        if part == "[]":
            level = [inner for one in level if isinstance(one, list) for inner in one]
        else:
            level = [one.get(part, MISSING) for one in level if isinstance(one, Mapping)]
    return level


def places(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of everything in a document, without the document itself.

    >>> [path for path, _ in places({"files": [{"path": "a"}]})]
    ['files', 'files[]', 'files[].path']
    """
    if path:
        yield path, value
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if _KEY.fullmatch(key):
                yield from places(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for inner in value:
            yield from places(inner, f"{path}[]")


def _json(text: str) -> Any:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
