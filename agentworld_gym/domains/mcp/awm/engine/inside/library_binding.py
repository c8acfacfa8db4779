"""Binds the libraries of a world to its process: databases are those of sessions, and nothing needs a thread."""

from __future__ import annotations

import contextvars
import io
import logging
import os
import sqlite3
import typing
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Protocol

from agentworld_gym.domains.mcp.awm.engine.inside.databases import Guest, Held


class Lend(Protocol):
    """A function that returns a connection to the database of the session that acts."""

    def __call__(self, types: int = 0) -> Held | Guest:
        """Return a connection that reads some types from the declarations and names of columns."""
        ...


KEPT_OPTIONS = ("echo", "future", "isolation_level", "json_deserializer", "json_serializer", "execution_options")
"""The options of `create_engine` that do not say where the database is or how it is reached."""


class _Nowhere(io.TextIOBase):
    """A file that keeps nothing."""

    def write(self, text: str) -> int:
        return len(text)

    def seek(self, offset: int, whence: int = 0) -> int:
        return 0

    def tell(self) -> int:
        return 0


def bind_engines(lend: Lend) -> None:
    """Let every engine and connection that the code makes reach the database of the session that acts.

    Args:
        lend: A function that returns a connection to that database.
    """
    import sqlalchemy
    from sqlalchemy.pool import NullPool

    really = sqlalchemy.create_engine

    def create_engine(*_: Any, **options: Any) -> Any:
        kept = {name: value for name, value in options.items() if name in KEPT_OPTIONS}
        return really("sqlite://", creator=lend, poolclass=NullPool, **{**kept, "echo": False})

    for module in (sqlalchemy, sqlalchemy.engine):
        setattr(module, "create_engine", create_engine)  # noqa: B010  (mypy takes no assignment)

    def connect(
        database: Any = "",
        timeout: float = 0,
        detect_types: int = 0,
        isolation_level: str | None = "",
        *_: Any,
        **__: Any,
    ) -> Any:
        lent = lend(detect_types)
        if isinstance(lent, Held):
            setattr(lent, "isolation_level", isolation_level)  # noqa: B010  (the code may say anything)
        return lent

    setattr(sqlite3, "connect", connect)  # noqa: B010
    # Some of the code makes a folder for its database, or writes a log, and nothing can be written here.
    setattr(os, "mkdir", lambda *_, **__: None)  # noqa: B010
    setattr(logging.FileHandler, "_open", lambda _: _Nowhere())  # noqa: B010
    with suppress(ImportError):
        import uvicorn

        # Some of the code starts its server although it is not the main module.
        setattr(uvicorn, "run", lambda *_, **__: None)  # noqa: B010


def bind_class_of_connections() -> None:
    """Let the class of connections, which annotations name, make none to a database that sessions could share."""
    setattr(sqlite3, "Connection", Held)  # noqa: B010  (mypy takes no assignment)


def bind_typed_dicts() -> None:
    """Let `typing.TypedDict` be that of typing_extensions: before Python 3.12 pydantic takes no other.

    Later versions need no such thing. It is done there too, so that what code meets depends on the libraries of its
    environment and on no condition of ours.
    """
    from typing_extensions import TypedDict

    setattr(typing, "TypedDict", TypedDict)  # noqa: B010  (mypy takes no assignment)


def without_threads() -> None:
    """Let functions that are not coroutines run in the one thread of this process, with a copy of its context."""
    import anyio.to_thread

    async def run_sync(function: Callable[..., Any], *arguments: Any, **_: Any) -> Any:
        return contextvars.copy_context().run(function, *arguments)

    setattr(anyio.to_thread, "run_sync", run_sync)  # noqa: B010
