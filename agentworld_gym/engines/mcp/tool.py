"""A tool of a server: a name, a description, a JSON Schema and a callable on a database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Context:
    """What a call knows beside its arguments: the time, who is signed in, and which items of a batch fail."""

    now: str
    user: str
    failing: frozenset[int] = frozenset()


Call = Callable[[sqlite3.Connection, Mapping[str, Any], Context], Any]
"""The body of a tool, which returns a text, or data that is printed as JSON, and raises `Refused` to refuse a call.

It runs inside a transaction, which a refusal undoes. Arguments that the schema requires are present; the defaults of
the others are not filled in.
"""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of a server, whose name begins with the name of the server.

    `writes` says whether a call can change the database. `rows` is the key of the list that the tool returns,
    `optional` names columns of that list that another tool also knows, and `batch` is the argument whose items are
    dealt with one by one.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    call: Call
    writes: bool = False
    rows: str | None = None
    optional: tuple[str, ...] = ()
    batch: str | None = None
    listed: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        listed = {"name": self.name, "description": self.description, "parameters": self.parameters}
        object.__setattr__(self, "listed", listed)
