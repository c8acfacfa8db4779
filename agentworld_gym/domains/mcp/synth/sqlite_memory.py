"""Bounds the memory of SQLite in a process that builds databases by the SQL of strangers."""

from __future__ import annotations

import sqlite3
from contextlib import closing

MOST_BYTES = 2 * 2**30
"""How many bytes SQLite may take for all databases of the process, and for what it sorts and keeps in between."""


def bound_heap() -> None:
    """Let a statement that wants more than `MOST_BYTES` fail with a MemoryError, from here on and in the whole process.

    The size of a database is bounded already; this also bounds what a query keeps in between, such as rows that it
    sorts. SQLite knows one limit for a process (`PRAGMA hard_heap_limit`), and it can only be lowered.
    """
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"PRAGMA hard_heap_limit = {MOST_BYTES}")
