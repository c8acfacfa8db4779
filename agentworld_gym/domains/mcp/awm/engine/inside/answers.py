"""Answers that are known already: many episodes begin in one state, and read the same things.

A call of an endpoint that reads is answered from here if it was made before in the same state of the database. The code
of a world keeps nothing else where its sessions share a process, and only there is this used.
"""

from __future__ import annotations

import ast
import json
from collections import OrderedDict
from itertools import count
from typing import Any

MAX_BYTES = 32 << 20
"""The bytes of the answers that are kept."""

MAX_STATES = 100_000
"""How many states are remembered."""


UNSEEN = frozenset(("random", "secrets", "time", "uuid"))
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


class Answers:
    """The answers of one world, and the numbers of the states of its databases.

    >>> answers = Answers()
    >>> answers.keep(0, "get", {"id": 1}, ("one", False))
    >>> answers.find(0, "get", {"id": 1}), answers.find(5, "get", {"id": 1})
    (('one', False), None)
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[int, str], tuple[str, bool]] = OrderedDict()
        self._bytes = 0
        self._states: dict[tuple[Any, ...], int] = {}
        self._numbers = count(1)

    def find(self, state: int, name: str, arguments: dict[str, Any]) -> tuple[str, bool] | None:
        """Return the answer to a call in a state; None where it is not known."""
        key = state, _text(name, arguments)
        answer = self._kept.get(key)
        if answer is not None:
            self._kept.move_to_end(key)
        return answer

    def keep(self, state: int, name: str, arguments: dict[str, Any], answer: tuple[str, bool]) -> None:
        """Keep the answer to a call that changed nothing; the oldest answers make room for it."""
        key = state, _text(name, arguments)
        if key in self._kept or len(answer[0]) > MAX_BYTES:
            return
        self._kept[key] = answer
        self._bytes += len(answer[0])
        while self._bytes > MAX_BYTES:
            _, (text, _) = self._kept.popitem(last=False)
            self._bytes -= len(text)

    def after(self, state: int, name: str, arguments: dict[str, Any], drawn: tuple[Any, ...]) -> int:
        """Return the number of the state that a call leads to; equal calls in equal states lead to one.

        Args:
            state: The state before.
            name: The name of the tool.
            arguments: The arguments.
            drawn: What else the call looked at: the time, and chance.
        """
        key = state, _text(name, arguments), *drawn
        if key not in self._states:
            if len(self._states) >= MAX_STATES:
                self._states.clear()
            self._states[key] = next(self._numbers)
        return self._states[key]


def _text(name: str, arguments: dict[str, Any]) -> str:
    return f"{name} {json.dumps(arguments)}"  # What is stored of a body may keep the order of its keys.
