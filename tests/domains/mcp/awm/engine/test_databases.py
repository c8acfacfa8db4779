"""The databases of sessions, by themselves."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentworld_gym.domains.mcp.awm.engine.inside.clock import SessionClock
from agentworld_gym.domains.mcp.awm.engine.inside.databases import OpenDatabase
from agentworld_gym.domains.mcp.awm.engine.inside.random_numbers import RandomNumbers

TABLES = [
    "CREATE TABLE a (id INTEGER PRIMARY KEY, made TEXT DEFAULT CURRENT_TIMESTAMP, day TEXT DEFAULT (date('now')))"
]


@pytest.fixture
def database() -> Iterator[OpenDatabase]:
    """Return an empty database."""
    made = OpenDatabase(SessionClock(), RandomNumbers())
    yield made
    made.close()


def test_each_statement_stands_for_itself(database: OpenDatabase) -> None:
    deferred = "CREATE TABLE b (a_id INTEGER REFERENCES a(id) DEFERRABLE INITIALLY DEFERRED)"
    statements = [*TABLES, deferred, "INSERT INTO b VALUES (9)", "INSERT INTO a (id) VALUES (1)", "nonsense"]
    errors = database.run([*statements, "INSERT INTO b VALUES (1)", "BEGIN", "INSERT INTO a (id) VALUES (2)"])
    assert [error is None for error in errors] == [True, True, False, True, False, True, True, True]
    assert [key for key in database.fields() if key.endswith("/id")] == ["a/1/id", "a/2/id"]


def test_times_in_sql_are_those_of_the_clock(database: OpenDatabase) -> None:
    database.run([*TABLES, "INSERT INTO a (id) VALUES (1)"])
    assert database.fields() == {"a/1/id": 1, "a/1/made": "2026-01-01 09:00:00", "a/1/day": "2026-01-01"}


def test_columns_that_are_computed_are_told_and_tables_inside_a_search_index_are_not(database: OpenDatabase) -> None:
    table = "CREATE TABLE notes (twice TEXT GENERATED ALWAYS AS (word || word), word TEXT, number INTEGER PRIMARY KEY)"
    index = "CREATE VIRTUAL TABLE found USING fts5(word, content='notes', content_rowid='number')"
    fill = "INSERT INTO found (rowid, word) SELECT number, word FROM notes"
    assert database.run([table, index, "INSERT INTO notes (word, number) VALUES ('ab', 7)", fill]) == [None] * 4
    notes = {"notes/7/twice": "abab", "notes/7/word": "ab", "notes/7/number": 7}
    assert database.fields() == {"found/0/word": "ab", **notes}
    stored = database.stored(1000)
    assert stored["counts"] == {"notes": 1, "found": 1} and stored["schema"] == f"{table};\n{index}"
    assert stored["tables"]["notes"] == [{"twice": "abab", "word": "ab", "number": 7}]


def test_copies_have_databases_of_their_own_whatever_was_drawn() -> None:
    chance = RandomNumbers()
    database = OpenDatabase(SessionClock(), chance)
    database.run(TABLES)
    copies = []
    for _ in range(3):
        chance.set(0, 0)
        random.seed(0)
        copies.append(database.copy())
    copies[0].run(["INSERT INTO a (id) VALUES (1)"])
    assert [len(copy.fields()) for copy in (database, *copies)] == [0, 3, 0, 0]
    for each in (database, *copies):
        each.close()


def test_a_file_in_the_mode_of_a_log_can_be_read(database: OpenDatabase, tmp_path: Path) -> None:
    path = f"{tmp_path}/a.db"
    connection = sqlite3.connect(path)
    connection.executescript(
        "PRAGMA journal_mode = WAL; CREATE TABLE t (x INTEGER PRIMARY KEY); INSERT INTO t VALUES (7);"
    )
    connection.close()
    with open(path, "rb") as file:
        database.fill(file.read())
    assert database.fields() == {"t/7/x": 7}


def test_a_database_that_is_none_is_refused(database: OpenDatabase) -> None:
    with pytest.raises(sqlite3.Error):
        database.fill(b"SQLite format 3\0" + bytes(2000))
