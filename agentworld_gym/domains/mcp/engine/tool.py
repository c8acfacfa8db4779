"""A tool of a server: a name, a description, a JSON Schema and a callable on a database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class CallContext:
    """What a call knows beside its arguments: the time, who is signed in, and which items of a batch fail."""

    now: str
    """The time of the episode."""
    user: str
    """The user who is signed in."""
    failing: frozenset[int] = frozenset()
    """The positions of the items of a batch that fail."""


Call = Callable[[sqlite3.Connection, Mapping[str, Any], CallContext], Any]
"""The body of a tool, which returns a text, or data that is printed as JSON, and raises `ToolRefusal` to refuse a call.

It runs inside a transaction, which a refusal undoes. Arguments that the schema requires are present; the defaults of
the others are not filled in.
"""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of a server."""

    name: str
    """The name of the tool, which begins with the name of the server."""
    description: str
    """The description that agents read."""
    parameters: Mapping[str, Any]
    """The JSON Schema of the arguments."""
    call: Call
    """The body of the tool."""
    writes: bool = False
    """Whether a call can change the database."""
    rows: str | None = None
    """The key of the list that the tool returns, if it returns one."""
    optional: tuple[str, ...] = ()
    """Columns of that list that another tool also returns."""
    batch: str | None = None
    """The argument whose items are dealt with one by one, if there is one."""
    listed: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        listed = {"name": self.name, "description": self.description, "parameters": self.parameters}
        object.__setattr__(self, "listed", listed)
