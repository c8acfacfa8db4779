"""Rows as plain data: a database comes back from them, with the order of its rows and the numbers it has given."""

from __future__ import annotations

import sqlite3

import pytest

from agentworld_gym.kit.tables.database import building, empty_image, fields_of, keys_of, open_image
from agentworld_gym.kit.tables.plain_rows import (
    completed_row,
    defaults_of,
    image_of_rows,
    numbers_rows,
    plain_tables,
    sequences_of,
)

SCHEMA = """
CREATE TABLE orders (order_id INTEGER PRIMARY KEY AUTOINCREMENT, note TEXT, paid INTEGER NOT NULL DEFAULT 0);
CREATE TABLE lines (order_id INTEGER, sku TEXT, quantity INTEGER, PRIMARY KEY (order_id, sku)) WITHOUT ROWID;
CREATE TABLE events (text TEXT);
"""
EMPTY = empty_image(SCHEMA)


def connection() -> sqlite3.Connection:
    made = open_image(EMPTY)
    made.execute("INSERT INTO orders (note) VALUES ('fragile'), (NULL), ('late')")
    made.execute("DELETE FROM orders WHERE order_id = 3")
    made.execute("INSERT INTO lines VALUES (2, 'rug', 1), (1, 'lamp', 4)")
    made.execute("INSERT INTO events VALUES ('second'), ('first')")
    return made


def test_a_row_bears_its_key_as_its_id_and_leaves_out_what_it_has_not() -> None:
    with connection() as database:
        assert plain_tables(database, keys_of(database)) == {
            "orders": [{"id": 1, "note": "fragile", "paid": 0}, {"id": 2, "paid": 0}],
            "lines": [{"id": "1,lamp", "quantity": 4}, {"id": "2,rug", "quantity": 1}],
            "events": [{"id": 0, "text": "second"}, {"id": 1, "text": "first"}],
        }


def test_a_database_comes_back_and_counts_on_from_where_it_was() -> None:
    with connection() as database:
        keys = keys_of(database)
        tables, sequences = plain_tables(database, keys), sequences_of(database, keys)
    assert sequences == {"orders": 3}
    twin = open_image(image_of_rows(EMPTY, keys, tables, sequences))
    assert plain_tables(twin, keys) == tables
    twin.execute("INSERT INTO orders (note) VALUES ('again')")
    assert twin.execute("SELECT max(order_id) FROM orders").fetchone() == (4,)


def test_a_column_that_has_to_hold_a_value_gets_its_default() -> None:
    keys = keys_of(open_image(EMPTY))
    twin = open_image(image_of_rows(EMPTY, keys, {"orders": [{"id": 7}]}, {}))
    assert twin.execute("SELECT * FROM orders").fetchall() == [(7, None, 0)]


def test_a_schema_in_which_nothing_counts_up_has_no_sequences() -> None:
    made = open_image(empty_image("CREATE TABLE tags (name TEXT PRIMARY KEY)"))
    assert sequences_of(made, keys_of(made)) == {}


@pytest.mark.parametrize(
    "tables", [{"chess": []}, {"orders": [{"id": 1, "colour": "red"}]}, {"orders": [{}]}, {"orders": [{"id": [1]}]}]
)
def test_rows_that_the_database_cannot_have_are_an_error(tables: dict[str, list[dict[str, object]]]) -> None:
    with pytest.raises((LookupError, ValueError)):
        image_of_rows(EMPTY, keys_of(open_image(EMPTY)), tables, {})


@pytest.mark.parametrize(
    ("schema", "statement"),
    [
        (
            "CREATE TABLE texts (id INTEGER, language TEXT, text TEXT, PRIMARY KEY (id, language))",
            "INSERT INTO texts VALUES (1, 'de', 'Haus'), (1, 'en', 'house')",
        ),
        (
            "CREATE TABLE tags (name TEXT PRIMARY KEY) WITHOUT ROWID -- few (so far)",
            "INSERT INTO tags VALUES ('red'), ('blue')",
        ),
        (
            "CREATE TABLE notes (note_id INTEGER PRIMARY KEY, text TEXT); CREATE TABLE log (text TEXT);"
            "CREATE TRIGGER logged AFTER INSERT ON notes BEGIN INSERT INTO log VALUES (new.text); END",
            "INSERT INTO notes (text) VALUES ('first'), ('second')",
        ),
    ],
    ids=["a part of a key is called id", "a schema ends with a comment", "a trigger writes other rows"],
)
def test_what_is_stored_comes_back_whatever_the_schema_is_like(schema: str, statement: str) -> None:
    empty = empty_image(schema)
    with open_image(empty) as database:
        keys = keys_of(database)
        database.execute(statement)
        twin = open_image(image_of_rows(empty, keys, plain_tables(database, keys), sequences_of(database, keys)))
        for made in (database, twin):
            made.execute(statement.replace("(1, ", "(2, ").replace("'red'", "'green'").replace("'blue'", "'grey'"))
        assert fields_of(twin, keys) == fields_of(database, keys)


def test_an_added_row_counts_on_and_has_the_defaults_of_its_table() -> None:
    connection = building()
    connection.executescript(
        "CREATE TABLE bills (bill_id INTEGER PRIMARY KEY, payee TEXT, paid REAL NOT NULL DEFAULT 0, n TEXT DEFAULT 'x')"
    )
    columns, defaults = keys_of(connection)["bills"][0], defaults_of(connection, "bills")
    assert defaults == {"paid": 0.0}
    assert completed_row(columns, True, defaults, [{"id": 3}, {"id": 9}], {"payee": "Ana"}) == {
        "id": 10,
        "payee": "Ana",
        "paid": 0.0,
    }
    assert completed_row(columns, True, defaults, [], {"id": 4, "paid": 7.5}) == {"id": 4, "paid": 7.5}


def test_a_default_is_a_constant_as_its_column_stores_it() -> None:
    connection = building()
    connection.executescript(
        """
        CREATE TABLE bills (
            due DATE NOT NULL DEFAULT '2026-01-02', "paid in" REAL NOT NULL DEFAULT 0, code TEXT NOT NULL DEFAULT 7,
            open BOOLEAN NOT NULL DEFAULT TRUE, fee DECIMAL(10, 2) NOT NULL DEFAULT -1.5, untyped NOT NULL DEFAULT '7',
            made TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, word TEXT NOT NULL DEFAULT (lower('A')),
            number INTEGER NOT NULL DEFAULT (1 + 1)
        )
        """
    )
    assert list(map(repr, defaults_of(connection, "bills").items())) == [
        "('due', '2026-01-02')",
        "('paid in', 0.0)",
        "('code', '7')",
        "('open', 1)",
        "('fee', -1.5)",
        "('untyped', '7')",
    ]


@pytest.mark.parametrize(
    ("columns", "numbered"),
    [
        ("n INTEGER PRIMARY KEY", True),
        ("n integer, PRIMARY KEY (n)", True),
        ("sku TEXT PRIMARY KEY", False),
        ("n INTEGER, sku INTEGER, PRIMARY KEY (n, sku)", False),
        ("n INTEGER", False),
    ],
)
def test_only_rows_whose_key_is_an_integer_count_on(columns: str, numbered: bool) -> None:
    connection = open_image(empty_image(f"CREATE TABLE things ({columns})"))
    assert numbers_rows(connection, "things") == numbered
    assert completed_row((), numbered, {}, [], {}) == ({"id": 1} if numbered else {})


def test_a_row_that_is_named_by_a_text_does_not_count_on() -> None:
    assert completed_row(("sku",), True, {}, [{"id": "LMP-1"}], {}) == {}
